// Package rest is the endpoint under /api: a thin layer that puts what the resolvers
// answer into the documented routes, shapes and messages. It holds no rule of
// the catalogue and no SQL.
package rest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/rest/spool"
	"library-catalogue/server/pipeline"
)

// Catalogue is what the routes are made of: the resolvers of the schema, and lists that
// are too long for a page.
type Catalogue interface {
	graph.ResolverRoot
	// Authorise returns an error unless the caller may do what verb says to rows
	// of a type: "books" and "create".
	Authorise(ctx context.Context, noun, verb string) error
	// Sizes returns how many rows there are, about.
	Sizes() model.Sizes
	pipeline.Catalogue
	// ReadTransaction runs fn, which reads from one transaction and gets the number of its
	// revision: for what takes long. fn runs once.
	ReadTransaction(ctx context.Context, fn func(ctx context.Context, revision int64) error) error
	// StreamBooks, StreamGenres and StreamCategories read a whole list within
	// ReadTransaction, and call fn with so many of its rows at a time.
	StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error
	StreamGenres(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Genre) error) error
	StreamCategories(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Category) error) error
	// Idempotent stores the answer of fn under the caller's key, and returns that to the
	// same request later.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
}

// Options change what a request without further word means.
type Options struct {
	OpenDelete bool // DELETE needs no token
	Cascade    bool // DELETE takes the children along

	Pipeline *pipeline.Pipeline // runs the operations
	// SpoolBytes bounds what whole lists take in temporary files; 0 stands for 512 MB.
	SpoolBytes int64

	Logger *slog.Logger // nil: nothing is logged

	Routes []Route // others under /api
}

// Route is what one method does at one path under /api that is not a resource's.
type Route struct {
	Method, Pattern string
	// Serve answers a request, or returns the failure that is its answer. id is what is
	// in the place of {id} in the pattern.
	Serve func(w http.ResponseWriter, r *http.Request, id string) error
}

// defaultSpoolBytes has room for 60 different lists of 100,000 books.
const defaultSpoolBytes = 512 << 20

// handler answers the routes.
type handler struct {
	catalogue Catalogue
	options   Options
	lists     *spool.Spool // whole lists that are being sent; nil: there are no temporary files
	byPattern map[string][]route
}

// resource is one noun of /api: its words, and how its objects are read and
// written.
type resource struct {
	*listing
	name         string // as in paths: "books"
	noun, plural string // as in messages: "Book", "Books"

	list   func(ctx context.Context, f *format, args model.PageArgs) (list, error)
	stream func(ctx context.Context, f *format, args model.PageArgs, send func(ctx context.Context, part objects) error) error
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
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	options.SpoolBytes = cmp.Or(options.SpoolBytes, defaultSpoolBytes)
	lists := spool.New(options.SpoolBytes, options.Logger)
	h := &handler{catalogue: catalogue, options: options, lists: lists, byPattern: map[string][]route{}}
	for _, route := range h.routes() {
		h.byPattern[route.pattern] = append(h.byPattern[route.pattern], route)
	}
	return h
}
