package graphqlhttp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/wI2L/jsondiff"

	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/model"
	"library-catalogue/graph/reads"
	"library-catalogue/lru"
	"library-catalogue/task"
)

// liveDirective makes a query live.
const liveDirective = "live"

// The bounds of the argument throttle, in milliseconds.
const (
	minThrottle = 100
	maxThrottle = 60_000
)

// throttleOf returns the minimum time between two responses of a live query, or 0 for another operation.
func throttleOf(o *operation) (time.Duration, *refusal) {
	directive := o.Operation.Directives.ForName(liveDirective)
	if directive == nil {
		return 0, nil
	}
	args := directive.ArgumentMap(o.Variables)
	throttle := int64(minThrottle)
	if given := args["throttle"]; given != nil {
		var err error
		throttle, err = graphql.UnmarshalInt64(given)
		if err != nil || throttle < minThrottle || throttle > maxThrottle {
			refused := gqlerror.ErrorPosf(directive.Position,
				"The throttle argument of @live must be between %d and %d.", minThrottle, maxThrottle)
			return 0, invalid(withCode(refused, model.BadUserInput))
		}
	}
	if args["if"] == false {
		return 0, nil
	}
	return time.Duration(throttle) * time.Millisecond, nil
}

// readLive reads extensions.live.
func (q *request) readLive() *gqlerror.Error {
	for key, value := range members(q.extensions) {
		if key == "live" {
			q.wantsPatches = string(value) == `{"patch":true}`
			if !q.wantsPatches && string(value) != `{"patch":false}` && value.Kind() != jsontext.KindNull {
				return newError(model.BadUserInput, `extensions.live must be {"patch": true} or {"patch": false}.`)
			}
		}
	}
	return nil
}

// sum identifies a response: the Sum of its State.
type sum = [sha256.Size]byte

// liveResponse is a response that listeners share. Its errors have no request.
type liveResponse struct {
	*graphql.Response
	position string
	mu       sync.Mutex
	patches  map[sum]json.RawMessage // from earlier data
}

// patchFrom returns the patch of earlier data, which it makes once.
func (r *liveResponse) patchFrom(base sum, data json.RawMessage) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.patches[base] == nil {
		patch, err := jsondiff.CompareJSON(data, r.Data, jsondiff.LCS())
		if err != nil {
			return r.Data
		}
		r.patches[base], _ = json.Marshal(append(jsondiff.Patch{}, patch...)) // not null
	}
	return r.patches[base]
}

const (
	// maxBaseBytes is the maximum total size of the data that patches change. Each counts persistedOverhead too.
	maxBaseBytes = 16 << 20
	// maxDiffWork is the maximum product of the rows and bytes of data that have patches, because jsondiff.LCS compares
	// each row of a list with each: it takes 1.4 ms for 100 books (24 KB), and at most 50 ms.
	maxDiffWork = 4 << 20
)

func newBases() lru.Cache[sum, json.RawMessage] {
	return lru.New(maxBaseBytes, func(_ sum, data json.RawMessage) int { return len(data) + persistedOverhead })
}

// patcher makes the messages of a client that uses npm @n1ru4l/graphql-live-query-patch-json-patch.
type patcher struct {
	bases    lru.Cache[sum, json.RawMessage]
	base     sum // data that the client has
	revision int // of the last message
}

// next returns a patch of the data that the client has, with the next revision. If those are not in bases, maxDiffWork
// is exceeded or the patch is not shorter, it returns the data with revision 1. Null has no revision: the client keeps
// what it has.
func (p *patcher) next(state live.State) json.RawMessage {
	response := state.Response.(*liveResponse)
	text := response.Data
	if !bytes.HasPrefix(text, []byte("{")) {
		return text
	}
	fits := bytes.Count(text, []byte("},{"))*len(text) <= maxDiffWork
	if base, known := p.bases.Get(p.base); known && fits {
		text = response.patchFrom(p.base, base)
	}
	if p.revision++; len(text) >= len(response.Data) {
		text, p.revision = response.Data, 1
	}
	p.base = state.Sum
	if fits {
		p.bases.Set(p.base, response.Data)
	}
	return fmt.Appendf(nil, `%s,"revision":%d`, text, p.revision)
}

