package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
)

// gateways are the two servers, and HAProxy in front of them.
var gateways = []string{"127.0.4.11:8080", "127.0.4.12:8080", "127.0.4.20:8080"}

// writerDocuments are queries of GraphQL and paths of REST. Their answers depend on the rows of one writer: $category,
// $genre and $book.
var writerDocuments = []string{
	`books(filter: {genreId: {eq: $genre}}) {totalCount nodes {id version pages}}`,
	`books(filter: {genreId: {eq: $genre}, price: {gte: 20}}, orderBy: {field: PRICE, direction: DESC}, first: 3) {totalCount nodes {name price}}`,
	`books(filter: {genreId: {eq: $genre}}, search: "green") {totalCount nodes {name}}`,
	`books(filter: {genreId: {eq: $genre}, not: {author: {eq: "Ann"}}}, search: "fox", orderBy: {field: NAME}, first: 2, offset: 1) {totalCount pageInfo {hasNextPage} nodes {name author}}`,
	`books(filter: {genreId: {eq: $genre}, or: [{price: {lt: 10}}, {author: {startsWith: "B"}}]}, last: 3) {edges {node {id pages}}}`,
	`books(filter: {genre: {categoryId: {eq: $category}}}, orderBy: {field: GENRE_NAME}) {nodes {name genre {name category {name}}}}`,
	`books(filter: {genreId: {eq: $genre}}) {facets {authors {author count} years {year count}}}`,
	`books(filter: {genreId: {eq: $genre}}) {aggregate {count price {sum max} pages {min}}}`,
	`bookGroups(by: [AUTHOR], filter: {genreId: {eq: $genre}}) {totalCount nodes {author aggregate {count price {sum}}}}`,
	`book(id: $book) {name version pages genre {name}}`,
	`genre(id: $genre) {name books(first: 2, orderBy: {field: PAGES, direction: DESC}) {totalCount nodes {name pages}}}`,
	`category(id: $category) {name genres {nodes {name books {totalCount}}}}`,
	`a: book(id: $book) {price} b: genre(id: $genre) {name} c: books(filter: {genreId: {eq: $genre}}, first: 1) {totalCount}`,
	`history(type: BOOK, id: $book) {nodes {operation version}}`,
	`/api/books?genre_id=$genre&sort=-price&per_page=5`, `/api/books?genre_id=$genre&q=green&per_page=3&page=2`,
	`/api/books/$book`, `/api/genres/$genre`, `/api/categories/$category`,
}

// sharedDocuments depend on the rows of all writers.
var sharedDocuments = []string{
	`books(first: 5, orderBy: {field: UPDATED_AT, direction: DESC}) {totalCount nodes {id pages}}`,
	`genres(orderBy: {field: CATEGORY_NAME}) {nodes {name category {name}}}`,
	`categories {nodes {name genres {nodes {name books {totalCount}}}}}`,
	`bookGroups(by: [GENRE]) {nodes {genre {name} aggregate {count}}}`,
	// of the medium class, which replicas serve
	strings.Repeat(`books {facets {genres {count} categories {count} authors {count} years {count}}} `, 3),
	`/api/books?sort=-pages&per_page=10`, `/api/genres?per_page=100`, `/api/categories?per_page=100`,
}

// liveFaults happen in turn, while writers write and clients follow. progress waits for more writes.
var liveFaults = []struct {
	name string
	run  func(t *testing.T, s *site, progress func())
}{
	{"a server is killed", restarting("app1")},
	{"the primary is killed", func(t *testing.T, s *site, _ func()) {
		output(t, s.on(t, s.is("primary"), "sh", "-c", faults[0].breaks))
	}},
	{"replicas are late", func(t *testing.T, s *site, progress func()) {
		for _, role := range []string{"sync", "async"} {
			host := s.is(role)
			psql := func(statement string) {
				output(t, s.on(t, host, "psql", "--host="+host, "--username=postgres", "--command="+statement))
			}
			psql("SELECT pg_wal_replay_pause()")
			defer psql("SELECT pg_wal_replay_resume()")
		}
		progress()
	}},
	{"the other server is killed", restarting("app2")},
	{"switchover", func(t *testing.T, s *site, _ func()) {
		output(t, s.on(t, s.is("primary"), "sh", "-c", faults[1].breaks))
	}},
	{"HAProxy is killed", restarting("proxy")},
	{"the primary hangs, then is reset", func(t *testing.T, s *site, _ func()) {
		host := s.is("primary")
		output(t, s.on(t, host, "sh", "-c", faults[4].breaks))
		s.await(t, "another primary", func() bool { return !slices.Contains([]string{"", host}, s.is("primary")) })
		s.restart[host]()
	}},
	{"pgbouncer is killed", restarting("pooler")},
}

