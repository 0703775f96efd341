// Package respcache caches responses of reads. It never returns a stale response.
//
// A cached response belongs to one revision of the catalogue. The cache returns it only if the revision, read after
// the request has arrived, is still the same. So a caller sees every commit before its request, by any program.
//
// The cache stores compressed responses, one per content encoding, so that each is compressed once.
package respcache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"strings"
	"sync/atomic"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

// Cache caches responses. A nil Cache caches nothing. It implements prometheus.Collector. It is safe for concurrent
// use.
type Cache struct {
	responses    lru.Cache[variant, *response]
	maxBodyBytes int // maximum size of a cached response
	doorkeeper   doorkeeper

	hits, misses, lastRevision atomic.Int64
}

// maxBodyBytes is the maximum size of a cached response.
const maxBodyBytes = 1 << 20

// Key is a hash of the parts of a request that determine its response.
type Key [sha256.Size]byte

// variant is the cache key of a response in one content encoding.
type variant struct {
	Key
	encoding string
}

// KeyOf returns the key of a request with these parts. A response that depends on the caller must not be cached.
func KeyOf(parts ...string) Key {
	text := make([]byte, 0, 1<<10)
	for _, part := range parts {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}

// New returns a cache with a size in bytes, or nil if bytes is 0.
func New(bytes int) *Cache {
	if bytes == 0 {
		return nil
	}
	responses := lru.New(bytes, func(_ variant, r *response) int {
		const overhead = 1 << 10 // bytes of an entry, its key and its headers
		return len(r.body) + overhead
	})
	// A response takes at most an eighth of the cache, so that it cannot evict all others.
	return &Cache{responses: responses, maxBodyBytes: min(bytes/8, maxBodyBytes)}
}

// Record is middleware that caches responses after Entry.Keep. It must wrap the middleware that compresses.
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
			c.responses.Set(t.key, t.copy)
		}
	})
}

// Serves reports whether the cache may serve a read. It returns false for requests with Cache-Control: no-cache or
// If-None-Match, and for requests with a cookie, because their pages show the account.
func (c *Cache) Serves(w http.ResponseWriter, r *http.Request) bool {
	if p, err := model.CallerOf(r.Context()); err == nil && p.Cookie {
		return false
	}
	return c != nil && teeOf(w) != nil && !strings.Contains(r.Header.Get("Cache-Control"), "no-cache") &&
		r.Header.Get("If-None-Match") == ""
}

// Entry is the result of Look.
type Entry struct {
	tee      *tee // nil if the response must not be cached
	key      variant
	maxBytes int
	answered bool
}

// Look writes the cached response of a revision, if there is one. Else the returned Entry can cache the response.
// Accept-Encoding must be reduced to the chosen encoding.
func (c *Cache) Look(w http.ResponseWriter, r *http.Request, key Key, revision int64) *Entry {
	t := teeOf(w)
	c.lastRevision.Store(revision)
	e := &Entry{key: variant{key, r.Header.Get("Accept-Encoding")}, maxBytes: c.maxBodyBytes}
	if cached, ok := c.responses.Get(e.key); ok && cached.revision == revision {
		c.hits.Add(1)
		request := telemetry.RequestOf(r.Context())
		request.Cached.Store(true)
		request.Operation.Store(cached.operation)
		cached.write(t, r) // not to w, because it is compressed
		e.answered = true
		return e
	}
	c.misses.Add(1)
	if r.Method != http.MethodHead && c.doorkeeper.admit(key) {
		e.tee = t
	}
	return e
}

// Answered reports whether Look has written the response.
func (e *Entry) Answered() bool { return e.answered }

// Keep caches the response that is written next. It must depend on the revision only.
func (e *Entry) Keep(revision int64) {
	if e != nil && e.tee != nil {
		e.tee.copy = &response{revision: revision, header: http.Header{}}
		e.tee.key, e.tee.maxBytes = e.key, e.maxBytes
	}
}

// Middleware caches the responses of a handler for GET and HEAD by path, query and language. Accept-Language must be
// reduced to the chosen language. It compares the revision before
// and after the handler, and caches nothing if it cannot be read.
func (c *Cache) Middleware(revision func(context.Context) (model.Revision, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !c.Serves(w, r) {
				next.ServeHTTP(w, r)
				return
			}
			before, err := revision(r.Context())
			if err != nil {
				next.ServeHTTP(w, r)
				return
			}
			key := KeyOf("page", r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("Accept-Language"))
			entry := c.Look(w, r, key, before.Catalogue)
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

// drop cancels Keep.
func (e *Entry) drop() {
	if e.tee != nil {
		e.tee.drop()
	}
}

// doorkeeper admits a key to the cache at its second request, because a scan requests most documents once. It is a
// hash table of recent keys without collision handling; 16,384 slots take 128 kB.
type doorkeeper [1 << 14]atomic.Uint64

// admit records the key and reports whether it was recorded before.
func (d *doorkeeper) admit(key Key) bool {
	slot := &d[binary.LittleEndian.Uint64(key[:8])%uint64(len(d))]
	fingerprint := binary.LittleEndian.Uint64(key[8:16])
	return slot.Swap(fingerprint) == fingerprint
}
