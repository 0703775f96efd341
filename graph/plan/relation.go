package plan

// toOne leads from each row to one other, or to none.
type toOne[P any, C comparable] struct {
	find      func(r *run, rows []P) ([]C, error)
	selection *selection[C]
}

func (e *toOne[P, C]) load(r *run, rows []P) (values, error) {
	found, err := e.find(r, rows)
	if err != nil {
		return nil, err
	}
	// Many rows lead to the same one, which is loaded and written once.
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
	o, err := e.selection.load(r, distinct)
	if err != nil {
		return nil, err
	}
	return &oneValues[C]{objects: o, index: index, written: make([]span, len(distinct))}, nil
}

// oneValues are what a toOne led to.
type oneValues[C any] struct {
	objects *objects[C]
	index   []int32 // of each parent's row among the objects; -1: none
	written []span  // where an object stands in the answer already
}

type span struct{ from, to int }

func (o *oneValues[C]) write(dst []byte, i int) []byte {
	k := o.index[i]
	if k < 0 {
		return append(dst, "null"...)
	}
	if w := o.written[k]; w.to > 0 {
		return append(dst, dst[w.from:w.to]...)
	}
	from := len(dst)
	dst = o.objects.write(dst, int(k))
	o.written[k] = span{from, len(dst)}
	return dst
}

// toValue leads from each row to a part of it.
type toValue[P, C any] struct {
	value     func(P) C
	selection *selection[C]
}

func (e *toValue[P, C]) load(r *run, rows []P) (values, error) {
	parts := make([]C, len(rows))
	for i, row := range rows {
		parts[i] = e.value(row)
	}
	return e.selection.load(r, parts)
}
