package dbtest

import "errors"

// Serve returns two functions for programs that are not tests: create creates an empty database,
// and drop drops all of them. The databases are in the server at CATALOGUE_TEST_DATABASE_URL. If
// that is not set, they are in a cluster with settings ("name=value") in a new folder in folder,
// which PostgreSQL's user must be able to reach. The cluster is durable unless the settings change
// that.
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
