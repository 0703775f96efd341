package model

import "sync/atomic"

// Memo keeps what a row was written as, for whoever writes it again. Rows that
// are kept for many requests have one. A nil Memo keeps nothing.
type Memo struct{ kept atomic.Pointer[[2]memoText] }

// memoText is a text that a row was written as, and which way of writing it was.
type memoText struct {
	way  any
	text []byte
}

// maxMemo is how many bytes a text may have to be kept.
const maxMemo = 1 << 10

// Text gives what the row was written as in this way, which is compared by ==.
// ok is false where that is not known.
func (m *Memo) Text(way any) (text []byte, ok bool) {
	if m == nil {
		return nil, false
	}
	if kept := m.kept.Load(); kept != nil {
		for _, w := range kept {
			if w.way == way {
				return w.text, true
			}
		}
	}
	return nil, false
}

// Keep keeps a copy of text for this way, in the place of the older of two.
func (m *Memo) Keep(way any, text []byte) {
	if m == nil || len(text) > maxMemo {
		return
	}
	next := &[2]memoText{{way, append([]byte(nil), text...)}}
	if kept := m.kept.Load(); kept != nil {
		next[1] = kept[0]
	}
	m.kept.Store(next)
}
