package facetcount

import (
	"iter"
	"slices"
	"sync"

	"library-catalogue/db/changes"
)

// Kept are the Counts of a selection at a mark of the log of changes. A Delta since the mark makes them the counts of a
// later revision.
type Kept struct {
	reference int64 // reference revision, because selections depend on genres and categories

	mu      sync.Mutex // guards what follows
	mark    changes.Mark
	columns []string
	large   []string // columns that have too many values to be kept
	counts  *Counts  // nil before the first keep
}

// Delta has the books of a selection that changed after a mark: as they were at the mark, and as they are.
type Delta struct {
	Mark    changes.Mark
	Columns []string
	Changes int // in the log, also of other books
	rows    []deltaRow
}

type deltaRow struct {
	n      int // 1: the book is in the selection; -1: it was
	values []any
}

// Add adds a book: with n 1 as it is, with n -1 as it was. values belong to Columns, as for Counts.Add.
func (d *Delta) Add(n int, values []any) {
	d.rows = append(d.rows, deltaRow{n, slices.Clone(values)})
}

// Now returns the values of each book that is in the selection.
func (d *Delta) Now() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, row := range d.rows {
			if row.n > 0 && !yield(row.values) {
				return
			}
		}
	}
}

// at returns the mark, and the columns that are kept.
func (k *Kept) at() (mark changes.Mark, columns []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mark, k.columns
}

// has reports whether the columns are kept.
func (k *Kept) has(columns []string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.counts != nil && len(without(columns, k.columns)) == 0
}

// lacksRoom reports whether one of the columns has too many values to be kept.
func (k *Kept) lacksRoom(columns []string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.ContainsFunc(columns, func(name string) bool { return slices.Contains(k.large, name) })
}

// keep adds the columns of counts that were read at the end of a delta, as far as maxKept allows. It takes the delta
// off again, so that they are of the mark.
func (k *Kept) keep(counts *Counts, delta *Delta) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mark != delta.Mark {
		return
	}
	counts.apply(delta, -1)
	if k.counts == nil {
		k.counts = New(nil)
		k.counts.rows = counts.rows
	}
	bytes := k.counts.weight()
	for _, name := range without(counts.names, k.columns) {
		v := counts.byName[name]
		added := v.weight()
		if bytes+added > maxKept {
			k.large = append(k.large, name)
			continue
		}
		bytes += added
		k.columns = append(slices.Clone(k.columns), name)
		k.counts.put(name, v)
	}
}

// with calls fn with the counts at the end of a delta. It returns false without a call if the counts have moved to
// another mark.
func (k *Kept) with(delta *Delta, fn func(*Counts)) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mark != delta.Mark {
		return false
	}
	k.counts.apply(delta, 1)
	defer k.counts.apply(delta, -1)
	fn(k.counts)
	return true
}

// move moves the counts to a later mark. before is the delta since the present mark and after the delta since the later
// mark, both to the same revision. They must have all columns.
func (k *Kept) move(before, after *Delta) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mark != before.Mark || len(without(k.columns, before.Columns)) > 0 {
		return
	}
	k.counts.apply(before, 1)
	k.counts.apply(after, -1)
	k.mark = after.Mark
}

// weight returns the approximate bytes of memory.
func (k *Kept) weight() int {
	const overhead = 200
	if k == nil {
		return overhead
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.counts == nil {
		return overhead
	}
	return overhead + k.counts.weight()
}

func (c *Counts) weight() (bytes int) {
	for _, v := range c.columns {
		bytes += v.weight()
	}
	return bytes
}

func (v *values) weight() int {
	const numberBytes, textBytes, personBytes = 40, 60, 120
	bytes := numberBytes * len(v.numbers)
	for key, p := range v.persons {
		bytes += personBytes + len(key) + len(p.form)
		for form := range p.forms {
			bytes += textBytes + len(form)
		}
	}
	for text := range v.texts {
		bytes += textBytes + len(text)
	}
	return bytes
}

// without returns the columns that are not in others.
func without(columns, others []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return slices.Contains(others, name) })
}

// apply adds the rows of a delta, or takes them away if sign is -1.
func (c *Counts) apply(delta *Delta, sign int) {
	for _, row := range delta.rows {
		c.rows += sign * row.n
		for i, name := range delta.Columns {
			if v := c.byName[name]; v != nil {
				v.add(row.values[i], sign*row.n)
			}
		}
	}
}
