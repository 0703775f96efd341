package replica

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestCovers compares vectors: one with a greater sum may lack a commit, and a slot that is missing counts as 0.
func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v, w Vector
		want bool
	}{
		{nil, nil, true},
		{Vector{1: 5}, nil, true},
		{nil, Vector{1: 5}, false},
		{Vector{1: 5, 2: 7}, Vector{1: 5, 2: 7}, true},
		{Vector{1: 6, 2: 7}, Vector{1: 5, 2: 7}, true},
		{Vector{1: 60, 2: 6}, Vector{1: 5, 2: 7}, false},
		{Vector{1: 5}, Vector{1: 5, 65: 1}, false},
		{Vector{1: 5, 65: 1}, Vector{1: 5}, true},
	} {
		if got := tt.v.covers(tt.w); got != tt.want {
			t.Errorf("%v covers %v: %t", tt.v, tt.w, got)
		}
	}
	if sum := (Vector{1: 5, 2: 7}).sum(); sum != 12 {
		t.Errorf("the sum is %d", sum)
	}
}

// TestHistory finds the newest probe of the primary whose commits a replica has. Old probes are forgotten.
func TestHistory(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	after := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	var h history
	for i, v := range []Vector{{1: 1}, {1: 1, 2: 1}, {1: 2, 2: 1}, {1: 2, 2: 2}} {
		h.add(&probed{vector: v, at: after(i)}, 2*time.Second)
	}
	for _, tt := range []struct {
		v     Vector
		want  int
		found bool
	}{
		{Vector{1: 2, 2: 2}, 3, true},
		{Vector{1: 9, 2: 1}, 2, true},
		{Vector{1: 1, 2: 9}, 1, true},
		{Vector{1: 1}, 0, false}, // the first probe is forgotten
	} {
		at, found := h.newest(tt.v)
		if found != tt.found || found && !at.Equal(after(tt.want)) {
			t.Errorf("%v has all from %v: %t", tt.v, at.Sub(begun), found)
		}
	}
}

// TestMayServe lets a late replica serve only with commits that the primary shows, and that are young enough.
func TestMayServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := &Set{Config: Config{MaxLag: time.Second}}
		set.history.add(&probed{vector: Vector{1: 1}, at: time.Now()}, set.MaxLag)
		time.Sleep(time.Second / 2) // of the bubble
		least := Vector{1: 2, 2: 1}
		for _, tt := range []struct {
			v    Vector
			want bool
		}{{Vector{1: 1}, true}, {Vector{1: 2}, true}, {Vector{1: 1, 3: 1}, false}, {Vector{2: 1}, false}} {
			if tx := (&Tx{vector: tt.v}); set.mayServe(tx, least) != tt.want || tt.want && tx.Lag != time.Second/2 {
				t.Errorf("%v, %v late, may serve: %t", tt.v, tx.Lag, !tt.want)
			}
		}
		time.Sleep(time.Second)
		if set.mayServe(&Tx{vector: Vector{1: 1}}, least) {
			t.Error("it is too late")
		}
	})
}

// TestShows waits for a primary that a replica is ahead of, and gives up where the primary goes past it or fails.
func TestShows(t *testing.T) {
	t.Parallel()
	ahead := Vector{1: 2}
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		primary []Vector // of its looks; nil fails
		want    bool
		looks   int
	}{
		"at once":    {[]Vector{{1: 2}}, true, 1},
		"soon":       {[]Vector{{1: 1}, {1: 1}, {1: 2}}, true, 3},
		"past it":    {[]Vector{{1: 1}, {1: 2, 2: 1}}, false, 2},
		"never":      {[]Vector{{1: 1}, {1: 1}, {1: 1}, {1: 1}, {1: 1}, {1: 2}}, false, 5},
		"no primary": {[]Vector{nil}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				looks := 0
				set := &Set{Config: Config{Vector: func(context.Context) (Vector, error) {
					v := tt.primary[looks]
					if looks++; v == nil {
						return nil, failed
					}
					return v, nil
				}}}
				if got := set.shows(t.Context(), ahead); got != tt.want || looks != tt.looks {
					t.Errorf("%t after %d looks", got, looks)
				}
			})
		})
	}
}
