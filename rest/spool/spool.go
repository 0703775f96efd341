// Package spool stores long lists in temporary files while they are sent. Concurrent requests for a list
// share one read of the database, and each client receives the list at its own speed.
package spool

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

var (
	// ErrFull is the error of a list that does not fit into the spool.
	ErrFull = model.Errorf(model.Unavailable,
		"Too many long lists are being sent. Try again in a moment, or request pages with per_page.")

	errTooLong  = model.Errorf(model.Unavailable, "The list is too long to be sent whole. Request pages with per_page.")
	errNotReady = model.Errorf(model.Unavailable,
		"The list was not ready in time. Try again in a moment, or request pages with per_page.")
)

// Spool holds the lists that are being written or sent. It is safe for concurrent use.
type Spool struct {
	log      *slog.Logger
	maxBytes int64 // total size of the files

	mu    sync.Mutex
	used  int64
	lists []*List // the oldest first
}

// List is a list in a file.
type List struct {
	spool *Spool
	key   string
	ready chan struct{} // closed when the file is complete, or failed
	stop  context.CancelFunc
	stats *stats.Record // statements of the request that reads the list

	// Revision is the requested revision until ready is closed, then the revision of the list.
	Revision int64
	size     int64
	err      error // set before ready is closed, like Revision and size

	// Guarded by spool.mu.
	begun   bool // the read has begun, so later commits may be missing
	readers int
	file    *os.File
	used    int64
}

// Write writes a list to dst and returns its revision. It must call begin before it reads the catalogue. A later call
// of begin discards what was written, and starts the list again.
type Write func(ctx context.Context, dst io.Writer, begin func()) (revision int64, err error)

// New returns a spool for files of maxBytes in total. If temporary files cannot be created, it logs a warning and
// returns nil.
func New(maxBytes int64, log *slog.Logger) *Spool {
	file, err := newFile()
	if err != nil {
		log.Warn("no temporary files, so slow clients hold database connections: set TMPDIR to a writable directory",
			"error", err)
		return nil
	}
	file.Close()
	return &Spool{log: log, maxBytes: maxBytes}
}

// newFile returns an unlinked temporary file. The system deletes it on close.
func newFile() (*os.File, error) {
	file, err := os.CreateTemp("", "catalogue-*.spool")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// Open returns the list of a key at this or a later revision. It shares a list of this revision, or one that is not
// being read yet. Else it calls write on a goroutine, with a context that has the values of ctx and ends with the
// last reader. The caller must close the list.
func (s *Spool) Open(ctx context.Context, key string, revision int64, write Write) (*List, error) {
	for {
		l, joined := s.join(ctx, key, revision, write)
		select {
		case <-l.ready:
		case <-ctx.Done():
			l.Close()
			return nil, errNotReady
		}
		if l.err == nil {
			stats.Of(ctx).SetReplica(l.stats.Replica(), l.stats.WithoutPrimary()) // as the list was read
			return l, nil
		}
		l.Close()
		if !joined { // retry after another request's failure
			return nil, l.err
		}
	}
}

func (s *Spool) join(ctx context.Context, key string, revision int64, write Write) (_ *List, joined bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lists {
		if l.key == key && (!l.begun || l.Revision == revision) {
			l.readers++
			return l, true
		}
	}
	l := &List{spool: s, key: key, Revision: revision, ready: make(chan struct{}), readers: 1, stats: stats.Of(ctx)}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.lists = append(s.lists, l)
	task.Go(ctx, func() error { return l.write(ctx, write) }) // Close waits for ready
	return l, false
}

// write writes the file, and tells the readers.
func (l *List) write(ctx context.Context, write Write) error {
	defer close(l.ready)
	var revision int64
	err := task.Run(ctx, func() (err error) {
		revision, err = l.fill(ctx, write)
		return err
	})
	s := l.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	l.begun, l.err = true, err
	if err == nil {
		l.Revision = revision
	} else {
		s.remove(l) // so that the next request reads again
	}
	return err
}

// fill creates and writes the file.
func (l *List) fill(ctx context.Context, write Write) (revision int64, err error) {
	file, err := newFile()
	if err != nil {
		return 0, l.spool.full(err)
	}
	l.spool.mu.Lock()
	l.file = file
	l.spool.mu.Unlock()
	buffered := bufio.NewWriterSize(writer{l, file}, 64<<10)
	begin := func() {
		l.spool.mu.Lock()
		defer l.spool.mu.Unlock()
		l.begun = true
		buffered.Reset(writer{l, file})
		_, _ = file.Seek(0, io.SeekStart) // fails only if it is closed; then writing fails too
		l.spool.used -= l.used
		l.used, l.size = 0, 0
	}
	if revision, err = write(ctx, buffered, begin); err != nil {
		return 0, err
	}
	return revision, buffered.Flush()
}

// full logs the error of a file and returns ErrFull.
func (s *Spool) full(err error) error {
	s.log.Error("writing a list to a temporary file failed", "error", err)
	return ErrFull
}

// writer writes the file of a list within the limit of its spool.
type writer struct {
	*List
	file *os.File
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.spool.reserve(w.List, int64(len(p))); err != nil {
		return 0, err
	}
	n, err := w.file.Write(p)
	w.size += int64(n)
	switch {
	case errors.Is(err, os.ErrClosed): // evicted for another list
		return n, ErrFull
	case err != nil:
		return n, w.spool.full(err)
	}
	return n, nil
}

// reserve reserves bytes for a list. If necessary it evicts the oldest lists, because their readers are the slowest.
func (s *Spool) reserve(l *List, bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case l.file == nil || l.readers == 0:
		return ErrFull
	case l.used+bytes > s.maxBytes:
		return errTooLong
	}
	for s.used+bytes > s.maxBytes {
		i := slices.IndexFunc(s.lists, func(other *List) bool { return other.used > 0 })
		if i < 0 || s.lists[i] == l {
			return ErrFull
		}
		s.remove(s.lists[i])
	}
	s.used += bytes
	l.used += bytes
	return nil
}

// remove removes a list and closes its file. Later reads of the list fail.
func (s *Spool) remove(l *List) {
	if i := slices.Index(s.lists, l); i >= 0 {
		s.lists = slices.Delete(s.lists, i, i+1)
	}
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	s.used -= l.used
	l.used = 0
}

// Reader returns a reader of the whole list.
func (l *List) Reader() io.Reader { return io.NewSectionReader(l, 0, l.size) }

// ReadAt implements io.ReaderAt. It returns ErrFull after the list was evicted.
func (l *List) ReadAt(p []byte, offset int64) (int, error) {
	l.spool.mu.Lock()
	file := l.file
	l.spool.mu.Unlock()
	if file == nil {
		return 0, ErrFull
	}
	return file.ReadAt(p, offset)
}

// Close releases the list. The last Close stops the writer and closes the file.
func (l *List) Close() {
	s := l.spool
	s.mu.Lock()
	l.readers--
	last := l.readers == 0
	if last {
		s.lists = slices.DeleteFunc(s.lists, func(other *List) bool { return other == l })
	}
	s.mu.Unlock()
	if !last {
		return
	}
	l.stop()
	<-l.ready // frees the database connection before the request ends
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(l)
}
