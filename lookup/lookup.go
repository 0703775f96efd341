// Package lookup asks other libraries for the book of an ISBN.
//
//	settings     the setting, and the table of known sources
//	lookup       a look-up: which sources are asked, when, and for how long
//	source       one source: politeness, HTTP, redirects, private addresses
//	sru          responses of SRU 1.1 with MARCXML
//	openlibrary  responses of Open Library
//	book         values of a record as a book
package lookup

import (
	"context"
	"slices"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/lru"
	"library-catalogue/task"
)

const (
	// maxLookups is the number of concurrent look-ups, which wait for sources. Further ones are refused.
	maxLookups = 8
	// cacheBytes holds some thousand books.
	cacheBytes = 4 << 20
	// foundTime and unknownTime are how long results are kept. Failures are not.
	foundTime, unknownTime = 24 * time.Hour, time.Hour
)

// Limits of the time of a look-up.
const (
	maxTime       = 8 * time.Second
	maxSourceTime = 5 * time.Second // of a source, with its wait for other look-ups
	nextTime      = 2 * time.Second // until the next source is asked too
	pauseTime     = time.Minute     // in which a source is skipped after two time-outs
)

// Service looks up books in sources. It is safe for concurrent use.
type Service struct {
	sources []*source
	running chan struct{}
	cache   lru.Cache[cacheKey, cached]
}

type cacheKey struct{ source, isbn string }

// cached is a kept result of a source.
type cached struct {
	book    *model.FoundBook // nil: unknown
	expires time.Time
}

// New returns a Service for the sources of a setting, or nil for an empty one. contact is an address by which the
// operators of sources reach the catalogue's, or "".
func New(setting, contact string) (*Service, error) {
	sources, err := parse(setting)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	agent := "library-catalogue"
	if contact != "" {
		agent += " (+" + contact + ")"
	}
	for _, s := range sources {
		s.agent = agent
	}
	return &Service{
		sources: sources, running: make(chan struct{}, maxLookups), cache: lru.New(cacheBytes, weigh),
	}, nil
}

// weigh returns about the size of a result in bytes.
func weigh(key cacheKey, c cached) int {
	size := 300 + len(key.source) + len(key.isbn)
	if c.book != nil {
		for _, value := range c.book.Form {
			size += 2 * len(value.Written()) // the form has each text again
		}
	}
	return size
}

var errBusy = &model.Error{Code: model.RateLimited, Message: "Too many look-ups are running. Try again in a moment.",
	Err: &model.RetryError{After: time.Second}}

// Find asks all sources for a book, the ones of its country first. The next one is asked when one has responded or is
// slow. Errors: BadUserInput for an invalid ISBN, RateLimited while eight other look-ups run.
func (s *Service) Find(ctx context.Context, number string) (*model.Lookup, error) {
	digits, ok := isbn.Parse(number)
	if !ok {
		var problems model.FieldErrors
		problems.Add("isbn", model.ImportField("isbn").Syntax.Problem)
		return nil, problems.Err()
	}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	default:
		return nil, errBusy
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	ordered := s.orderFor(digits)
	results := make([]result, len(ordered))
	var running []<-chan error
	for i, source := range ordered {
		results[i] = failed(model.LookupUnreachable, "the response could not be read") // stays after a panic
		done := task.Go(ctx, func() error {
			results[i] = s.ask(ctx, source, digits)
			return nil
		})
		running = append(running, done)
		select {
		case <-done:
		case <-time.After(nextTime):
		case <-ctx.Done():
		}
	}
	for _, done := range running {
		<-done
	}
	if err := context.Cause(parent); err != nil {
		return nil, err
	}
	all := &model.Lookup{ISBN: digits, Books: []*model.FoundBook{}}
	for i, r := range results {
		r.Name = ordered[i].name
		all.Sources = append(all.Sources, &r.LookupSource)
		if r.book != nil {
			all.Books = append(all.Books, r.book)
		}
	}
	return all, nil
}

// orderFor returns the sources whose ISBN groups have the number, then the others, each in the order of the setting.
func (s *Service) orderFor(digits string) []*source {
	rank := func(s *source) int { // above 0 for a source of the country
		return 1 + slices.IndexFunc(s.groups, func(group string) bool { return strings.HasPrefix(digits, group) })
	}
	ordered := slices.Clone(s.sources)
	slices.SortStableFunc(ordered, func(a, b *source) int { return min(rank(b), 1) - min(rank(a), 1) })
	return ordered
}

// result is the result of a source, with its book if that is found.
type result struct {
	book *model.FoundBook
	model.LookupSource
}

// failed returns the result of a source that was not usable. The message becomes a sentence.
func failed(status model.LookupStatus, message string) result {
	message = strings.ToUpper(message[:1]) + message[1:] + "."
	return result{LookupSource: model.LookupSource{Status: status, Message: &message}}
}

func resultOf(book *model.FoundBook) result {
	status := model.LookupFound
	if book == nil {
		status = model.LookupUnknown
	}
	return result{book, model.LookupSource{Status: status}}
}

// ask returns the kept result of a source, or asks it.
func (s *Service) ask(ctx context.Context, source *source, digits string) result {
	key, now := cacheKey{source.name, digits}, time.Now()
	if kept, ok := s.cache.Get(key); ok && now.Before(kept.expires) {
		return resultOf(kept.book)
	}
	r := source.ask(ctx, digits)
	switch r.Status {
	case model.LookupFound:
		s.cache.Set(key, cached{r.book, now.Add(foundTime)})
	case model.LookupUnknown:
		s.cache.Set(key, cached{nil, now.Add(unknownTime)})
	}
	return r
}
