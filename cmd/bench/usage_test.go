package main

import (
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/prometheus/procfs"
)

// TestMeasureUsage looks at this process, which has worked and held something.
func TestMeasureUsage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	u := measureUsage(os.Getpid(), 0)
	if u.server < u.self || u.machine < u.self || u.machine == 0 || u.postgres != 0 {
		t.Errorf("%+v", u)
	}
}

func TestDescendants(t *testing.T) {
	t.Parallel()
	processes := map[int]procfs.ProcStat{1: {}, 2: {PPID: 1}, 3: {PPID: 2}, 4: {PPID: 1}, 5: {PPID: 9}}
	for root, want := range map[int][]int{1: {1, 2, 3, 4}, 2: {2, 3}, 5: {5}, 0: nil, 9: nil} {
		got := descendants(processes, root)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("of %d they are %v and not %v", root, got, want)
		}
	}
}
