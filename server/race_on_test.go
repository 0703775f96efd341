//go:build race

package server_test

// raceDetector tells whether the tests are built with it.
const raceDetector = true
