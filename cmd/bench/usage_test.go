package main

import (
	"slices"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	line := []byte("4242 (a (strange) name) S 17 4242 4242 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 10\n")
	want := procStat{parent: 17, used: (5 + 6 + 7 + 8) * 10 * time.Millisecond}
	if got := parseStat(line); got != want {
		t.Errorf("it tells %+v and not %+v", got, want)
	}
	if got := parseStat(nil); got != (procStat{}) {
		t.Errorf("nothing tells %+v", got)
	}
}

func TestDescendants(t *testing.T) {
	processes := map[int]procStat{1: {}, 2: {parent: 1}, 3: {parent: 2}, 4: {parent: 1}, 5: {parent: 9}}
	for root, want := range map[int][]int{1: {1, 2, 3, 4}, 2: {2, 3}, 5: {5}, 0: nil, 9: nil} {
		got := descendants(processes, root)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("of %d they are %v and not %v", root, got, want)
		}
	}
}
