// Package imports takes files of books under /api/imports, and imports them in the
// background. What it knows of an import is in memory, for an hour after its end: a
// server that was started anew knows none. A file may be sent again, since rows that are
// stored already change nothing.
package imports

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

const (
	// defaultMaxBytes has room for 300,000 books.
	defaultMaxBytes = 64 << 20
	// maxRows bounds what is kept of a file in memory: 16 bytes for each row, and about
	// 40 in a dry run.
	maxRows = 1_000_000
	// maxStrictRows bounds how long one transaction lasts, for whose end others wait:
	// some seconds.
	maxStrictRows = 10_000
	// batchRows is how many rows are stored at once, for 100 milliseconds or so.
	batchRows = 200

	maxRunning   = 2   // imports that are worked on at a time
	maxUnderWay  = 8   // imports that are received, wait or are worked on
	maxOfSubject = 2   // of these, of one subject
	maxEnded     = 100 // imports of which the result is kept
	resultTime   = time.Hour
)

// Catalogue is what books are imported into.
type Catalogue interface {
	importer.Catalogue
	// AnalyzeGrown is for the end of an import that created so many books.
	AnalyzeGrown(ctx context.Context, created int) error
	// Background runs fn until life ends, and reports whether it does: not on a
	// catalogue that is closed, which waits for fn.
	Background(fn func(life context.Context)) bool
}

// Config is what imports are made of.
type Config struct {
	Catalogue Catalogue
	// Admit waits until there is room for work of a cost.
	Admit    func(ctx context.Context, cost int64) (release func(), err error)
	MaxBytes int64        // that a file may have; 0: 64 MiB
	Logger   *slog.Logger // nil: nothing is logged
}

// Imports are the imports that a server has taken.
type Imports struct {
	Config
	running chan struct{} // has an element for each import that is worked on

	mu        sync.Mutex
	closed    bool
	receiving map[*job]bool // whose files are coming
	byID      map[string]*job
	ended     []*job // in that order
}

// New returns the imports of a server, which has none yet.
func New(cfg Config) *Imports {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, defaultMaxBytes)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Imports{
		Config: cfg, running: make(chan struct{}, maxRunning), receiving: map[*job]bool{}, byID: map[string]*job{},
	}
}

// Close stops the imports under way, each after what it has stored, and forgets all. The
// catalogue waits for their end before it is closed.
func (m *Imports) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, j := range m.byID {
		j.cancel()
	}
	for len(m.ended) > 0 {
		m.forget(m.ended[0])
	}
}

var (
	errOwnUnderWay = model.Errorf(model.Conflict, "%d of your imports are under way. Wait until one has ended, or stop one by DELETE.", maxOfSubject)
	errUnderWay    = model.Errorf(model.Unavailable, "Too many imports are under way. Try again in a minute.")
	errClosed      = model.Errorf(model.Unavailable, "The server is being stopped. Try again in a moment.")
)

// reserve takes the place of an import whose file is about to come; start or release gives
// it back.
func (m *Imports) reserve(j *job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, own := 0, 0
	count := func(other *job) {
		if all++; other.subject == j.subject {
			own++
		}
	}
	for other := range m.receiving {
		count(other)
	}
	for _, other := range m.byID {
		if !slices.Contains(m.ended, other) {
			count(other)
		}
	}
	switch {
	case m.closed:
		return errClosed
	case own >= maxOfSubject:
		return errOwnUnderWay
	case all >= maxUnderWay:
		return errUnderWay
	}
	m.receiving[j] = true
	return nil
}

func (m *Imports) release(j *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.receiving, j)
}

// start begins the import of a file, and closes that in the end. Where the subject has
// begun one under the same key, that is returned, or BadUserInput where it is of another
// fingerprint. ctx is of the caller, without an end.
func (m *Imports) start(ctx context.Context, j *job, file *source.Source) (_ *job, replayed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.receiving, j)
	if m.closed {
		err = errClosed
	}
	sent := j
	for _, other := range m.byID {
		if sent.key != "" && other.key == sent.key && other.subject == sent.subject {
			replayed, j = true, other
			if other.fingerprint != sent.fingerprint {
				err = model.Errorf(model.BadUserInput, "This Idempotency-Key was used with another file or other parameters. Use a new key for a new import.")
			}
		}
	}
	if replayed || err != nil {
		file.Close()
		return j, replayed, err
	}
	j.ID, j.imports, j.done = rand.Text(), m, make(chan struct{})
	ctx, j.cancel = context.WithCancel(ctx)
	began := m.Catalogue.Background(func(life context.Context) {
		defer context.AfterFunc(life, j.cancel)()
		defer m.end(j)
		defer file.Close()
		j.run(ctx, file)
	})
	if !began {
		j.cancel()
		file.Close()
		return nil, false, errClosed
	}
	m.byID[j.ID] = j
	return j, false, nil
}

// end keeps the result of an import for a while.
func (m *Imports) end(j *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j.cancel()
	close(j.done)
	m.ended = append(m.ended, j)
	if len(m.ended) > maxEnded {
		m.forget(m.ended[0])
	}
	if m.closed {
		m.forget(j)
		return
	}
	time.AfterFunc(resultTime, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.forget(j)
	})
}

// forget drops the result of an import, under the lock.
func (m *Imports) forget(j *job) {
	delete(m.byID, j.ID)
	m.ended = slices.DeleteFunc(m.ended, func(other *job) bool { return other == j })
	j.rejects.close()
}

// find returns the import of a subject.
func (m *Imports) find(subject, id string) (*job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.byID[id]; j != nil && j.subject == subject {
		return j, nil
	}
	return nil, model.Errorf(model.NotFound, "Import not found: the server keeps it for an hour after its end, until the server is started anew. A file can be imported again, since books that are stored already do not change.")
}
