// Package pipeline runs the operations of GraphQL and REST, from a parsed request to its response.
package pipeline

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/edge/respcache"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// Pipeline runs operations: look into the cache, prepare, charge, queue, run, write the response.
type Pipeline struct {
	Catalogue Catalogue
	Cache     *respcache.Cache // nil: no cache
	Admission *admission.Controller
	Timeout   time.Duration // limit of an operation, including its wait in a queue
}

// Catalogue is the storage that operations use.
type Catalogue interface {
	// Revision returns the current revision.
	Revision(context.Context) (model.Revision, error)
	// Read calls fn with a context in which all reads are of one revision. fn may run twice. known is a revision
	// that the request has read before, or NoRevision. replicas says which ones may serve the reads. If known is one
	// and fn returns true, Read returns the revision of the reads, else -1.
	Read(ctx context.Context, known model.Revision, replicas model.Replicas,
		fn func(context.Context) (cacheable bool, err error)) (revision int64, err error)
	// WithSnapshot returns the context of a write, which can read its own changes.
	WithSnapshot(context.Context) context.Context
}

// Key returns the cache key of a request.
type Key = func() respcache.Key

// KeyOf returns the key of a request with these parts. A response that depends on the caller must have no key.
func KeyOf(parts ...string) Key { return func() respcache.Key { return respcache.KeyOf(parts...) } }

// Operation is the prepared operation of a request.
type Operation struct {
	Price cost.Estimate
	// MayLag lets a late replica serve Read: it reads lists alone, for a response that can say so.
	MayLag bool
	// Tag returns the ETag of the response at a revision; nil means no such ETag.
	Tag func(revision int64) string

	// Before, if set, waits for other services before the operation waits for a permit. Its context is that of Read.
	Before func(context.Context) (context.Context, error)
	// Exactly one of Read, Write and Serve is set. Read reads from one revision and may run twice; cacheable means
	// that the response depends on the revision only. Serve writes the response, acquires its own permit, and
	// needs a Tag, unless the response is a stream of events. known is NoRevision if replicas serve reads without a
	// primary.
	Read  func(context.Context) (cacheable bool, err error)
	Write func(context.Context) error
	Serve func(w http.ResponseWriter, r *http.Request, known model.Revision) error

	// Failed turns an error of Before, Read or Write into a response; nil: Run returns the error.
	Failed func(ctx context.Context, err error)
	// Answer writes the response of Read or Write. The permit and the Snapshot are released before.
	Answer func(http.ResponseWriter)
}

// Ready returns a prepare function for an operation that needs no preparation.
func Ready(operation *Operation) func(context.Context) (*Operation, error) {
	return func(context.Context) (*Operation, error) { return operation, nil }
}

// Run runs the operation that prepare returns and writes its response. If it returns an error, it has written nothing,
// unless the error is http.ErrAbortHandler. A nil key disables the cache; the response may then depend on the caller.
func (p *Pipeline) Run(
	w http.ResponseWriter, r *http.Request, key Key, prepare func(context.Context) (*Operation, error),
) error {
	ctx, cancel := context.WithTimeout(r.Context(), p.Timeout)
	defer cancel()

	// Look into the cache, at the current revision.
	known := model.NoRevision
	readRevision := func() error {
		if known.IsKnown() {
			return nil
		}
		current, err := p.Catalogue.Revision(ctx)
		if err == nil {
			known = current
		}
		return err
	}
	var entry *respcache.Entry
	if key != nil && p.Cache.Serves(w, r) && readRevision() == nil { // after an error the operation fails below
		if entry = p.Cache.Look(w, r, key(), known.Catalogue); entry.Answered() {
			return nil
		}
	}

	operation, err := prepare(ctx)
	if err != nil {
		return ended(ctx, err)
	}

	// The client may have the current response.
	if operation.Tag != nil && readRevision() == nil {
		if tag := operation.Tag(known.Catalogue); httpcond.IfNoneMatchHas(r, tag) {
			w.Header()["Cache-Control"] = noCache
			httpcond.NotModified(w, r, tag)
			return nil
		}
	}

	// Charge the caller and wait for a permit.
	if err := ratelimit.Charge(ctx, operation.Price.Total); err != nil {
		return err
	}
	if operation.Serve != nil {
		if err := readRevision(); err != nil && !errors.Is(err, model.ErrNoPrimary) {
			return ended(ctx, err)
		}
		return operation.Serve(w, r, known)
	}
	if operation.Before != nil {
		if ctx, err = operation.Before(ctx); err != nil {
			return operation.fail(ctx, w, err)
		}
	}
	release, err := p.Admission.Acquire(ctx, operation.Price)
	if err != nil {
		return ended(ctx, err)
	}
	defer release()

	// Read from one Snapshot, or write.
	revision := int64(-1) // the revision of a cacheable response
	if operation.Read != nil {
		var stop context.CancelFunc
		ctx, stop = admission.LimitRead(ctx, operation.Price)
		defer stop()
		revision, err = p.Catalogue.Read(ctx, known, replicasFor(r, operation), operation.Read)
	} else {
		err = operation.Write(p.Catalogue.WithSnapshot(ctx))
	}
	release() // before a slow client reads the response
	if err != nil {
		return operation.fail(ctx, w, err)
	}
	if revision >= 0 {
		caching := noCache
		if telemetry.IsLate(ctx) {
			caching = noStore
		} else {
			entry.Keep(revision)
		}
		if operation.Tag != nil {
			w.Header().Set("ETag", operation.Tag(revision))
			w.Header()["Cache-Control"] = caching
		}
	}
	operation.Answer(w)
	return nil
}

// fail writes the response of an operation that failed, or returns its error.
func (o *Operation) fail(ctx context.Context, w http.ResponseWriter, err error) error {
	if err = ended(ctx, err); o.Failed == nil {
		return err
	}
	o.Failed(ctx, err)
	o.Answer(w)
	return nil
}

// replicasFor returns the replicas that may serve a read. Its client may have written if it has a token or a cookie,
// and asks for all changes by Cache-Control: no-cache, so a late replica serves neither.
func replicasFor(r *http.Request, operation *Operation) model.Replicas {
	switch {
	case admission.ClassOf(operation.Price) == admission.Light:
		return model.NoReplica
	case !operation.MayLag, r.Header["Authorization"] != nil, r.Header["Cookie"] != nil,
		strings.Contains(r.Header.Get("Cache-Control"), "no-cache"):
		return model.FreshReplica
	}
	return model.LateReplica
}

var (
	noCache = []string{"no-cache"} // a client that stores the response revalidates it before each use
	noStore = []string{"no-store"}
)

// ended returns the cause of a canceled context if it is a model.Error, else err.
func ended(ctx context.Context, err error) error {
	if cause, ok := errors.AsType[*model.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}
