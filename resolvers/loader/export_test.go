package loader

// Settle waits until nobody reads the memory.
func (m *Memory) Settle() {
	m.reading.Lock()
	defer m.reading.Unlock()
}
