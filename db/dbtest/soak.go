//go:build soak

package dbtest

// Soak is set by the build tag soak: random tests run in full.
const Soak = true
