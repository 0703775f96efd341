package facetcount

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"library-catalogue/db/changes"
	"library-catalogue/graph/model"
)

// manyAuthors is a Reader of books with more authors than are kept, and with one genre.
type manyAuthors struct{ read []string }

func (r *manyAuthors) Values(_ context.Context, columns []string) (*Counts, error) {
	r.read = append(r.read, columns...)
	counts := New(columns)
	for i := range 20 {
		row := make([]any, len(columns))
		for k, name := range columns {
			if row[k] = int64(1); name == Author {
				row[k] = strconv.Itoa(i) + strings.Repeat("x", maxKept/10)
			}
		}
		counts.Add(row)
	}
	return counts, nil
}

func (r *manyAuthors) NewestMark(context.Context) (changes.Mark, error) {
	return changes.Mark{Tick: 1}, nil
}

func (r *manyAuthors) Since(_ context.Context, mark changes.Mark, columns []string) (*Delta, model.Revision, error) {
	return &Delta{Mark: mark, Columns: columns}, model.Revision{}, nil
}

func (r *manyAuthors) Known() (model.Revision, bool) { return model.Revision{}, true }

// TestManyValues keeps the columns that have room, and not the one that has too many values.
func TestManyValues(t *testing.T) {
	t.Parallel()
	cache, r := NewCache(true), &manyAuthors{}
	count := func(columns ...string) (read []string) {
		t.Helper()
		r.read = nil
		rows := 0
		if err := cache.Count(t.Context(), "", r, columns, func(c *Counts) { rows = c.Rows() }); err != nil || rows != 20 {
			t.Fatalf("%v: %d rows, %v", columns, rows, err)
		}
		return r.read
	}
	count(Author, Genre)
	if cache.Keeps("", []string{Author}) || !cache.Has("", []string{Author}) {
		t.Error("authors are kept")
	}
	if read := count(Genre); len(read) > 0 {
		t.Errorf("read %v again", read)
	}
	if read := count(Author); !slices.Equal(read, []string{Author}) {
		t.Errorf("read %v for the authors", read)
	}
}

// moving is a Reader of one book whose revision moves while it reads values, as when another program writes.
type moving struct {
	manyAuthors
	revision int64
	moves    bool
	reads    int
}

func (r *moving) Values(_ context.Context, columns []string) (*Counts, error) {
	r.reads++
	if r.moves {
		r.revision++
	}
	counts := New(columns)
	counts.Add([]any{r.revision})
	return counts, nil
}

func (r *moving) Since(_ context.Context, mark changes.Mark, columns []string) (*Delta, model.Revision, error) {
	return &Delta{Mark: mark, Columns: columns}, model.Revision{Catalogue: r.revision}, nil
}

func (r *moving) Known() (model.Revision, bool) { return model.Revision{Catalogue: r.revision}, true }

// TestCountsOfALaterRevision keeps no counts that a later revision may be in, and those of one revision.
func TestCountsOfALaterRevision(t *testing.T) {
	t.Parallel()
	cache, r := NewCache(true), &moving{moves: true}
	for n := range 3 {
		if err := cache.Count(t.Context(), "", r, []string{Genre}, func(*Counts) {}); err != nil || r.reads != n+1 || cache.Has("", []string{Genre}) {
			t.Fatalf("count %d: %d reads, kept: %v, %v", n+1, r.reads, cache.Has("", []string{Genre}), err)
		}
	}
	r.moves = false
	for range 3 {
		if err := cache.Count(t.Context(), "", r, []string{Genre}, func(*Counts) {}); err != nil || r.reads != 4 {
			t.Fatalf("%d reads, %v", r.reads, err)
		}
	}
}
