package socket_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

const (
	subscription = "subscription { changes { position } }"
	nextPosition = "event: next\ndata: {\"data\":{\"changes\":{\"position\":\"7\"}}}\n\n"
	lastEvent    = "event: complete\ndata: \n\n"
	// urql is the Accept header of urql's queries.
	urql = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
)

// request sends a document by GET or POST, and returns the response and its events.
func (s *service) request(t *testing.T, method, document, accept string, headers ...string) (*http.Response, *bufio.Reader) {
	t.Helper()
	target, body := "http://x/graphql", io.Reader(nil)
	if method == http.MethodGet {
		target += "?query=" + url.QueryEscape(document)
	} else {
		body = strings.NewReader(servertest.Encode(t, map[string]string{"query": document}))
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	servertest.Must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: s.dialer()}).Do(r)
	servertest.Must(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return response, bufio.NewReader(response.Body)
}

// wantEvents reads text of an event stream.
func wantEvents(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		t.Fatalf("%q %v, want %q", got, err, want)
	}
}

// TestEvents follows a subscription by server-sent events, with all middleware.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, accept := range []string{"text/event-stream", urql, "*/*, text/*;q=0.5"} {
			t.Run(method+" "+accept, func(t *testing.T) {
				serve(t, func(t *testing.T, s *service) {
					response, events := s.request(t, method, subscription, accept, "Accept-Encoding: gzip, zstd")
					header := response.Header
					if response.StatusCode != 200 || header.Get("Content-Type") != "text/event-stream" || header.Get("Content-Encoding") != "" || header.Get("Cache-Control") != "no-store" {
						t.Fatal(response.Status, header)
					}
					wantEvents(t, events, ":\n\n")
					s.feed.changes <- one
					wantEvents(t, events, nextPosition)
					go func() {
						time.Sleep(40 * time.Second) // longer than a request may take
						s.feed.changes <- one
					}()
					wantEvents(t, events, ":\n\n:\n\n"+nextPosition)
					close(s.feed.end)
					wantEvents(t, events, lastEvent)
					if rest, err := io.ReadAll(events); len(rest) > 0 || err != nil {
						t.Errorf("%q %v", rest, err)
					}
				}, func(cfg *server.Config) { cfg.CacheBytes = 1 << 20 })
			})
		}
	}
}

// TestEventsEnd ends event streams before their feed.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(*service)
		want string
	}{
		"the token expires": {func(*service) { time.Sleep(2 * time.Minute) }, "event: next\ndata: {\"errors\":[{\"message\":\"The token has expired."},
		"the feed fails":    {func(s *service) { s.feed.changes <- nil }, "event: next\ndata: {\"errors\":[{\"message\":\"resume\","},
		"the server stops":  {func(s *service) { _ = s.Shutdown(context.Background()) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(t *testing.T, s *service) {
				_, events := s.request(t, http.MethodPost, subscription, "text/event-stream", "Authorization: Bearer s")
				go func() {
					synctest.Wait()
					tt.do(s)
				}()
				text, err := io.ReadAll(events)
				text = bytes.ReplaceAll(text, []byte(":\n\n"), nil) // one may come when the token expires, or not
				if err != nil || !strings.HasPrefix(string(text), tt.want) {
					t.Errorf("%q %v, want %q", text, err, tt.want)
				}
				// A client that reads complete does not connect again.
				if complete := strings.HasSuffix(string(text), lastEvent); complete == (name == "the server stops") {
					t.Errorf("%q", text)
				}
			})
		})
	}
}

