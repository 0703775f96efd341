// Package rest is the face under /api: a thin layer that gives the documented
// routes, shapes and messages to what the resolvers answer. It holds no rule of
// the catalogue and no SQL.
package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// Catalogue is what the routes are made of: the resolvers of the schema, and
// two ways to run several of them as one.
type Catalogue interface {
	graph.ResolverRoot
	// View runs fn on one snapshot of the catalogue, whose revision it gives.
	View(ctx context.Context, fn func(ctx context.Context, revision int64) error) error
	// Once keeps the answer of fn under the caller's key, and gives that to the
	// same request later.
	Once(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
}

// Options change what a request without further word means.
type Options struct {
	OpenDelete bool // DELETE needs no token
	Cascade    bool // DELETE takes the children along
}

// maxStreams is how many lists are streamed at once. Each holds a database
// connection for as long as its client reads.
const maxStreams = 8

// handler answers the routes.
type handler struct {
	catalogue Catalogue
	options   Options
	streams   chan struct{} // holds one element for each list being streamed
	resources map[string]*resource
}

// resource is one noun of /api: its words, and how its objects are read and
// written.
type resource struct {
	noun, plural string // as in messages: "Book", "Books"

	list   func(ctx context.Context, args model.PageArgs) (list, error)
	one    func(ctx context.Context, id string) (*object, error) // nil where there is none
	create func(ctx context.Context, form model.Form) (*object, error)
	update func(ctx context.Context, id model.ID, form model.Form, version *int64) (*object, error)
	remove func(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error
}

// object is one object as it is answered.
type object struct {
	id      model.ID
	version int64  // of the row itself
	tag     string // its ETag: the versions of the row and of what is nested in it
	shape   any    // for encoding/json
}

// list is one page of a list.
type list struct {
	shapes     func(ctx context.Context) ([]any, error)
	pageInfo   func(ctx context.Context) (*model.PageInfo, error)
	totalCount func(ctx context.Context) (int, error)
}

// New makes the handler of everything under /api.
func New(catalogue Catalogue, options Options) http.Handler {
	h := &handler{catalogue: catalogue, options: options, streams: make(chan struct{}, maxStreams)}
	h.resources = map[string]*resource{
		"books":      h.books(),
		"genres":     h.genres(),
		"categories": h.categories(),
	}
	return h
}

// route is what one method does at one path.
type route func(h *handler, w http.ResponseWriter, r *http.Request, of *resource, id string) error

var (
	collection = map[string]route{
		http.MethodGet: (*handler).getList, http.MethodHead: (*handler).getList, http.MethodPost: (*handler).post,
	}
	item = map[string]route{
		http.MethodGet: (*handler).get, http.MethodHead: (*handler).get, http.MethodPut: (*handler).put, http.MethodDelete: (*handler).delete,
	}
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	segments := strings.Split(strings.TrimPrefix(path, "api/"), "/")
	of, known := h.resources[segments[0]]
	if !known || len(segments) > 2 {
		writeError(w, r, model.Errorf(model.NotFound, "The route %s could not be found.", path))
		return
	}
	routes, id := collection, ""
	if len(segments) == 2 {
		routes, id = item, segments[1]
	}
	serve, ok := routes[r.Method]
	if !ok {
		methodNotAllowed(w, r, path, routes)
		return
	}
	if err := serve(h, w, r, of, id); err != nil {
		writeError(w, r, err)
	}
}

func methodNotAllowed(w http.ResponseWriter, r *http.Request, path string, routes map[string]route) {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if _, ok := routes[method]; ok {
			methods = append(methods, method)
		}
	}
	allowed := strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	write(w, r, http.StatusMethodNotAllowed, envelope{
		Message: "The " + r.Method + " method is not supported for route " + path + ". Supported methods: " + allowed + ".",
	})
}

// get answers one object.
func (h *handler) get(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	found, err := h.find(r.Context(), of, id)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", found.tag)
	if matches(r.Header.Get("If-None-Match"), found.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	write(w, r, http.StatusOK, envelope{Success: true, Message: of.noun + " retrieved successfully", Data: found.shape})
	return nil
}

// find reads one object with what is nested in it.
func (h *handler) find(ctx context.Context, of *resource, id string) (found *object, err error) {
	found, err = of.one(ctx, id)
	if errors.Is(err, model.ErrMoved) {
		err = h.catalogue.View(ctx, func(ctx context.Context, _ int64) error {
			found, err = of.one(ctx, id)
			return err
		})
	}
	if err == nil && found == nil {
		err = model.Errorf(model.NotFound, "%s not found", of.noun)
	}
	return found, err
}

// post creates an object.
func (h *handler) post(w http.ResponseWriter, r *http.Request, of *resource, _ string) error {
	if _, err := model.Authorise(r.Context()); err != nil {
		return err
	}
	body, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	create := func(ctx context.Context) ([]byte, error) {
		created, err := of.create(ctx, form)
		if err != nil {
			return nil, err
		}
		return answer{
			Location: r.URL.Path + "/" + created.id.String(),
			ETag:     created.tag,
			Body:     encode(envelope{Success: true, Message: of.noun + " created successfully", Data: created.shape}),
		}.keep(), nil
	}
	keys, ok := r.Header["Idempotency-Key"]
	if !ok {
		kept, err := create(r.Context())
		if err != nil {
			return err
		}
		writeAnswer(w, r, kept)
		return nil
	}
	key, err := idempotencyKey(keys)
	if err != nil {
		return err
	}
	kept, replayed, err := h.catalogue.Once(r.Context(), key, fingerprint(r, body), create)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	writeAnswer(w, r, kept)
	return nil
}

// put replaces an object.
func (h *handler) put(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	if _, err := model.Authorise(r.Context()); err != nil {
		return err
	}
	_, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	// What is wrong with the input is said before whether the object is there
	// or is the one expected.
	version, precondition := h.ifMatch(r, of, id)
	updated, err := of.update(r.Context(), model.ParseID(id), form, version)
	if model.IsCode(err, model.BadUserInput) {
		return err
	}
	if precondition != nil {
		return precondition
	}
	if err != nil {
		return err
	}
	w.Header().Set("ETag", updated.tag)
	write(w, r, http.StatusOK, envelope{Success: true, Message: of.noun + " updated successfully", Data: updated.shape})
	return nil
}

// delete deletes an object.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	ctx := r.Context()
	if _, err := model.Authorise(ctx); err != nil {
		if !h.options.OpenDelete {
			return err
		}
		ctx = model.WithPrincipal(ctx, model.Principal{})
	}
	policy, err := h.onChildren(r)
	if err != nil {
		return err
	}
	version, err := h.ifMatch(r, of, id)
	if err != nil {
		return err
	}
	if err := of.remove(ctx, model.ParseID(id), version, policy); err != nil {
		return err
	}
	write(w, r, http.StatusOK, envelope{Success: true, Message: of.noun + " deleted successfully"})
	return nil
}

func (h *handler) onChildren(r *http.Request) (model.OnChildren, error) {
	cascade := h.options.Cascade
	switch given := r.URL.Query().Get("cascade"); given {
	case "":
	case "true", "1":
		cascade = true
	case "false", "0":
		cascade = false
	default:
		var f model.FieldErrors
		f.Add("cascade", "The %s field must be true or false.")
		return "", f.Err()
	}
	if cascade {
		return model.Cascade, nil
	}
	return model.Restrict, nil
}

// never is a version that no row has.
const never int64 = -1

// ifMatch gives the version that the row must still have when it is written, or
// nil where the request names none (RFC 9110 section 13.1.1). The tag also
// speaks of what is nested in the object, so it is compared here.
func (h *handler) ifMatch(r *http.Request, of *resource, id string) (*int64, error) {
	tags := r.Header.Get("If-Match")
	if tags == "" {
		return nil, nil
	}
	refused := never
	found, err := h.find(r.Context(), of, id)
	if err != nil {
		return &refused, err
	}
	if !matches(tags, found.tag) {
		return &refused, model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", of.noun)
	}
	return &found.version, nil
}

// matches tells whether a list of entity tags names tag. A tag that a
// compressed answer carried stands for the same object.
func matches(tags, tag string) bool {
	return slices.ContainsFunc(strings.Split(tags, ","), func(given string) bool {
		given = strings.TrimPrefix(strings.TrimSpace(given), "W/")
		for _, coding := range []string{`-gzip"`, `-zstd"`} {
			if bare, ok := strings.CutSuffix(given, coding); ok {
				given = bare + `"`
			}
		}
		return given == "*" || given == tag
	})
}

// logFailure keeps for the log what the client is not told.
func logFailure(r *http.Request, e *model.Error) {
	slog.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", e.Err)
}
