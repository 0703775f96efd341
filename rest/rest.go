// Package rest is the face under /api: a thin layer that gives the documented
// routes, shapes and messages to what the resolvers answer. It holds no rule of
// the catalogue and no SQL.
package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// Catalogue is what the routes are made of: the resolvers of the schema, two
// ways to run several of them as one, and lists that are too long for a page.
type Catalogue interface {
	graph.ResolverRoot
	// InSnapshot runs fn on one snapshot of the catalogue, whose revision it gives. A
	// view in a view has the same snapshot.
	InSnapshot(ctx context.Context, fn func(ctx context.Context, revision int64) error) error
	// ReadConsistent runs fn and gives it the revision that all it reads is of. fn may
	// be run twice.
	ReadConsistent(ctx context.Context, fn func(ctx context.Context, revision int64) error) error
	// StreamBooks, StreamGenres and StreamCategories read a whole list on one snapshot, and
	// give fn its rows in parts of so many.
	StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error
	StreamGenres(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Genre) error) error
	StreamCategories(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Category) error) error
	// Idempotent keeps the answer of fn under the caller's key, and gives that to the
	// same request later.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
}

// Options change what a request without further word means.
type Options struct {
	OpenDelete bool // DELETE needs no token
	Cascade    bool // DELETE takes the children along

	// Timeout bounds the work on a request; 0 stands for 30 seconds. A whole
	// list may wait that long for its turn, and then takes what its client takes.
	Timeout time.Duration
}

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
	name         string // as in paths: "books"
	noun, plural string // as in messages: "Book", "Books"
	conditions   []condition
	sorts        []string // the fields that sort may name: GraphQL's, in lower case

	list   func(ctx context.Context, args model.PageArgs) (list, error)
	each   func(ctx context.Context, args model.PageArgs, send func(ctx context.Context, part objects) error) error
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
	json    []byte
}

// New makes the handler of everything under /api.
func New(catalogue Catalogue, options Options) http.Handler {
	options.Timeout = cmp.Or(options.Timeout, 30*time.Second)
	h := &handler{catalogue: catalogue, options: options, streams: make(chan struct{}, maxStreams), resources: map[string]*resource{}}
	for _, of := range []*resource{h.books(), h.genres(), h.categories()} {
		h.resources[of.name] = of
	}
	return h
}

// route is what one method does at one path.
type route func(h *handler, w http.ResponseWriter, r *http.Request, of *resource, id string) error

var (
	collection = map[string]route{
		http.MethodGet:  (*handler).getList,
		http.MethodHead: (*handler).getList,
		http.MethodPost: bounded((*handler).post),
	}
	item = map[string]route{
		http.MethodGet:    bounded((*handler).get),
		http.MethodHead:   bounded((*handler).get),
		http.MethodPut:    bounded((*handler).put),
		http.MethodDelete: bounded((*handler).delete),
	}
)

// bounded is a route whose work is given up after Options.Timeout.
func bounded(serve route) route {
	return func(h *handler, w http.ResponseWriter, r *http.Request, of *resource, id string) error {
		ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
		defer cancel()
		return serve(h, w, r.WithContext(ctx), of, id)
	}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache") // keep it, but ask by its ETag whether it still holds
	path := strings.Trim(r.URL.EscapedPath(), "/")
	segments := strings.Split(path, "/")
	for i, escaped := range segments { // unescaped last: an escaped slash stays within its segment
		segments[i], _ = url.PathUnescape(escaped) // EscapedPath has no bad escapes
	}
	var of *resource
	if len(segments) == 2 || len(segments) == 3 {
		of = h.resources[segments[1]]
	}
	if of == nil || segments[0] != "api" {
		writeError(w, r, model.Errorf(model.NotFound, "The route %s could not be found.", path))
		return
	}
	routes, id := collection, ""
	if len(segments) == 3 {
		routes, id = item, segments[2]
	}
	serve, ok := routes[r.Method]
	if !ok {
		methodNotAllowed(w, r, path, routes)
		return
	}
	label := r.Method + " /api/" + of.name
	if id != "" {
		label += "/{id}"
	}
	model.StatsOf(r.Context()).SetOperation(&model.Operation{Label: label})
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
	write(w, http.StatusMethodNotAllowed, envelope{
		Message: "The " + r.Method + " method is not supported for route " + path + ". Supported methods: " + allowed + ".",
	})
}

// get answers one object.
func (h *handler) get(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	found, err := h.find(r.Context(), of, id)
	if err != nil || NotModified(w, r, found.tag) {
		return err
	}
	writeBytes(w, http.StatusOK, success(of.noun+" retrieved successfully", found.json))
	return nil
}

// find reads one object with what is nested in it.
func (h *handler) find(ctx context.Context, of *resource, id string) (found *object, err error) {
	found, err = of.one(ctx, id)
	if errors.Is(err, model.ErrSnapshotChanged) {
		err = h.catalogue.InSnapshot(ctx, func(ctx context.Context, _ int64) error {
			found, err = of.one(ctx, id)
			return err
		})
	}
	if err == nil && found == nil {
		err = model.Errorf(model.NotFound, "%s not found", of.noun)
	}
	return found, err
}

// maybe gives the object of a row that may not be there.
func maybe[T any](ctx context.Context, row *T, of func(context.Context, *T) (*object, error), err error) (*object, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return of(ctx, row)
}

// post creates an object.
func (h *handler) post(w http.ResponseWriter, r *http.Request, of *resource, _ string) error {
	if _, err := model.Authorise(r.Context(), of.name+":create"); err != nil {
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
			Location: "/api/" + of.name + "/" + created.id.String(),
			ETag:     created.tag,
			Body:     success(of.noun+" created successfully", created.json),
		}.keep(), nil
	}
	keys := r.Header.Values(KeyHeader)
	if len(keys) == 0 {
		kept, err := create(r.Context())
		if err != nil {
			return err
		}
		return writeAnswer(w, kept)
	}
	key, err := IdempotencyKey(keys)
	if err != nil {
		return err
	}
	kept, replayed, err := h.catalogue.Idempotent(r.Context(), key, fingerprint(of, body), create)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set(ReplayedHeader, "true")
	}
	return writeAnswer(w, kept)
}

// put replaces an object.
func (h *handler) put(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	if _, err := model.Authorise(r.Context(), of.name+":update"); err != nil {
		return err
	}
	_, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	// What is wrong with the input is said before whether the object is there
	// or is the one expected.
	version, precondition := h.expected(r, of, id)
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
	writeBytes(w, http.StatusOK, success(of.noun+" updated successfully", updated.json))
	return nil
}

// delete deletes an object.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, of *resource, id string) error {
	ctx := r.Context()
	if _, err := model.Authorise(ctx, of.name+":delete"); err != nil {
		if !h.options.OpenDelete || !model.IsCode(err, model.Unauthenticated) {
			return err
		}
		ctx = model.WithPrincipal(ctx, model.Principal{})
	}
	policy, err := h.onChildren(r)
	if err != nil {
		return err
	}
	version, err := h.expected(r, of, id)
	if err != nil {
		return err
	}
	if err := of.remove(ctx, model.ParseID(id), version, policy); err != nil {
		return err
	}
	writeBytes(w, http.StatusOK, success(of.noun+" deleted successfully", []byte("null")))
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
