//go:build race

package policies_test

// raceDetector makes the property test shorter: it runs one goroutine.
const raceDetector = true
