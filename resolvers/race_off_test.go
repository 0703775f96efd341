//go:build !race

package resolvers_test

const raceDetector = false
