package dbtest

// Serve starts a cluster for a program that is no test, with its data in a new
// folder in folder, which PostgreSQL's user must be able to reach. Settings are
// written "name=value". It keeps what it has committed unless they say otherwise.
func Serve(folder string, settings ...string) (*Cluster, error) {
	return newClusterIn(folder, settings...)
}

// Create makes an empty database and returns its URL.
func (c *Cluster) Create() (string, error) {
	name, err := c.create("template0")
	return c.urlOf(name), err
}

// PID is that of the server's first process.
func (c *Cluster) PID() int { return c.postgres.Pid }

// Close ends the cluster.
func (c *Cluster) Close() error { return c.stop() }
