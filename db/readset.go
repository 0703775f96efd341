package db

import (
	"context"
	"sync"

	"library-catalogue/graph/model"
)

// ReadSet is the revisions of the catalogue that a request has read, as optimistic
// concurrency control keeps them: the statements of a request run without a
// transaction, and it is checked afterwards whether all of them saw the same
// revision. Its zero value is empty.
//
// Most statements return the revision that they saw. One that returned no row, or the
// pages of many parents, does not: it saw one between the latest that was known when it
// began and that of a look after it.
type ReadSet struct {
	mu        sync.Mutex
	reads     int
	latest    *model.Revision // that the request knows of
	low, high int64           // between which the reads are
	open      bool            // high is not known
}

// ReadSetKey is the key of a context's *ReadSet.
type ReadSetKey struct{}

// readSetOf returns the read set of ctx, or nil where nobody keeps one.
func readSetOf(ctx context.Context) *ReadSet {
	s, _ := ctx.Value(ReadSetKey{}).(*ReadSet)
	return s
}

// withoutReadSet returns the context of a statement whose callers note it themselves.
func withoutReadSet(ctx context.Context) context.Context {
	return context.WithValue(ctx, ReadSetKey{}, (*ReadSet)(nil))
}

// Latest returns the latest revision that the request knows of, and whether it knows any.
func (s *ReadSet) Latest() (r model.Revision, ok bool) {
	if s == nil {
		return r, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == nil {
		return r, false
	}
	return *s.latest, true
}

// NoteLook notes a revision that was read by itself.
func (s *ReadSet) NoteLook(at model.Revision) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest == nil || s.latest.Catalogue < at.Catalogue {
		s.latest = &at
	}
}

// begin returns what notes a statement that has ended: it sets at to the revision that
// it saw, or leaves it unknown.
func (s *ReadSet) begin(at *model.Revision) (end func(error)) {
	if s == nil {
		return func(error) {}
	}
	since, known := s.Latest()
	if !known {
		since = unknownRevision
	}
	return func(err error) {
		switch {
		case err != nil: // nothing was read
		case *at == unknownRevision:
			s.note(since.Catalogue, true)
		default:
			s.NoteRead(*at)
		}
	}
}

// unknownRevision is less than every revision.
var unknownRevision = model.Revision{Catalogue: -1, Reference: -1}

// NoteRead notes that something was read as it is at a revision.
func (s *ReadSet) NoteRead(at model.Revision) {
	if s == nil {
		return
	}
	s.NoteLook(at)
	s.note(at.Catalogue, false)
}

// note notes a read at a revision, or, where it is open, from that revision on.
func (s *ReadSet) note(at int64, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == 0 {
		s.low, s.high = at, at
	}
	s.reads++
	s.low, s.high, s.open = min(s.low, at), max(s.high, at), s.open || open
}

// Consistent reports whether all that was read is of one revision. It may look at the
// revision to find out.
func (s *ReadSet) Consistent(ctx context.Context, look func(context.Context) (model.Revision, error)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads < 2 {
		return true
	}
	if s.low == s.high && s.open {
		now, err := look(ctx)
		if err != nil {
			return false
		}
		s.high, s.open = now.Catalogue, false
	}
	return s.low == s.high
}

// Reset empties the set.
func (s *ReadSet) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads, s.latest, s.low, s.high, s.open = 0, nil, 0, 0, false
}