// watch starts a live query. Each response has the whole result, or a patch if the client wants patches. The last one
// has only the error that ended the query, if there is one. The responses end with ctx.
func (e *execution) watch(ctx context.Context) (graphql.ResponseHandler, context.Context) {
	e.record(ctx)
	run, refused := e.forLive(ctx)
	if refused != nil {
		return graphql.OneShot(&graphql.Response{Errors: refused.errors}), ctx
	}
	q := live.Query{Reads: reads.Of(e.operation.Operation, e.operation.Variables), Run: run}
	if !hasName(e.query, unshared...) {
		q.Key = pipeline.KeyOf("live", strconv.FormatBool(e.Options.Introspection.Allows(ctx)),
			strconv.FormatBool(e.wantsPosition), e.query, e.operationName, string(e.request.variables))
	}
	listener := e.Live.Listen(ctx, q, e.throttle)
	patcher := &patcher{bases: e.bases}
	task.OnDone(ctx, listener.Close)
	complete := false
	return func(ctx context.Context) *graphql.Response {
		if complete {
			return nil
		}
		complete = e.operation.isPast()
		state, err := listener.Next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			complete = true
			return &graphql.Response{Errors: cloned(ErrorsOf(err))}
		}
		shared := state.Response.(*liveResponse)
		own := *shared.Response // its request adds to its extensions
		own.Errors, own.Extensions = cloned(own.Errors), maps.Clone(own.Extensions)
		if e.wantsPatches {
			own.Data = patcher.next(state)
		}
		e.response, e.position = &own, shared.position
		return e.finished()
	}, ctx
}

// cloned returns a copy of errors that listeners share.
func cloned(errors gqlerror.List) (own gqlerror.List) {
	for _, err := range errors {
		copied := *err
		copied.Extensions = maps.Clone(err.Extensions)
		own = append(own, &copied)
	}
	return own
}

// forLive returns the function that runs the query for all its listeners, with an operation that knows nothing of this
// request. Errors that no later run mends end it, and so does a price above the limit.
func (e *execution) forLive(ctx context.Context) (func(context.Context, model.Revision) (live.State, error), *refusal) {
	request := *e.request
	operation, refused := e.newOperation(ctx, &request, e.document, nil)
	return func(ctx context.Context, known model.Revision) (live.State, error) {
		if refused := e.price(operation); refused != nil {
			return live.State{}, refused
		}
		run := &execution{Handler: e.Handler, request: &request, operation: operation}
		revision, err := e.Pipeline.Read(ctx, known, operation.estimate, run.read)
		if run.buffer != nil {
			defer buffers.Put(run.buffer)
		}
		if err != nil {
			return live.State{}, err
		}
		response := run.response
		response.Data = bytes.Clone(response.Data)
		response.Errors = response.Errors[:min(len(response.Errors), maxErrors)]
		for _, err := range response.Errors {
			switch code, _ := err.Extensions["code"].(string); model.Code(code) {
			case model.Unavailable:
				return live.State{}, &model.Error{Code: model.Unavailable, Message: err.Message, Err: err}
			case model.Forbidden, model.Unauthenticated:
				return live.State{}, &refusal{errors: response.Errors}
			}
		}
		hash := sha256.New()
		hash.Write(response.Data)
		if response.Errors != nil {
			_ = json.NewEncoder(hash).Encode(response.Errors) // a hash does not fail
		}
		return live.State{
			Sum: [sha256.Size]byte(hash.Sum(nil)), Price: operation.estimate.Total, Revision: revision,
			Bytes:    len(response.Data),
			Response: &liveResponse{Response: response, position: run.position, patches: map[sum]json.RawMessage{}},
		}, nil
	}, refused
}

// isPast reports whether all fields of a query are of the past, which does not change.
func (o *operation) isPast() bool {
	return !slices.ContainsFunc(reads.FieldsOf(o.Operation.SelectionSet), func(f *ast.Field) bool {
		return f.ArgumentMap(o.Variables)["asOf"] == nil
	})
}
