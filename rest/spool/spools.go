// Package spool lets a long text be written as fast as its source gives it, and be
// read as slowly as its readers take it. The end of it is in memory, for readers close
// behind; what is before that is compressed in a temporary file. All who ask for the
// same text at the same time read one.
package spool

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"library-catalogue/graph/model"
)

// ErrFull ends a text for which there is no room.
var ErrFull = model.Errorf(model.Unavailable, "Too many long lists are being sent. Try again in a moment, or ask for pages with per_page.")

// maxInMemory is how many bytes of compressed texts are held in memory where there can
// be no temporary files: eight lists of 100,000 books.
const maxInMemory = 64 << 20

// Spools are the texts that are being read.
type Spools struct {
	log     *slog.Logger
	max     int64 // bytes that the texts may have together, compressed
	inFiles bool
	plain   atomic.Int64 // blocks that are not compressed

	mu    sync.Mutex
	texts []*text // the oldest first
	used  int64   // of max
}

// New returns Spools that have room for so many bytes in temporary files.
func New(maxBytes int64, log *slog.Logger) *Spools {
	s := &Spools{log: log, max: maxBytes, inFiles: true}
	file, err := newFile()
	if err != nil {
		log.Warn("long lists are held in memory while they are sent: let TMPDIR name a directory that can be written to", "error", err)
		s.max, s.inFiles = min(maxBytes, maxInMemory), false
		return s
	}
	file.Close()
	return s
}

// newFile returns a file without a name, which is gone when it is closed.
func newFile() (*os.File, error) {
	file, err := os.CreateTemp("", "catalogue-*.spool")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// Producer writes a text, but for the end of it, which it returns. It calls begin before
// it looks at what the text is of.
type Producer func(ctx context.Context, dst io.Writer, begin func()) (end []byte, err error)

// Open returns a reader of the text of a key from its beginning, for an owner: who
// asks. Where nobody reads that text of this revision now, and none is about to begin,
// produce writes it, on a goroutine of its own, after the one before: of each key one is
// written at a time. The context of produce has the values of ctx, and ends with the last
// reader.
func (s *Spools) Open(ctx context.Context, key string, revision int64, owner any, produce Producer) *Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t *text
	var before <-chan struct{}
	for _, other := range s.texts {
		if other.key != key {
			continue
		}
		if before = other.ended; other.failure() == nil && (other.revision == revision || !other.begun) {
			t = other
		}
	}
	if t == nil {
		producing, cancel := context.WithCancel(context.WithoutCancel(ctx))
		t = &text{spools: s, key: key, revision: revision, cancel: cancel, ended: make(chan struct{}), readers: map[*Reader]any{}}
		go t.produce(producing, before, produce)
		s.texts = append(s.texts, t)
	}
	r := &Reader{ctx: ctx, text: t}
	t.readers[r] = owner
	return r
}

// begin notes that who asks for a later revision may not have the text.
func (t *text) begin() {
	t.spools.mu.Lock()
	defer t.spools.mu.Unlock()
	t.begun = true
}

// produce writes a text with fn, once before is closed if it is not nil.
func (t *text) produce(ctx context.Context, before <-chan struct{}, fn Producer) {
	defer close(t.ended)
	defer func() {
		if failure := recover(); failure != nil {
			t.end(fmt.Errorf("panic: %v\n%s", failure, debug.Stack()))
		}
	}()
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
	end, err := fn(ctx, t, t.begin)
	if err == nil {
		err = t.finish(end)
	}
	t.end(err)
}

// leave takes a reader away. The text goes with its last one.
func (s *Spools) leave(r *Reader) {
	t := r.text
	s.mu.Lock()
	delete(t.readers, r)
	last := len(t.readers) == 0
	if last {
		s.texts = slices.DeleteFunc(s.texts, func(other *text) bool { return other == t })
	}
	s.mu.Unlock()
	if !last {
		return
	}
	t.cancel()
	<-t.ended // so that its database connection is free when the request of the last reader ends
	t.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= t.reserved
}

// reserve takes room for so many bytes of a text. Where there is none, the owner who
// has most loses the oldest of its texts.
func (s *Spools) reserve(t *text, bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.used+bytes > s.max {
		victim := s.victim()
		if victim == nil || victim == t {
			return ErrFull
		}
		s.used -= victim.reserved
		victim.reserved = 0
		victim.evict()
	}
	s.used += bytes
	t.reserved += bytes
	return nil
}

// victim returns the oldest text of the owner whose texts take most. Those that have
// readers of several owners are nobody's.
func (s *Spools) victim() *text {
	var victim *text
	taken, most := map[any]int64{}, int64(0)
	for _, t := range slices.Backward(s.texts) {
		owner, ok := t.owner()
		if !ok || t.reserved == 0 {
			continue
		}
		if taken[owner] += t.reserved; taken[owner] >= most {
			victim, most = t, taken[owner]
		}
	}
	return victim
}

// owner returns the owner of all readers of a text, if there is one.
func (t *text) owner() (owner any, ok bool) {
	for _, other := range t.readers {
		if ok && other != owner {
			return nil, false
		}
		owner, ok = other, true
	}
	return owner, ok
}
