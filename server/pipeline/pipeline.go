// Package pipeline is the way of every operation, of GraphQL and REST alike, from the
// request that was read to its answer.
package pipeline

import (
	"context"
	"errors"
	"net/http"
	"time"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/server/admission"
	"library-catalogue/server/httpcond"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/respcache"
)

// Pipeline runs operations.
type Pipeline struct {
	Catalogue Catalogue
	Cache     *respcache.Cache // nil: no answer is cached
	Admission *admission.Controller
	Timeout   time.Duration // of an operation, the wait for its place included
}

// Catalogue is what operations read and write.
type Catalogue interface {
	// Revision returns where the catalogue stands.
	Revision(context.Context) (model.Revision, error)
	// Read runs fn, all of whose reads are of one revision. fn may run twice. since is a
	// revision that was read for the same request, nil for none. Where one is given, and fn
	// reports that its answer follows from the revision alone, Read returns that revision's
	// number, and else -1.
	Read(ctx context.Context, since *model.Revision, fn func(context.Context) (cacheable bool, err error)) (revision int64, err error)
	// WithSnapshot returns the context of a mutation, which reads what it has written.
	WithSnapshot(context.Context) context.Context
}

// Key stands for the answer to a request in the cache.
type Key = func() respcache.Key

// KeyOf returns the key of a request of these parts. Who asks is not among them: an answer
// that depends on it has no key.
func KeyOf(parts ...string) Key { return func() respcache.Key { return respcache.KeyOf(parts...) } }

// Operation is what a request asks for, once it was made ready.
type Operation struct {
	Price cost.Estimate
	// Tag returns the ETag of the answer at a revision; nil: it has none of this kind.
	Tag func(revision int64) string

	// One of these runs the operation. What Read reads is of one revision; it may run
	// twice, and reports whether the answer follows from the revision alone. Serve answers
	// by itself, waits by itself for its place, and has a Tag.
	Read  func(context.Context) (cacheable bool, err error)
	Write func(context.Context) error
	Serve func(w http.ResponseWriter, r *http.Request, since model.Revision) error

	// Failed makes an answer of the failure of Read or Write; nil: Run returns it.
	Failed func(ctx context.Context, err error)
	// Answer writes the answer of Read or Write. It holds no place and no Snapshot.
	Answer func(http.ResponseWriter)
}

// Ready returns what prepares an operation that is ready.
func Ready(operation *Operation) func(context.Context) (*Operation, error) {
	return func(context.Context) (*Operation, error) { return operation, nil }
}

// Run answers a request, or returns why it cannot. key stands for the answer in the cache;
// nil: it is not the same for all callers. prepare makes the operation ready.
func (p *Pipeline) Run(w http.ResponseWriter, r *http.Request, key Key, prepare func(context.Context) (*Operation, error)) error {
	ctx, cancel := context.WithTimeout(r.Context(), p.Timeout)
	defer cancel()

	// The answer may be in the cache, at the revision as it is now.
	var since *model.Revision
	look := func() error {
		if since != nil {
			return nil
		}
		at, err := p.Catalogue.Revision(ctx)
		if err == nil {
			since = &at
		}
		return err
	}
	var entry *respcache.Entry
	if key != nil && p.Cache.Serves(w, r) && look() == nil { // else its reads say what is wrong
		if entry = p.Cache.Look(w, r, key(), since.Catalogue); entry.Answered() {
			return nil
		}
	}

	operation, err := prepare(ctx)
	if err != nil {
		return ended(ctx, err)
	}

	// The client may have the answer.
	if operation.Tag != nil && look() == nil {
		if tag := operation.Tag(since.Catalogue); httpcond.IfNoneMatchHas(r, tag) {
			w.Header()["Cache-Control"] = noCache
			httpcond.NotModified(w, r, tag)
			return nil
		}
	}

	// Its caller pays for it, and it waits for a place.
	if err := ratelimit.Charge(ctx, operation.Price.Total); err != nil {
		return err
	}
	if operation.Serve != nil {
		if err := look(); err != nil {
			return ended(ctx, err)
		}
		return operation.Serve(w, r, *since)
	}
	release, err := p.Admission.Acquire(ctx, operation.Price)
	if err != nil {
		return ended(ctx, err)
	}
	defer release()

	// It reads from one Snapshot, or writes.
	at := int64(-1) // the revision that the answer follows from, if it follows from that alone
	if operation.Read != nil {
		var stop context.CancelFunc
		ctx, stop = admission.LimitRead(ctx, operation.Price)
		defer stop()
		at, err = p.Catalogue.Read(ctx, since, operation.Read)
	} else {
		err = operation.Write(p.Catalogue.WithSnapshot(ctx))
	}
	if err != nil {
		if err = ended(ctx, err); operation.Failed == nil {
			return err
		}
		operation.Failed(ctx, err)
	}
	release() // however slowly the client takes the answer
	if err == nil && at >= 0 {
		entry.Keep(at)
		if operation.Tag != nil {
			w.Header().Set("ETag", operation.Tag(at))
			w.Header()["Cache-Control"] = noCache
		}
	}
	operation.Answer(w)
	return nil
}

// noCache lets a client keep an answer that it asks about each time.
var noCache = []string{"no-cache"}

// ended returns the error of an operation: that which ended its context, if any did.
func ended(ctx context.Context, err error) error {
	if cause, ok := errors.AsType[*model.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}
