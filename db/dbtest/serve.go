package dbtest

// Serve starts a cluster for a program that is no test, with its data in a new
// folder in folder, which PostgreSQL's user must be able to reach. Settings are
// written "name=value". It keeps what it has committed unless they say otherwise.
func Serve(folder string, settings ...string) (*Cluster, error) {
	return newClusterIn(folder, settings...)
}

// URL is where databases can be made in the cluster.
func (c *Cluster) URL() string { return c.url.String() }

// Close ends the cluster.
func (c *Cluster) Close() error { return c.stop() }
