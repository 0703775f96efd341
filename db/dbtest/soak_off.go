//go:build !soak

package dbtest

// Soak reports whether random tests run in full.
const Soak = false
