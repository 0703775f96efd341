package loader

// Settle waits until nobody reads the memory.
func (m *ReferenceCache) Settle() {
	m.reading.Lock()
	defer m.reading.Unlock()
}