// TestReplaced fills the server with the streams of one caller until another one takes a place. The client whose
// subscription ends is told, and its id is free.
func TestReplaced(t *testing.T) {
	t.Parallel()
	const told = `"message":"The server has too many open subscriptions and event streams, and you have most of them. ` +
		`Connect again later.","extensions":{"code":"UNAVAILABLE","requestId":"…","retryAfter":1}}]`
	fill := func(cfg *server.Config) { cfg.Streams = eventstream.New(2) }
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "ada")
		c.send(positions)
		synctest.Wait()
		c.send(strings.ReplaceAll(positions, `"1"`, `"2"`))
		synctest.Wait()
		response, events := s.request(t, "POST", subscription, "text/event-stream", "Authorization: Bearer bob")
		wantEvents(t, events, ":\n\n")
		_, text, err := c.Read(t.Context())
		var ended struct{ ID, Type string }
		if err := errors.Join(err, json.Unmarshal(text, &ended)); err != nil || ended.Type != "error" {
			t.Fatalf("%s %v", text, err)
		}
		c.send(strings.ReplaceAll(positions, `"1"`, strconv.Quote(ended.ID)))
		c.want(`{"id":"` + ended.ID + `","type":"error","payload":[{"message":"The server has too many open …`)
		response.Body.Close()
	}, fill)
	serve(t, func(t *testing.T, s *service) {
		ended := make(chan string, 2)
		for range 2 {
			_, events := s.request(t, "POST", subscription, "text/event-stream", "Authorization: Bearer ada")
			wantEvents(t, events, ":\n\n")
			go func() {
				text, _ := io.ReadAll(events)
				ended <- string(text)
			}()
		}
		bob := s.connect(t, "bob")
		bob.send(positions)
		text := <-ended
		begin, end, _ := strings.Cut("event: next\ndata: {\"errors\":[{"+told+"}\n\n"+lastEvent, "…")
		if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) {
			t.Errorf("%q", text)
		}
		bob.CloseNow()
	}, fill)
}

// TestOneEvent sends what ends at once in each media type.
func TestOneEvent(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		for _, tt := range []struct{ method, document, accept, mediaType, body string }{
			{"POST", "{ __typename }", urql, "application/graphql-response+json; charset=utf-8", `{"data":{"__typename":"Query"}}`},
			{"POST", "{ __typename }", "text/event-stream, application/json;q=0.9", "text/event-stream", "event: next\ndata: {\"data\":{\"__typename\":\"Query\"}}\n\n" + lastEvent},
			{"GET", "{ __typename }", "text/event-stream", "text/event-stream", "event: next\ndata: {\"data\":{\"__typename\":\"Query\"}}\n\n" + lastEvent},
			{"GET", "{ nothing }", "text/event-stream", "text/event-stream", "event: next\ndata: {\"errors\":[{\"message\":\"Cannot query"},
			{"GET", "", "text/event-stream", "application/json; charset=utf-8", `{"errors":[{"message":"The request has no query.`},
			{"POST", `subscription { changes(after: "x") { position } }`, "text/event-stream", "text/event-stream", ":\n\nevent: next\ndata: {\"errors\":[{\"message\":\"gone\","},
			{"GET", "mutation { loadSample { count } }", "text/event-stream", "application/json; charset=utf-8", `{"errors":[{"message":"A mutation must be sent by POST."`},
			{"POST", subscription, "application/json", "application/json; charset=utf-8", `{"errors":[{"message":"A subscription needs a stream. `},
		} {
			response, body := s.request(t, tt.method, tt.document, tt.accept)
			text, err := io.ReadAll(body)
			if err != nil || response.Header.Get("Content-Type") != tt.mediaType || !strings.HasPrefix(string(text), tt.body) {
				t.Errorf("%s %q for %q: %q %q %v", tt.method, tt.document, tt.accept, response.Header.Get("Content-Type"), text, err)
			}
		}
	})
}

// TestEndedSession sends an operation at once after its session has ended.
func TestEndedSession(t *testing.T) {
	serve(t, func(t *testing.T, s *service) {
		ended.Store(false)
		c := s.connect(t, "session")
		c.send(typename)
		c.want(`{"id":"2","type":"next",…`)
		c.want(`{"type":"complete","id":"2"}`)
		ended.Store(true)
		before := time.Now()
		c.send(typename)
		c.wantClose(4403, "The token has expired.")
		if waited := time.Since(before); waited >= time.Second {
			t.Errorf("it closed after %s", waited)
		}
	})
}

