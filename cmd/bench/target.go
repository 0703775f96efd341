package main

import (
	"fmt"
	"time"
)

// target tells whether a goal is met by the service, measured beside another.
type target func(service, other sample) (goal string, met bool)

func atLeast(times float64) target {
	return func(service, other sample) (string, bool) {
		return fmt.Sprintf("≥ %v×", times), service.rate >= times*other.rate
	}
}

// slower wants requests of another kind to be answered nearly as fast.
func slower(percent float64) target {
	return func(service, other sample) (string, bool) {
		return fmt.Sprintf("at most %v %% slower", percent), other.rate >= service.rate*(1-percent/100)
	}
}

func longer(times float64) target {
	return func(service, other sample) (string, bool) {
		return fmt.Sprintf("≤ %v× its time", times), service.p50.Seconds() <= times*other.p50.Seconds()
	}
}

func median(most time.Duration) target {
	return func(service, _ sample) (string, bool) { return fmt.Sprintf("p50 ≤ %v", most), service.p50 <= most }
}

func firstByte(most time.Duration) target {
	return func(service, _ sample) (string, bool) {
		return fmt.Sprintf("first byte (%.1f ms) ≤ %v", milliseconds(service.firstByte), most), service.firstByte <= most
	}
}

func memory(most int64) target {
	return func(service, _ sample) (string, bool) {
		return fmt.Sprintf("≤ %d MB", most>>20), service.peak <= most
	}
}
