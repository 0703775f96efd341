package plan

import (
	"context"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// toOne leads from each row to another row or to null.
type toOne[P any, C comparable] struct {
	find      func(r *run, rows []P) ([]C, error)
	selection *selection[C]
}

func newOne[P any, C comparable](find func(*run, []P) ([]C, error), s *selection[C]) relation[P] {
	return &toOne[P, C]{find, s}
}

func (e *toOne[P, C]) load(r *run, rows []P) (values, error) {
	found, err := e.find(r, rows)
	if err != nil {
		return nil, err
	}
	// Load and write a row once, however many rows lead to it.
	var none C
	index := make([]int32, len(found))
	var distinct []C
	at := make(map[C]int32, len(found))
	for i, row := range found {
		if row == none {
			index[i] = -1
			continue
		}
		k, seen := at[row]
		if !seen {
			k = int32(len(distinct))
			at[row] = k
			distinct = append(distinct, row)
		}
		index[i] = k
	}
	return &oneValues[C]{objects: e.selection.load(r, distinct), index: index,
		written: make([]span, len(distinct))}, nil
}

// oneValues are the results of a toOne.
type oneValues[C any] struct {
	objects *objects[C]
	index   []int32 // object of each row; -1 for null
	written []span  // position of each written object in the response
}

type span struct{ from, to int }

func (o *oneValues[C]) write(r *run, dst []byte, i int) []byte {
	k := o.index[i]
	if k < 0 {
		return append(dst, "null"...)
	}
	// After an error, the span may be in a row that was discarded, and the path of an error differs by row.
	if w := o.written[k]; w.to > 0 && r.errors == 0 {
		return append(dst, dst[w.from:w.to]...)
	}
	from := len(dst)
	dst = o.objects.write(r, dst, int(k))
	o.written[k] = span{from, len(dst)}
	return dst
}

// read reads a part of a row. Methods of rows have this type.
type read[P, C any] = func(P, context.Context) (C, error)

// toValue leads from each row to a part of it.
type toValue[P, C any] struct {
	value     read[P, C]
	selection *selection[C]
}

func newValue[P, C any](value read[P, C], s *selection[C]) relation[P] {
	return &toValue[P, C]{value, s}
}

func (e *toValue[P, C]) load(r *run, rows []P) (values, error) {
	parts, err := mapRows(rows, func(row P) (C, error) { return e.value(row, r.ctx) })
	if err != nil {
		return nil, err
	}
	return e.selection.load(r, parts), nil
}

// toText leads from each row to a leaf in JSON.
type toText[P any] read[P, []byte]

func (text toText[P]) load(r *run, rows []P) (values, error) {
	all, err := mapRows(rows, func(row P) ([]byte, error) { return text(row, r.ctx) })
	return texts(all), err
}

// texts are the results of a toText.
type texts [][]byte

func (t texts) write(_ *run, dst []byte, i int) []byte { return append(dst, t[i]...) }

// toList leads from each row to a list.
type toList[P, C any] struct {
	list      read[P, []C]
	selection *selection[C]
}

func newList[P, C any](list read[P, []C], s *selection[C]) relation[P] {
	return &toList[P, C]{list, s}
}

func (e *toList[P, C]) load(r *run, rows []P) (values, error) {
	lists, starts := make([][]C, len(rows)), make([]int, 1, len(rows)+1)
	for i, row := range rows {
		var err error
		if lists[i], err = e.list(row, r.ctx); err != nil {
			return nil, err
		}
		starts = append(starts, starts[i]+len(lists[i]))
	}
	return &listValues[C]{e.selection.load(r, slices.Concat(lists...)), starts}, nil
}

// listValues are the results of a toList.
type listValues[C any] struct {
	objects *objects[C]
	starts  []int // start of each list, and the end of the last
}

func (l *listValues[C]) write(r *run, dst []byte, i int) []byte {
	failed := false
	dst = append(dst, '[')
	for n := l.starts[i]; n < l.starts[i+1]; n++ {
		if n > l.starts[i] {
			dst = append(dst, ',')
		}
		r.path = append(r.path, ast.PathIndex(n-l.starts[i]))
		if written := l.objects.write(r, dst, n); written != nil {
			dst = written
		} else {
			failed = true // elements are not nullable; the others are written, so that their errors are reported
		}
		r.path = r.path[:len(r.path)-1]
	}
	if failed {
		return nil
	}
	return append(dst, ']')
}

func mapRows[P, C any](rows []P, of func(P) (C, error)) (all []C, err error) {
	all = make([]C, len(rows))
	for i, row := range rows {
		if all[i], err = of(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}
