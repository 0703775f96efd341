package resolvers

import "time"

// SetWait makes batches wait longer for further keys than a service can.
func (r *Resolver) SetWait(d time.Duration) { r.wait = d }