// TestRetryAfter runs operations until the caller has no units left, and ends a feed: on each transport the error says
// when to try again, as the header does.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		for range 4 {
			c.send(typename)
			c.want(`{"id":"2","type":"next",…`)
			c.want(`{"type":"complete","id":"2"}`)
		}
		const refused = `"message":"Too many requests. Try again in 1000 s.","extensions":{"code":"RATE_LIMITED","requestId":"`
		const delay = `","retryAfter":1000}}]}`
		for _, text := range []string{typename, strings.ReplaceAll(positions, `"1"`, `"2"`)} {
			c.send(text) // the id is free
			c.want(`{"id":"2","type":"error","payload":[{` + refused + "…" + delay)
		}
		for _, method := range []string{"POST", "GET", "QUERY"} {
			for _, accept := range []string{"application/json", "application/graphql-response+json", "text/event-stream"} {
				response, body := s.request(t, method, "{ __typename }", accept, "Authorization: Bearer reader")
				text, err := io.ReadAll(body)
				if err != nil || response.StatusCode != 429 || response.Header.Get("Retry-After") != "1000" ||
					!strings.HasPrefix(string(text), `{"errors":[{`+refused) || !strings.HasSuffix(string(text), delay) {
					t.Errorf("%s for %s: status %d, %v: %s %v", method, accept, response.StatusCode, response.Header, text, err)
				}
			}
		}
	}, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 0.001, Burst: 4} })
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(follow)
		s.feed.changes <- nil
		c.want(`{"id":"1","type":"error","payload":[{"message":"resume","extensions":{"code":"UNAVAILABLE","requestId":"…","retryAfter":1}}]}`)
		_, events := s.request(t, "POST", subscription, "text/event-stream")
		wantEvents(t, events, ":\n\n")
		s.feed.changes <- nil
		text, err := io.ReadAll(events)
		if event, _ := strings.CutSuffix(string(text), lastEvent); err != nil || !strings.HasSuffix(event, `"retryAfter":1}}]}`+"\n\n") {
			t.Errorf("%s %v", text, err)
		}
	})
}

// TestRateOfMessages sends messages faster than the caller can pay: the socket reads the next one when it has been paid.
// The bytes of an operation count as in a request, so a short one costs a unit alone.
func TestRateOfMessages(t *testing.T) {
	t.Parallel()
	ping := func(bytes int) string {
		const begin, end = `{"type":"ping","payload":{"x":"`, `"}}`
		return begin + strings.Repeat("x", bytes-len(begin)-len(end)) + end
	}
	serve(t, func(t *testing.T, s *service) {
		for _, test := range []struct {
			messages []string
			wait     time.Duration
		}{
			{slices.Repeat([]string{ping(4 << 10)}, 30), 0},
			{slices.Repeat([]string{ping(4 << 10)}, 50), 2 * time.Second},
			{[]string{ping(4<<10 + 1), ping(12 << 10), ping(12<<10 + 1)}, time.Second},
			{[]string{ping(60 << 10), ping(100)}, 4 * time.Second},
			{slices.Repeat([]string{typename}, 3), 0},
			{[]string{typename, typename + strings.Repeat(" ", 4<<10)}, 0},
		} {
			time.Sleep(time.Hour)
			c := s.connect(t, "ada")
			begun := time.Now()
			for _, message := range test.messages {
				c.send(message)
				if message[:7] == typename[:7] {
					c.want(`{"id":"2","type":"next","payload":{"data":{"__typename":"Query"}}}`)
					c.want(`{"type":"complete","id":"2"}`)
				} else {
					c.want(`{"type":"pong",…`)
				}
			}
			if waited := time.Since(begun); waited != test.wait {
				t.Errorf("%d messages like %.40s: waited for %s, want %s", len(test.messages), test.messages[0], waited, test.wait)
			}
			c.CloseNow()
		}
	}, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1, Burst: 3} })
}

// TestHTTP2 follows two subscriptions on one connection.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	store := catalogtest.Open(t, catalogtest.SQLite(t))
	f := feed{resolvers.New(store), make(chan *model.Change), make(chan struct{})}
	srv := httptest.NewUnstartedServer(servertest.NewHandler(t, &servertest.Log{}, server.Config{Catalogue: f, Authenticate: authenticate}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	var streams []io.Reader
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/graphql?query="+url.QueryEscape(subscription), nil)
		servertest.Must(t, err)
		r.Header.Set("Accept", "text/event-stream")
		response, err := transport.RoundTrip(r)
		servertest.Must(t, err)
		defer response.Body.Close()
		if response.ProtoMajor != 2 {
			t.Fatal(response.Proto)
		}
		streams = append(streams, response.Body)
		wantEvents(t, response.Body, ":\n\n")
	}
	close(f.end)
	for _, events := range streams {
		wantEvents(t, events, lastEvent)
	}
}

// TestMalformedRequest wants a status of 400 for a request without a valid document, which the protocol does not send
// as events.
func TestMalformedRequest(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		for _, body := range []string{"{", "[]", "{}", `{"query":1}`} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/graphql", strings.NewReader(body))
			servertest.Must(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "text/event-stream")
			response, err := (&http.Client{Transport: s.dialer()}).Do(r)
			servertest.Must(t, err)
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusBadRequest || !strings.HasPrefix(string(text), `{"errors":[`) {
				t.Errorf("%s: %s %q %v", body, response.Status, text, err)
			}
		}
	})
}
