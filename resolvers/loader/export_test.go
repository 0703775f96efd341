package loader

// Settle waits until nobody reads the reference data.
func (c *ReferenceCache) Settle() {
	c.reading.Lock()
	defer c.reading.Unlock()
}
