package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// liveOptions are the flags of the command live.
type liveOptions struct {
	engine          string
	shapes, clients int
	writes          int // a second
	period          time.Duration
}

// runLive runs the command live.
func runLive(ctx context.Context, arguments []string) error {
	var o liveOptions
	flags := flag.NewFlagSet("live", flag.ExitOnError)
	flags.StringVar(&o.engine, "engine", "postgres", "sqlite, or postgres, by default a temporary server")
	flags.IntVar(&o.shapes, "shapes", 100, "different lists")
	flags.IntVar(&o.clients, "clients", 1000, "open lists")
	flags.IntVar(&o.writes, "writes", 10, "writes a second")
	flags.DurationVar(&o.period, "period", 20*time.Second, "time of each measurement")
	_ = flags.Parse(arguments)
	if flags.NArg() != 1 {
		flags.Usage()
		os.Exit(2)
	}
	return withDatabases(ctx, o.engine,
		func(ctx context.Context, processes *errgroup.Group, create func() (string, error)) error {
			return o.run(ctx, flags.Arg(0), processes, create)
		})
}

// run measures a build with clients that watch lists in several ways.
func (o liveOptions) run(
	ctx context.Context, program string, processes *errgroup.Group, create func() (string, error),
) error {
	name, err := create()
	if err != nil {
		return err
	}
	s, err := serve(ctx, processes, program, name,
		"CATALOGUE_MAX_STREAMS=20000", "CATALOGUE_MAX_CONNECTIONS=20000", "CATALOGUE_TRUSTED_PROXIES=127.0.0.0/8")
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d clients of %d lists of %d books, %d writes a second, for %s.\n\n", o.engine, o.clients, o.shapes,
		allBooks, o.writes, o.period)
	fmt.Println("| | server, cores | database, cores | memory | messages | MB | delay after the write began, ms: median | 99 % |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|")
	for i, way := range []struct {
		name   string
		client func(*liveRun, context.Context, int) error
	}{
		{"nobody", nil},
		{"`@live`", (*liveRun).follow},
		{"GET with If-None-Match each second", (*liveRun).poll},
	} {
		if err := s.measureLive(ctx, o, way.name, 100_000*(i+1), way.client); err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return nil
}

// liveRun is a measurement with clients that watch lists.
type liveRun struct {
	*service
	shapes int
	ready  sync.WaitGroup
	bytes  atomic.Int64

	mu     sync.Mutex
	sent   map[int]time.Time // when a write began, by the number of pages that the write stored
	delays []time.Duration
}

// shape returns the query of a list: the last changed books of a genre, each of which has a twentieth of the writes.
func (l *liveRun) shape(n int, directive string) string {
	n %= l.shapes
	return "/graphql?query=" + url.QueryEscape(fmt.Sprintf(`query %s { books(first: %d, filter: {genreId: {eq: %d}},
orderBy: {field: UPDATED_AT, direction: DESC}) {
	totalCount nodes { id name author price pages genre { name category { name } } } } }`,
		directive, 20+n/20, n%20+1))
}

