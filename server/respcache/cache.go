// Package respcache caches whole answers of reads, and returns none that is out
// of date.
//
// An answer is cached with the revision of the catalogue that all of it is of. It is
// returned again only where a read of the revision that began after the request
// arrived finds the same revision. So a reader never sees less than the last
// commit before its request, whichever program made it.
//
// Answers are cached as they are sent, each content coding apart: one that is
// compressed is so once.
package respcache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"library-catalogue/graph/model"
	"library-catalogue/server/telemetry"
)

// Cache is a cache of answers. A nil Cache caches nothing. It implements
// prometheus.Collector.
type Cache struct {
	answers   *otter.Cache[variant, *answer]
	maxAnswer int // bytes of the largest answer that is cached
	admitted  doorkeeper

	hits, misses, revision atomic.Int64 // revision: that was seen last
}

// maxAnswer is how many bytes an answer may have to be cached.
const maxAnswer = 1 << 20

// Key stands for a request: what is asked, and how it is to be answered.
type Key [sha256.Size]byte

// variant is the answer to a request in one content coding.
type variant struct {
	Key
	coding string
}

// KeyOf returns the key of a request of these parts. Who asks is not among them: an
// answer that depends on it is not cached.
func KeyOf(parts ...string) Key {
	text := make([]byte, 0, 1<<10)
	for _, part := range parts {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}

// New returns a cache of so many bytes, nil for 0.
func New(bytes int) (*Cache, error) {
	if bytes == 0 {
		return nil, nil
	}
	answers, err := otter.New(&otter.Options[variant, *answer]{
		MaximumWeight: uint64(bytes),
		Weigher: func(_ variant, a *answer) uint32 {
			const overhead = 1 << 10 // of an entry, its key and its headers
			return uint32(len(a.body) + overhead)
		},
	})
	// A single answer takes an eighth of the cache at most, so that one cannot push
	// out all the others.
	return &Cache{answers: answers, maxAnswer: min(bytes/8, maxAnswer)}, err
}

// Record stands outside of what compresses answers, and caches those that are kept.
func (c *Cache) Record(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tee{ResponseWriter: w}
		next.ServeHTTP(t, r)
		if t.copy != nil && t.begun {
			t.finish()
			t.copy.operation = telemetry.RequestOf(r.Context()).Operation.Load()
			c.answers.Set(t.key, t.copy)
		}
	})
}

// Serves reports whether the cache may answer a read: not where the request asks for a
// fresh answer, or has an ETag to compare.
func (c *Cache) Serves(w http.ResponseWriter, r *http.Request) bool {
	return c != nil && teeOf(w) != nil && !strings.Contains(r.Header.Get("Cache-Control"), "no-cache") && r.Header.Get("If-None-Match") == ""
}

// Entry is the place of an answer in the cache.
type Entry struct {
	tee      *tee
	key      variant
	limit    int
	answered bool
}

// Look answers a read with what is cached of a revision. Else the answer may be kept.
// The content coding of the answer follows from its Accept-Encoding, of which there are few.
func (c *Cache) Look(w http.ResponseWriter, r *http.Request, key Key, revision int64) *Entry {
	t := teeOf(w)
	c.revision.Store(revision)
	e := &Entry{key: variant{key, r.Header.Get("Accept-Encoding")}, limit: c.maxAnswer}
	if cached, ok := c.answers.GetIfPresent(e.key); ok && cached.revision == revision {
		c.hits.Add(1)
		request := telemetry.RequestOf(r.Context())
		request.Cached.Store(true)
		request.Operation.Store(cached.operation)
		cached.write(t, r) // past what compresses: it is
		e.answered = true
		return e
	}
	c.misses.Add(1)
	if r.Method != http.MethodHead && c.admitted.admit(key) {
		e.tee = t
	}
	return e
}

// Answered reports whether Look has answered.
func (e *Entry) Answered() bool { return e.answered }

// Keep has the answer cached that is written next, and follows from a revision alone.
func (e *Entry) Keep(revision int64) {
	if e != nil && e.tee != nil {
		e.tee.copy = &answer{revision: revision, header: http.Header{}}
		e.tee.key, e.tee.limit = e.key, e.limit
	}
}

// Middleware caches the answers to GET and HEAD by path and query, of a handler that looks
// at the catalogue by itself. Where the revision is not known, refuse answers.
func (c *Cache) Middleware(revision func(context.Context) (model.Revision, error), refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !c.Serves(w, r) {
				next.ServeHTTP(w, r)
				return
			}
			before, err := revision(r.Context())
			if err != nil {
				refuse(w, r, err)
				return
			}
			entry := c.Look(w, r, KeyOf("page", r.URL.EscapedPath(), r.URL.RawQuery), before.Catalogue)
			if entry.Answered() {
				return
			}
			entry.Keep(before.Catalogue)
			next.ServeHTTP(w, r)
			if after, err := revision(r.Context()); err != nil || after != before {
				entry.drop()
			}
		})
	}
}

// drop gives up an answer that was to be kept.
func (e *Entry) drop() {
	if e.tee != nil {
		e.tee.drop()
	}
}

// doorkeeper admits a key to the cache from the second request on: most documents
// of a scan are asked for once. It holds a part of the key of requests that were
// made once, at a place that follows from the key; 16,384 places take 128 kB.
type doorkeeper [1 << 14]atomic.Uint64

// admit reports whether the key was asked for of late, and notes it.
func (d *doorkeeper) admit(key Key) bool {
	place := &d[binary.LittleEndian.Uint64(key[:8])%uint64(len(d))]
	mark := binary.LittleEndian.Uint64(key[8:16])
	return place.Swap(mark) == mark
}
