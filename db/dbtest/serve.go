package dbtest

import "errors"

// Serve returns a function that creates an empty database for a program that is no test, and one that drops
// them all. They are in the server at CATALOGUE_TEST_DATABASE_URL where that is set, else in a cluster with
// some settings, written "name=value", whose data are in a new folder in folder, which PostgreSQL's user must
// be able to reach. The cluster keeps what it has committed unless the settings say otherwise.
func Serve(folder string, settings ...string) (create func() (url string, err error), drop func() error, err error) {
	s, err := given()
	if err != nil {
		return nil, nil, err
	}
	var created []string
	drop = func() (err error) {
		for _, name := range created {
			err = errors.Join(err, s.drop(name))
		}
		return errors.Join(err, s.admin.Close())
	}
	if s == nil {
		c, err := newClusterIn(folder, settings...)
		if err != nil {
			return nil, nil, err
		}
		s, drop = c.server, c.stop
	}
	return func() (string, error) {
		name, err := s.create("template0")
		created = append(created, name)
		return s.urlOf(name), err
	}, drop, nil
}
