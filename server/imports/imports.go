// Package imports serves /api/imports: it receives files of books and imports them in the background.
//
// The state of an import is in memory until an hour after its end, and is lost at a restart. A file may be sent
// again, because stored rows change nothing.
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
	"library-catalogue/task"
)

const (
	// defaultMaxBytes has room for 300,000 books.
	defaultMaxBytes = 64 << 20
	// maxRows limits memory: a row takes 12 bytes, and about 40 in a dry run.
	maxRows = 1_000_000
	// maxLookupRows limits look-ups to about half an hour.
	maxLookupRows = 2_000
	// maxStrictRows limits a transaction to some seconds, because other writes wait for its end.
	maxStrictRows = 10_000
	// batchRows is the number of rows in a transaction, which takes about 100 ms.
	batchRows = 200

	maxRunning   = 2   // running imports, and running look-ups of lists
	maxUnderWay  = 8   // imports, and lists to look up, that are received, waiting or running
	maxOfSubject = 2   // unfinished imports of one subject
	maxEnded     = 100 // results in memory
	resultTime   = time.Hour
)

// Catalogue stores imported books.
type Catalogue interface {
	importer.Catalogue
	// AnalyzeGrown updates the database's statistics after created books were stored.
	AnalyzeGrown(ctx context.Context, created int) error
	// FindBooks returns the books with an ISBN, best first, or says why there is none.
	FindBooks(ctx context.Context, isbn string) (books []*model.FoundBook, problem string)
	// Background runs fn, and returns false on a closed catalogue. Close ends life and waits for fn.
	Background(fn func(life context.Context)) bool
}

// Config configures Imports.
type Config struct {
	Catalogue Catalogue
	// Admit waits for a permit for work of a cost.
	Admit    func(ctx context.Context, cost int64) (release func(), err error)
	Lookup   bool         // FindBooks has sources
	MaxBytes int64        // maximum bytes of a file; 0 means 64 MiB
	Logger   *slog.Logger // nil disables logging
}

// Imports holds the imports of a server.
type Imports struct {
	Config
	running chan struct{} // has an element for each running import
	looking chan struct{} // the same for lists to look up, which take long and have places of their own

	mu        sync.Mutex
	closed    bool
	receiving map[*job]bool // files still arriving
	byID      map[string]*job
	ended     []*job // in order of end
}

// New returns an empty Imports.
func New(cfg Config) *Imports {
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, defaultMaxBytes)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Imports{
		Config: cfg, running: make(chan struct{}, maxRunning), looking: make(chan struct{}, maxRunning),
		receiving: map[*job]bool{}, byID: map[string]*job{},
	}
}

// Close stops all imports between two batches, and forgets them. The catalogue's Close waits for their end.
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
	errOwnUnderWay = model.Errorf(model.Conflict,
		"%d of your imports are under way. Wait until one ends, or stop one with DELETE.", maxOfSubject)
	errUnderWay = model.Errorf(model.Unavailable, "Too many imports are under way. Try again in a minute.")
	errClosed   = model.Errorf(model.Unavailable, "The server is being stopped. Try again in a moment.")
)

// reserve counts an import before its file arrives. The caller must call start or release.
func (m *Imports) reserve(j *job) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, own := 0, 0
	count := func(other *job) {
		if other.lookup == j.lookup {
			all++
		}
		if other.subject == j.subject {
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

// start begins the import of a file, and closes the file in the end. It returns the existing import of the same
// subject and key, or BadUserInput if its fingerprint differs. ctx carries the caller and must not end.
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
				err = model.Errorf(model.BadUserInput, "This Idempotency-Key was used with another file or other "+
					"parameters. Use a new key for a new import.")
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
		defer task.OnDone(life, j.cancel)()
		defer m.end(j)
		defer file.Close()
		j.run(task.WithReport(ctx, func(_ context.Context, p *task.PanicError) { task.Report(life, p) }), file)
	})
	if !began {
		j.cancel()
		file.Close()
		return nil, false, errClosed
	}
	m.byID[j.ID] = j
	return j, false, nil
}

// end keeps the result of an import for resultTime.
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
	j.expiry = task.AfterFunc(context.Background(), resultTime, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.forget(j)
	})
}

// forget drops the result of an import. The caller holds mu.
func (m *Imports) forget(j *job) {
	delete(m.byID, j.ID)
	m.ended = slices.DeleteFunc(m.ended, func(other *job) bool { return other == j })
	if j.expiry != nil {
		j.expiry.Stop()
	}
	j.rejects.close()
}

func (m *Imports) find(subject, id string) (*job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if j := m.byID[id]; j != nil && j.subject == subject {
		return j, nil
	}
	return nil, model.Errorf(model.NotFound, "Import not found: the server keeps an import until an hour after its "+
		"end or until a restart. Send the file again; stored books do not change.")
}