// measureLive prints a line: processor time while clients watch lists and a writer changes books of 20 genres in turn.
func (s *service) measureLive(
	ctx context.Context, o liveOptions, name string, firstPages int, client func(*liveRun, context.Context, int) error,
) error {
	l := &liveRun{service: s, shapes: o.shapes, sent: map[int]time.Time{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clients errgroup.Group
	if client != nil {
		for i := range o.clients {
			l.ready.Add(1)
			clients.Go(func() error { return client(l, ctx, i) })
			if i%50 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	l.ready.Wait()
	books, err := l.booksOfGenres(ctx)
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the first responses are over
	before, databaseBefore := processorTime(s.pid), processorTime(s.postgres)
	bytesBefore := l.bytes.Load()
	begin := time.Now()
	ticker := time.NewTicker(time.Second / time.Duration(max(1, o.writes)))
	defer ticker.Stop()
	for n := 0; time.Since(begin) < o.period; n++ {
		<-ticker.C
		if o.writes == 0 {
			continue
		}
		if err := l.write(ctx, books[n%20], firstPages+n); err != nil {
			return err
		}
	}
	took := time.Since(begin).Seconds()
	cores := (processorTime(s.pid) - before).Seconds() / took
	databaseCores := (processorTime(s.postgres) - databaseBefore).Seconds() / took
	used, err := memory(s.pid)
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // the last messages
	cancel()
	_ = clients.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.delays)
	median, most := "–", "–"
	if n := len(l.delays); n > 0 {
		median, most = wholeMilliseconds(l.delays[n/2]), wholeMilliseconds(l.delays[n*99/100])
	}
	fmt.Printf("| %s | %.3f | %.3f | %s | %d | %.1f | %s | %s |\n", name, cores, databaseCores, used, len(l.delays),
		float64(l.bytes.Load()-bytesBefore)/1e6, median, most)
	return nil
}

func wholeMilliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

var firstID = regexp.MustCompile(`"id":"(\d+)"`)

// booksOfGenres returns a book of each of the genres 1 to 20.
func (l *liveRun) booksOfGenres(ctx context.Context) (ids []string, err error) {
	all := liveRun{shapes: 20}
	for n := range all.shapes {
		var answer bytes.Buffer
		if err := l.ask(ctx, workload{}, all.shape(n, ""), "", &answer); err != nil {
			return nil, err
		}
		found := firstID.FindSubmatch(answer.Bytes())
		if found == nil {
			return nil, fmt.Errorf("genre %d has no books: %.300s", n+1, &answer)
		}
		ids = append(ids, string(found[1]))
	}
	return ids, nil
}

// write changes the pages of a book and notes the time before.
func (l *liveRun) write(ctx context.Context, id string, pages int) error {
	w := workload{query: `mutation ($id: ID!, $pages: Int!) { updateBook(input: {id: $id, patch: {pages: $pages}}) { clientMutationId } }`,
		variables: variables{"id": id, "pages": pages}}
	l.mu.Lock()
	l.sent[pages] = time.Now()
	l.mu.Unlock()
	var answer bytes.Buffer
	if err := l.ask(ctx, w, "", w.body(), &answer); err != nil {
		return err
	}
	if !bytes.HasPrefix(answer.Bytes(), []byte(`{"data":{"updateBook"`)) {
		return fmt.Errorf("write: %.300s", &answer)
	}
	return nil
}

var pagesOfFirst = regexp.MustCompile(`"pages":([1-3]\d{5}),`)

// receive notes the delay of a response whose first book a write has changed.
func (l *liveRun) receive(text []byte) {
	l.bytes.Add(int64(len(text)))
	found := pagesOfFirst.FindSubmatch(text)
	if found == nil {
		return
	}
	pages, _ := strconv.Atoi(string(found[1]))
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.sent[pages]; ok {
		l.delays = append(l.delays, time.Since(at))
	}
}

func (l *liveRun) open(ctx context.Context, n int, target, accept, etag string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+target, nil)
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Accept": {accept},
		"X-Forwarded-For": {fmt.Sprintf("10.%d.%d.1", n%200/100, n%100)}} // 200 callers
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	return l.client.Do(request)
}

// follow watches a list by a live query until ctx ends.
func (l *liveRun) follow(ctx context.Context, n int) error {
	response, err := l.open(ctx, n, l.shape(n, "@live"), "text/event-stream", "")
	l.ready.Done()
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		l.receive(line)
	}
}

// poll reads a list each second until ctx ends.
func (l *liveRun) poll(ctx context.Context, n int) error {
	l.ready.Done()
	etag := ""
	wait := time.Duration(rand.N(int64(time.Second)))
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		wait = time.Second
		response, err := l.open(ctx, n, l.shape(n, ""), "application/json", etag)
		if err != nil {
			return err
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(response.Body)
		if response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode == http.StatusOK {
			etag = response.Header.Get("ETag")
			l.receive(body.Bytes())
		}
	}
}
