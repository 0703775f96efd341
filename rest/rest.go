// Package rest serves /api. It is a thin layer that maps the resolvers to the documented routes, JSON objects and
// messages. It has no rules of the catalogue and no SQL.
package rest

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/rest/spool"
)

// Catalogue is the application behind the routes: the resolvers of the schema, and whole lists.
type Catalogue interface {
	graph.ResolverRoot
	// Authorise returns an error unless the caller may run a verb on a type, such as "create" on "books".
	Authorise(ctx context.Context, noun, verb string) error
	// Sizes returns the approximate numbers of rows.
	Sizes() model.Sizes
	pipeline.Catalogue
	// ReadBack calls fn with a context whose reads all see one revision, to read the response of a write before it.
	// Errors: NotFound if the row was deleted since, with its parent; else the write is stored and its response is
	// unknown. fn may run again.
	ReadBack(ctx context.Context, fn func(context.Context) error) error
	// ReadTransaction calls fn in one transaction and at one revision, for long reads. If replicas may serve it, fn may
	// run twice, else it runs once.
	ReadTransaction(ctx context.Context, replicas model.Replicas,
		fn func(ctx context.Context, revision int64) error) error
	// StreamBooks, StreamGenres and StreamCategories read a whole list within one of these. They call fn with at most
	// the given number of rows at a time.
	StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error
	StreamGenres(ctx context.Context, args model.PageArgs, rows int,
		fn func(context.Context, []*model.Genre) error) error
	StreamCategories(ctx context.Context, args model.PageArgs, rows int,
		fn func(context.Context, []*model.Category) error) error
	// Changes returns a page of changes. Follow calls fn with each page of new changes until ctx ends or fn fails.
	// Pages are shared.
	Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error)
	Follow(ctx context.Context, args model.ChangeArgs, admit func(context.Context) (release func(), err error),
		fn func(context.Context, *model.ChangePage) error) error
	// WithLookup asks other libraries for a book, and returns a context in which Query.lookup has the results. It takes
	// seconds, and authorises first.
	WithLookup(ctx context.Context, isbn string) (context.Context, error)
	// Position returns the newest position that the reads of ctx see. Call it before them.
	Position(ctx context.Context) (string, error)
	// Idempotent stores the result of fn under the caller's key. An equal request with the same key gets the stored
	// result.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (stored []byte,
		replayed bool, err error)
}

// Options configures the handler.
type Options struct {
	OpenDelete bool // DELETE needs no token; without a valid one an anonymous caller deletes
	Cascade    bool // default of the parameter cascade

	Pipeline *pipeline.Pipeline
	Live     *live.Hub            // runs live lists and objects
	Streams  *eventstream.Streams // counts event streams
	// SpoolBytes is the maximum total size of temporary files; 0 means 512 MB.
	SpoolBytes int64

	// PublicURL is the origin of the addresses in /sitemap.xml; empty: no sitemap.
	PublicURL string

	Logger *slog.Logger // nil: no log

	Lookup bool // serve /api/lookup

	Accounts Accounts // nil: no /api/login and /api/logout

	Routes []envelope.Route // additional routes under /api
}

// defaultSpoolBytes is enough for 60 different lists of 100,000 books.
const defaultSpoolBytes = 512 << 20

// handler serves the routes.
type handler struct {
	catalogue Catalogue
	options   Options
	lists     *spool.Spool // whole lists being sent; nil: no temporary files
	byPattern map[string][]route
}

// resource is one noun of /api: its names and its operations.
type resource struct {
	*listing
	operations
	name, plural string    // in paths: "books"; in messages: "Books"
	itemFormats  []*format // formats of one object; nil: only JSON
}

// New returns the handler of /api.
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
