//go:build race

package server_test

// raceDetector reports whether the tests are built with it.
const raceDetector = true
