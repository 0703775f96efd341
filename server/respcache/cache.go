// Package respcache caches whole answers of reads, and returns none that is out
// of date.
//
// An answer is cached with the revision of the catalogue, and only where that was
// the same before and after its statements: such an answer is one snapshot. It is
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

// Catalogue is what the answers are about.
type Catalogue interface {
	// WithLoaders returns a context in which the revision is read anew.
	WithLoaders(context.Context) context.Context
	Revision(context.Context) (model.Revision, error)
}

// Cache is a cache of answers. A nil Cache caches nothing. It implements
// prometheus.Collector.
type Cache struct {
	catalogue Catalogue
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
func New(catalogue Catalogue, bytes int) (*Cache, error) {
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
	return &Cache{catalogue: catalogue, answers: answers, maxAnswer: min(bytes/8, maxAnswer)}, err
}

// Record stands outside of what compresses answers, and caches what Serve, within it,
// has found to be cacheable.
func (c *Cache) Record(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tee{ResponseWriter: w}
		next.ServeHTTP(t, r)
		if t.copy != nil && t.begun {
			t.finish()
			c.answers.Set(t.key, t.copy)
		}
	})
}

// Middleware caches the answers to GET and HEAD by path, query and what format returns of
// a request: the answers under one address that Accept chooses from. Where the revision
// is not known, refuse answers.
func (c *Cache) Middleware(refuse func(http.ResponseWriter, *http.Request, error), format func(*http.Request) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if c == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				next.ServeHTTP(w, r)
				return
			}
			key := func() Key { return KeyOf("rest", r.URL.EscapedPath(), r.URL.RawQuery, format(r)) }
			err := c.Serve(w, r, key, func(w http.ResponseWriter) bool {
				next.ServeHTTP(w, r)
				return true
			})
			if err != nil {
				refuse(w, r, err)
			}
		})
	}
}

// Serve answers a read from the cache, or lets handle do it and has what it writes
// cached, if handle reports that this may be. A request that asks for a fresh
// answer, or has an ETag to compare, goes to handle. The content coding of the
// answer follows from its Accept-Encoding, of which there are few. With an error, that
// of the look at the revision, nothing was answered.
func (c *Cache) Serve(w http.ResponseWriter, r *http.Request, keyOf func() Key, handle func(http.ResponseWriter) (cacheable bool)) error {
	t := teeOf(w)
	if t == nil || strings.Contains(r.Header.Get("Cache-Control"), "no-cache") || r.Header.Get("If-None-Match") != "" {
		handle(w)
		return nil
	}
	before, err := c.catalogue.Revision(r.Context())
	if err != nil {
		return err
	}
	c.revision.Store(before.Catalogue)
	key := variant{keyOf(), r.Header.Get("Accept-Encoding")}
	request := telemetry.RequestOf(r.Context())
	if cached, ok := c.answers.GetIfPresent(key); ok && cached.revision == before.Catalogue {
		c.hits.Add(1)
		request.MarkCached()
		request.SetOperation(cached.operation)
		cached.write(t, r) // past what compresses: it is
		return nil
	}
	c.misses.Add(1)
	if r.Method == http.MethodHead || !c.admitted.admit(key.Key) {
		handle(w)
		return nil
	}
	fresh := &answer{revision: before.Catalogue, header: http.Header{}}
	t.copy, t.key, t.limit = fresh, key, c.maxAnswer
	cacheable := handle(w)
	fresh.operation = request.Operation()
	if cacheable {
		after, err := c.catalogue.Revision(c.catalogue.WithLoaders(r.Context())) // a new read
		cacheable = err == nil && after == before
	}
	if !cacheable {
		t.drop()
	}
	return nil
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
