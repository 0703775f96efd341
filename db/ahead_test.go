package db

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAhead wants a part to be read while the one before it is taken. Where one cannot
// be read or taken, those before it have been, and nothing is read any more.
func TestAhead(t *testing.T) {
	unread, untaken := errors.New("unread"), errors.New("untaken")
	const reading, taking = 2 * time.Second, time.Second
	for name, c := range map[string]struct {
		parts       [][]int // that can be read
		cannot      int     // be taken, of them
		want        error
		read, taken int
		took        time.Duration
	}{
		"all":             {[][]int{{1, 2}, {3, 4}, {5}}, 0, nil, 3, 3, 3*reading + taking},
		"a full last one": {[][]int{{1, 2}, {3, 4}, {}}, 0, nil, 3, 2, 3 * reading},
		"none":            {[][]int{{}}, 0, nil, 1, 0, reading},
		"one unread":      {[][]int{{1, 2}, {3, 4}}, 0, unread, 3, 2, 3 * reading},
		"one untaken":     {[][]int{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, 2, untaken, 3, 2, 3 * reading},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin, read, taken := time.Now(), 0, 0
				next := func() ([]int, error) {
					time.Sleep(reading)
					if read++; read > len(c.parts) {
						return nil, unread
					}
					return c.parts[read-1], nil
				}
				err := ahead(next, 2, func(part []int) error {
					if diff := cmp.Diff(c.parts[taken], part); diff != "" {
						t.Errorf("part %d (-want +got):\n%s", taken+1, diff)
					}
					time.Sleep(taking)
					if taken++; taken == c.cannot {
						return untaken
					}
					return nil
				})
				took := time.Since(begin)
				time.Sleep(time.Minute)
				if !errors.Is(err, c.want) || read != c.read || taken != c.taken || took != c.took {
					t.Errorf("%d parts were read and %d taken in %v: %v", read, taken, took, err)
				}
			})
		})
	}
}

// TestAheadPanic wants a panic of whoever reads to be an error of whoever asked.
func TestAheadPanic(t *testing.T) {
	err := ahead(func() ([]int, error) { panic("reading") }, 2, func([]int) error { return nil })
	if err == nil {
		t.Error("there is no error")
	}
}
