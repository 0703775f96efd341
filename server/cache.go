package server

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"library-catalogue/graph/model"
)

// cache keeps whole answers of reads, and gives none that is out of date.
//
// An answer is kept with the revision of the catalogue, and only where that was
// the same before and after its statements: such an answer is one snapshot. It
// is given again only where a read of the revision that began after the request
// arrived finds the same revision. So a reader never sees less than the last
// commit before its request, whichever program made it.
type cache struct {
	catalogue Catalogue
	answers   *otter.Cache[cacheKey, *cachedAnswer]
	limit     int // bytes of the largest answer that is kept

	// seen holds a part of the key of requests that were made once, at a place
	// that follows from the key. An answer is kept from the second time on.
	seen [1 << 14]atomic.Uint64

	hits, misses, revision atomic.Int64 // revision: that was seen last
}

// maxAnswer is how many bytes an answer may have to be kept.
const maxAnswer = 1 << 20

// cacheKey stands for a request: what is asked, and how it is to be answered.
type cacheKey [sha256.Size]byte

// keyOf makes the key of a request of these parts. Who asks is not among them,
// because every read is open to all.
func keyOf(parts ...string) cacheKey {
	text := make([]byte, 0, 1<<10)
	for _, part := range parts {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}

// cachedAnswer is an answer with status 200.
type cachedAnswer struct {
	revision  int64
	operation *model.Operation
	header    http.Header // the part of it that belongs to the answer
	body      []byte
}

// keptHeaders are the headers that belong to an answer, and not to the request.
var keptHeaders = []string{"Cache-Control", "Content-Length", "Content-Type", "Etag", "Link", "X-Total-Count"}

// newCache makes a cache of so many bytes, or none, which is nil, for 0.
func newCache(catalogue Catalogue, bytes int) (*cache, error) {
	if bytes == 0 {
		return nil, nil
	}
	answers, err := otter.New(&otter.Options[cacheKey, *cachedAnswer]{
		MaximumWeight: uint64(bytes),
		Weigher: func(_ cacheKey, a *cachedAnswer) uint32 {
			const overhead = 1 << 10 // of an entry, its key and its headers
			return uint32(len(a.body) + overhead)
		},
	})
	return &cache{catalogue: catalogue, answers: answers, limit: min(bytes/8, maxAnswer)}, err
}

// serve answers a read from the cache, or lets answer do it and keeps what it
// writes, if answer says that it may be kept. A request that asks for a fresh
// answer, or has an ETag to compare, goes to answer.
func (c *cache) serve(w http.ResponseWriter, r *http.Request, keyOf func() cacheKey, answer func(http.ResponseWriter) (keep bool)) {
	if c == nil || strings.Contains(r.Header.Get("Cache-Control"), "no-cache") || r.Header.Get("If-None-Match") != "" {
		answer(w)
		return
	}
	before, err := c.catalogue.Revision(r.Context())
	if err != nil {
		answer(w) // which finds out for itself what is wrong
		return
	}
	c.revision.Store(before.Catalogue)
	key := keyOf()
	stats := model.StatsOf(r.Context())
	if kept, ok := c.answers.GetIfPresent(key); ok && kept.revision == before.Catalogue {
		c.hits.Add(1)
		stats.MarkCached()
		stats.SetOperation(kept.operation)
		kept.write(w, r)
		return
	}
	c.misses.Add(1)
	if r.Method == http.MethodHead || c.firstTime(key) {
		answer(w)
		return
	}
	copied := &tee{ResponseWriter: w, limit: c.limit}
	if keep := answer(copied); !keep || copied.kept == nil {
		return
	}
	after, err := c.catalogue.Revision(c.catalogue.WithLoaders(r.Context())) // a new read
	if err == nil && after == before {
		copied.kept.revision, copied.kept.operation = before.Catalogue, stats.Operation()
		c.answers.Set(key, copied.kept)
	}
}

// firstTime tells whether the key was not seen of late, and notes it.
func (c *cache) firstTime(key cacheKey) bool {
	place := &c.seen[binary.LittleEndian.Uint64(key[:8])%uint64(len(c.seen))]
	mark := binary.LittleEndian.Uint64(key[8:16])
	return place.Swap(mark) != mark
}

func (a *cachedAnswer) write(w http.ResponseWriter, r *http.Request) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a client that has gone needs no answer
	}
}

// tee passes an answer on and keeps a copy of it, up to a limit.
type tee struct {
	http.ResponseWriter
	limit int
	begun bool
	kept  *cachedAnswer // nil where the answer cannot be kept
}

func (t *tee) WriteHeader(status int) {
	if !t.begun && status == http.StatusOK {
		t.kept = &cachedAnswer{header: http.Header{}}
		for _, name := range keptHeaders { // now, since whoever compresses changes them
			if values := t.Header().Values(name); values != nil {
				t.kept.header[name] = slices.Clone(values)
			}
		}
	}
	t.begun = t.begun || status >= http.StatusOK
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(b []byte) (int, error) {
	if !t.begun {
		t.WriteHeader(http.StatusOK)
	}
	n, err := t.ResponseWriter.Write(b)
	switch {
	case t.kept == nil:
	case err != nil || len(t.kept.body)+n > t.limit:
		t.kept = nil
	default:
		t.kept.body = append(t.kept.body, b...)
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Flush implements http.Flusher.
func (t *tee) Flush() { _ = http.NewResponseController(t.ResponseWriter).Flush() }
