//go:build race

package resolvers_test

// raceDetector reports whether the tests are built with it.
const raceDetector = true
