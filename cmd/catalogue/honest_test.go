//go:build soak

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"library-catalogue/server/auth"
)

// kind is a kind of request that clients are promised an answer to.
type kind struct {
	name   string
	every  time.Duration // one is sent, or as soon as the last was answered
	method string
	path   string // %d is a number that differs from request to request
	body   string // likewise
	token  bool   // it is needed
	expect string // in every right answer
	names  int    // in every right answer; 0: unknown
}

// soakBooks is how many books the catalogue has that is attacked.
const soakBooks = 100_000

var (
	nestedPage = `books(first: 100, filter: {id: {gt: %d}}) { nodes { id name description author price genre { name category { name } } } }`
	bookOf     = `{"name":"Changed %d","pages":%[1]d,"published_at":"2001-02-03","author":"Author","price":"9.99","genre_id":7}`
	largeBook  = `{"query":"mutation ($id: ID!, $text: String) { updateBook(input: {id: $id, patch: {description: $text}}) { book { id } } }",` +
		`"variables":{"id":"7","text":"%d ` + strings.Repeat("long ", 4_000)[:19_980] + `"}}`
	faceted = `books(first: 20, search: "shelf %d") { totalCount nodes { name author } facets { genres(first: 5) { count genre { id } } years(first: 5) { year count } } }`
)

// kinds are all that the documentation names.
var kinds = []kind{
	{name: "a book", every: 50 * time.Millisecond, path: "/api/books/%d", names: 3},
	{name: "a page by GraphQL", every: 100 * time.Millisecond, path: graphQLPath("{ " + nestedPage + " }"), names: 300},
	{name: "the same page", every: 100 * time.Millisecond, path: graphQLPath("{ books(first: 20) { nodes { id name } } }"), names: 20},
	{name: "a page by REST", every: 100 * time.Millisecond, path: "/api/books?per_page=100&page=%d", names: 300},
	{name: "a whole list", every: time.Second, path: "/api/books", names: 3 * soakBooks},
	{name: "all categories", every: 100 * time.Millisecond, path: "/api/categories", names: 20},
	{name: "a search with facets", every: 500 * time.Millisecond, path: graphQLPath("{ " + faceted + " }"), expect: `"facets":{"genres":[{`},
	{name: "a write", every: 250 * time.Millisecond, method: http.MethodPut, path: "/api/books/%d", body: bookOf, token: true, names: 3},
	{name: "a large body", every: 500 * time.Millisecond, method: http.MethodPost, path: "/graphql", body: largeBook, token: true, expect: `"updateBook":{"book":{"id":`},
}

func graphQLPath(query string) string {
	return "/graphql?query=" + strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(query), "%", "%%"), "%%25d", "%d")
}

// request makes one, as the holder of a token unless that is "".
func (k kind) request(ctx context.Context, address, token string, n int) *http.Request {
	fill := func(text string) string {
		if !strings.Contains(text, "%d") {
			return strings.ReplaceAll(text, "%%", "%")
		}
		return fmt.Sprintf(text, n)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, "http://"+address+fill(k.path), strings.NewReader(fill(k.body)))
	if err != nil {
		panic(err) // they are in the table
	}
	if k.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request
}

// check returns what is wrong with an answer.
func (k kind) check(answer *http.Response, body []byte) error {
	if answer.StatusCode != http.StatusOK || bytes.HasPrefix(body, []byte(`{"errors"`)) || !bytes.Contains(body, []byte(k.expect)) {
		return fmt.Errorf("status %d: %.200s", answer.StatusCode, body)
	}
	if n := bytes.Count(body, []byte(`"name":`)); k.names > 0 && n != k.names {
		return fmt.Errorf("%d names in place of %d: %.200s", n, k.names, body)
	}
	return nil
}

// honest are clients that ask for what the documentation promises.
type honest struct {
	address string
	people  []person
	known   bool // all of them have a token, for what does not need one too
	number  int  // of the next round of requests
}

// person is one of the callers that the requests of a kind come from in turn.
type person struct {
	client http.Client
	token  string
}

// patience is how long people wait for an answer: longer than any line of the
// drill, so that one that is crossed does not take minutes.
const patience = 10 * time.Second

// peoplePerKind is enough that none of them comes near the rate that is allowed, nor asks
// for a whole list twice within half a minute: as many as have an address each.
const peoplePerKind = 28

// newHonest returns clients of a target: at addresses of their own, or all at one
// and told apart by their tokens alone.
func newHonest(t *testing.T, s *target, address string) *honest {
	t.Helper()
	h := &honest{address: s.public, known: address != ""}
	for i := range len(kinds) * peoplePerKind {
		from := net.IPv4(127, 0, 1, byte(1+i))
		if h.known {
			from = net.ParseIP(address)
		}
		token, err := auth.Sign([]byte(targetSecret), fmt.Sprint("person ", i), "", "", 24*time.Hour, time.Now(), "catalogue:write")
		if err != nil {
			t.Fatal(err)
		}
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
		transport := &http.Transport{DialContext: dialer.DialContext, DisableCompression: true}
		t.Cleanup(transport.CloseIdleConnections)
		h.people = append(h.people, person{http.Client{Transport: transport}, token})
	}
	return h
}

// ask sends the n-th request of a kind and returns how long its answer took, and
// what was wrong with it.
func (h *honest) ask(ctx context.Context, number, n int) (took time.Duration, err error) {
	k, p := kinds[number], &h.people[number*peoplePerKind+n%peoplePerKind]
	token := ""
	if k.token || h.known {
		token = p.token
	}
	id := 1 + n*7_919%900 // of pages there are 1,000
	start := time.Now()
	answer, err := p.client.Do(k.request(ctx, h.address, token, id))
	if err != nil {
		return time.Since(start), err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	took = time.Since(start)
	if err != nil {
		return took, fmt.Errorf("after %d bytes: %w", len(body), err)
	}
	return took, k.check(answer, body)
}

// seen is what those who asked for one kind saw.
type seen struct {
	took  []time.Duration // in order
	wrong []error
}

// quantile returns the time within which that part was answered.
func (s seen) quantile(part float64) time.Duration {
	return s.took[min(len(s.took)-1, int(part*float64(len(s.took))))]
}

func (s seen) share() float64 { return float64(len(s.wrong)) / float64(len(s.took)) }

func (s seen) String() string {
	text := fmt.Sprintf("p50 %s, p90 %s, p99 %s", milliseconds(s.quantile(0.5)), milliseconds(s.quantile(0.9)), milliseconds(s.quantile(0.99)))
	if len(s.wrong) > 0 {
		text += fmt.Sprintf(", %d of %d wrong: %v", len(s.wrong), len(s.took), s.wrong[0])
	}
	return text
}

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// measure asks for all kinds at once until some time is over, and waits for what is
// still to be answered. It returns what was seen of each kind.
func (h *honest) measure(ctx context.Context, duration time.Duration) []seen {
	all := make([]seen, len(kinds))
	end := time.Now().Add(duration)
	first := h.number
	h.number += 1_000
	var asking sync.WaitGroup
	for i, k := range kinds {
		asking.Go(func() {
			s := &all[i]
			for n := first; len(s.took) == 0 || time.Now().Before(end); n++ {
				ctx, cancel := context.WithTimeout(ctx, patience)
				took, err := h.ask(ctx, i, n)
				cancel()
				s.took = append(s.took, took)
				if err != nil {
					s.wrong = append(s.wrong, err)
				}
				time.Sleep(min(k.every-took, time.Until(end)))
			}
			slices.Sort(s.took)
		})
	}
	asking.Wait()
	return all
}