func restarting(host string) func(*testing.T, *site, func()) {
	return func(_ *testing.T, s *site, _ func()) { s.restart[host]() }
}

// TestLive follows live queries and live lists of all kinds through all gateways, while writers write by all doors and
// each host fails in turn. Clients connect again. Each message about the rows of a writer is the answer that a fresh
// request got after one of its writes, in their order, also over several streams. Positions do not go back. When the
// writers rest after each fault, each client gets the answer of now, and no acknowledged write is missing from it.
func TestLive(t *testing.T) {
	s := newSite(t)
	l := &liveSite{site: s,
		token: strings.TrimSpace(output(t, s.on(t, "app1", "env", "CATALOGUE_JWT_SECRET="+secret, s.program, "token")))}
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	for range 2 {
		l.writers = append(l.writers, l.newWriter(t))
	}
	for _, text := range sharedDocuments {
		l.documents = append(l.documents, &liveDocument{text: text})
	}
	for i, d := range l.documents {
		clients := []*liveClient{{liveDocument: d, reports: !d.isREST() && i%2 == 0}}
		if !d.isREST() {
			clients = append(clients, &liveClient{liveDocument: d, isSocket: true})
		}
		for _, c := range clients {
			l.clients = append(l.clients, c)
			running.Go(func() { c.follow(t) })
		}
	}
	l.check(t)
	end := time.Now().Add(time.Duration(dbtest.Runs(10)) * time.Minute)
	for i := 0; time.Now().Before(end); i++ {
		var stopped atomic.Bool
		resting := make(chan bool, len(l.writers))
		for _, w := range l.writers {
			running.Go(func() {
				for !stopped.Load() && t.Context().Err() == nil {
					w.write(t)
				}
				resting <- true
			})
		}
		progress := func() {
			want := l.writes.Load() + 20
			s.await(t, "writes go on", func() bool { return l.writes.Load() >= want })
		}
		s.settle(t)
		progress()
		fault := liveFaults[i%len(liveFaults)]
		fault.run(t, s, progress)
		if rand.IntN(2) == 0 { // else the last writes are those before the fault
			progress()
		}
		stopped.Store(true)
		s.await(t, "the writers rest", func() bool { return len(resting) == len(l.writers) })
		took := l.check(t)
		for range 10 { // a later write would hide a lost one
			for _, w := range l.writers {
				w.write(t)
			}
			took = max(took, l.check(t))
		}
		t.Logf("%s: all are current after at most %v; %d writes, %d streams, %d messages so far", fault.name,
			took.Round(time.Millisecond), l.writes.Load(), streams.Load(), messages.Load())
	}
}

// liveSite is a site with clients that follow documents.
type liveSite struct {
	*site
	token            string
	writes, requests atomic.Int64
	writers          []*liveWriter
	documents        []*liveDocument
	clients          []*liveClient
}

// check waits until each client has the answer of now, and compares what it got on the way. It returns how long that
// took. No writer writes.
func (l *liveSite) check(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	for _, d := range l.documents {
		state := l.read(t, d)
		if n := len(d.states); d.isOfWriter && d.states[n-1] != state {
			t.Errorf("%s: the answer changed without a write: %.300s, then %.300s", d.text, d.states[n-1], state)
		}
		d.states = append(d.states, state)
	}
	for _, c := range l.clients {
		want := c.states[len(c.states)-1]
		l.await(t, fmt.Sprintf("%.300s as the last message of %s", want, c.text), func() bool { return c.has(want) })
		c.compare(t)
	}
	for _, d := range l.documents {
		d.states = d.states[len(d.states)-1:]
	}
	for _, w := range l.writers {
		w.compare(t)
	}
	return time.Since(begun)
}
