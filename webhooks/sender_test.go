package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// receiver is an endpoint. It records the messages that it accepts.
type receiver struct {
	*httptest.Server
	secrets []string // each must have signed
	// answer writes the response to the n-th request, from 0, and reports whether it accepts the message.
	answer func(n int, w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests int
	accepted chan received
	faults   []string
}

// received is a message.
type received struct {
	id   string
	Type string
	Data struct {
		Position, Type, Operation string
		ID, Version               int64
		Data                      map[string]any
	}
}

func (m received) String() string {
	return fmt.Sprintf("%s %s %d v%d", m.Data.Position, m.Type, m.Data.ID, m.Data.Version)
}

// newReceiver starts a receiver. answer may be nil, which accepts all.
func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool, secrets ...string) *receiver {
	t.Helper()
	to := &receiver{secrets: secrets, answer: answer, accepted: make(chan received, 10_000)}
	to.Server = httptest.NewServer(to)
	t.Cleanup(func() {
		to.Close()
		if len(to.faults) > 0 {
			t.Error(strings.Join(to.faults, "\n"))
		}
	})
	return to
}

func (to *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	for _, secret := range to.secrets {
		signer, broken := standardwebhooks.NewWebhook(secret)
		if broken == nil && err == nil {
			err = signer.Verify(body, r.Header)
		}
	}
	m := received{id: r.Header.Get("webhook-id")}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	to.mu.Lock()
	n := to.requests
	to.requests++
	if err != nil {
		to.faults = append(to.faults, fmt.Sprintf("%v: %s", err, body))
	}
	to.mu.Unlock()
	if to.answer == nil || to.answer(n, w, r) {
		to.accepted <- m
	}
}

// setting is a catalogue with a sender.
type setting struct {
	*db.Store
	genre *model.Genre
}

func newSetting(t *testing.T, url string) *setting {
	t.Helper()
	s := &setting{Store: catalogtest.Open(t, url)}
	category := must(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Fiction"}))(t)
	s.genre = must(s.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Fantasy", CategoryID: category.ID}))(t)
	return s
}

// must returns a function that returns a value, and ends the test at an error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		check(tb, err)
		return value
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// add adds a webhook to a receiver, and sets its secret.
func (s *setting) add(t *testing.T, to *receiver, types ...model.CatalogueType) *model.Webhook {
	t.Helper()
	w := &model.Webhook{URL: to.URL, Types: types, Secrets: []string{NewSecret()}}
	check(t, s.Webhooks.Add(t.Context(), w))
	if to.secrets == nil {
		to.secrets = w.Secrets
	}
	return w
}

// write creates, renames and deletes books.
func (s *setting) write(t *testing.T, books int) {
	t.Helper()
	for i := range books {
		in := &model.CreateBookInput{
			Name: "A book", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 2}, Author: "An author", GenreID: s.genre.ID,
		}
		book := must(s.Books.Create(t.Context(), in))(t)
		name := fmt.Sprintf("Book %d", i)
		must(s.Books.Update(t.Context(), book.ID, &model.BookPatch{Name: graphql.OmittableOf(&name)}, nil))(t)
		if i%2 == 0 {
			check(t, s.Books.Delete(t.Context(), book.ID, nil, model.Restrict))
		}
	}
}

// after returns the changes after a position, as messages.
func (s *setting) after(t *testing.T, position string) (all []string) {
	t.Helper()
	for more := true; more; {
		page := must(s.Changes(t.Context(), model.ChangeArgs{After: &position, First: 100}))(t)
		for _, c := range page.Nodes {
			m := received{Type: strings.ToLower(string(c.Type)) + "." + strings.ToLower(string(c.Operation)) + "d"}
			m.Type = strings.Replace(m.Type, "eed", "ed", 1)
			m.Data.Position, m.Data.ID, m.Data.Version = c.Position, int64(c.RowID), c.Version
			all = append(all, m.String())
		}
		position, more = page.Position, page.HasMore
	}
	return all
}

// shortTimes are times of tests, in which retries follow at once.
var shortTimes = times{
	poll: 10 * time.Millisecond, lease: time.Second, idle: 100 * time.Millisecond, turn: 200 * time.Millisecond,
	delays: slices.Repeat([]time.Duration{time.Millisecond}, 50),
}

// sender returns a sender with shortTimes.
func (s *setting) sender(background func(func(context.Context)) bool) *Sender {
	sender := New(Config{Endpoints: s.Webhooks, Feed: s, Background: background, Private: true})
	sender.times = shortTimes
	sender.client.timeout = 500 * time.Millisecond
	return sender
}

// run runs a sender until the test ends.
func (s *setting) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.sender(s.Background).Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// wants receives messages until all of want have come, in order. A message may come again before the next one.
func (to *receiver) wants(t *testing.T, want []string) {
	t.Helper()
	last := ""
	for i := 0; i < len(want); {
		m := <-to.accepted
		if m.id != m.Data.Position {
			t.Fatalf("the webhook-id of %s is %s", m, m.id)
		}
		switch m.String() {
		case want[i]:
			last = want[i]
			i++
		case last:
		default:
			t.Fatalf("message %d is %s, want %s", i, m, want[i])
		}
	}
}

// TestInOrder sends to two endpoints that fail, hang, close connections and come back, from two servers on PostgreSQL.
func TestInOrder(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSetting(t, url)
		faulty := func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n % 9 {
			case 1:
				w.WriteHeader(http.StatusInternalServerError)
			case 3:
				<-r.Context().Done() // until the sender hangs up
			case 5:
				panic(http.ErrAbortHandler)
			case 6:
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			case 7:
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				w.WriteHeader(http.StatusNoContent)
				return true
			}
			return false
		}
		all, genres := newReceiver(t, faulty), newReceiver(t, faulty)
		start := s.add(t, all).Position
		s.add(t, genres, model.TypeGenre)
		s.run(t)
		if !strings.HasPrefix(url, "sqlite:") {
			s.run(t)
		}
		s.write(t, 10)
		must(s.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Last", CategoryID: s.genre.CategoryID}))(t)
		want := s.after(t, start)
		if len(want) != 26 {
			t.Fatalf("there are %d changes after %s: %s", len(want), start, strings.Join(want, "\n"))
		}
		all.wants(t, want)
		genres.wants(t, want[len(want)-1:])
	})
}

// TestLeaseExpires cuts a sender in a request, as a crash does. Its lease expires, and another sender goes on.
func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	s := newSetting(t, catalogtest.Postgres(t))
	hung := make(chan struct{})
	to := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 2 {
			close(hung)
			<-r.Context().Done()
			return false
		}
		return true
	})
	start := s.add(t, to).Position
	s.write(t, 2)
	life, crash := context.WithCancel(t.Context())
	go s.sender(func(fn func(context.Context)) bool { go fn(life); return true }).Run(life)
	<-hung
	crash()
	s.run(t)
	to.wants(t, s.after(t, start))
}

// TestStops ends a sender in a request. It waits for the response, moves the cursor, and releases the lease.
func TestStops(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSetting(t, url)
		begun, release := make(chan struct{}), make(chan struct{})
		to := newReceiver(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 0 {
				close(begun)
				<-release
			}
			return true
		})
		w := s.add(t, to)
		s.write(t, 2)
		want := s.after(t, w.Position)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		sender := s.sender(s.Background)
		sender.client.timeout = time.Hour
		go func() {
			defer close(ended)
			sender.Run(ctx)
		}()
		<-begun
		cancel()
		close(release)
		<-ended
		to.wants(t, want[:1])
		if to.requests != 1 {
			t.Errorf("there were %d requests", to.requests)
		}
		left := must(s.Webhooks.Lease(t.Context(), "another", time.Hour))(t)
		if left == nil || !strings.HasPrefix(want[0], left.Position+" ") {
			t.Errorf("left: %+v, want the position of %s", left, want[0])
		}
	})
}

// TestReset sends to an endpoint whose position is gone.
func TestReset(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSetting(t, url)
		to := newReceiver(t, nil)
		w := must(s.Webhooks.Lease(t.Context(), "me", time.Hour))(t)
		if w != nil {
			t.Fatal("there is a webhook")
		}
		s.add(t, to)
		w = must(s.Webhooks.Lease(t.Context(), "me", time.Hour))(t)
		w = must(s.Webhooks.Extend(t.Context(), w, "me", "7.7", time.Hour))(t)
		check(t, s.Webhooks.Release(t.Context(), w.ID, "me"))
		s.run(t)
		reset := <-to.accepted
		if reset.Type != "catalogue.reset" || reset.Data.Operation != "RESET" || reset.id != reset.Data.Position {
			t.Errorf("got %+v", reset)
		}
		s.write(t, 1)
		to.wants(t, s.after(t, reset.id))
	})
}

// TestDisabled sends to an endpoint that fails until it is disabled, and is enabled again.
func TestDisabled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, attempts int
		reason           string
	}{
		"gone":   {http.StatusGone, 1, "the endpoint responded with 410 Gone"},
		"failed": {http.StatusBadGateway, 51, "51 attempts failed, the last because the endpoint responded with 502 Bad Gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetting(t, catalogtest.SQLite(t))
			var mu sync.Mutex
			status := tt.status
			to := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				w.WriteHeader(status)
				return status < 300
			})
			w := s.add(t, to)
			s.write(t, 1)
			s.run(t)
			for w.Disabled == "" {
				w = must(s.Webhooks.Get(t.Context(), w.ID))(t)
			}
			if w.Disabled != tt.reason || to.requests != tt.attempts {
				t.Errorf("disabled after %d requests: %s", to.requests, w.Disabled)
			}
			mu.Lock()
			status = http.StatusOK
			mu.Unlock()
			must(s.Webhooks.Enable(t.Context(), w.ID))(t)
			to.wants(t, s.after(t, w.Position))
		})
	}
}

// TestRotated sends with two secrets, both of which sign.
func TestRotated(t *testing.T) {
	t.Parallel()
	s := newSetting(t, catalogtest.SQLite(t))
	old, secret := NewSecret(), NewSecret()
	to := newReceiver(t, nil, old, secret)
	w := s.add(t, to)
	must(s.Webhooks.Rotate(t.Context(), w.ID, old, 0))(t)
	must(s.Webhooks.Rotate(t.Context(), w.ID, secret, time.Hour))(t)
	s.write(t, 1)
	s.run(t)
	to.wants(t, s.after(t, w.Position))
}

// TestRetry has the delays after failed attempts.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	last := len(defaultTimes.delays) - 1
	for _, tt := range []struct {
		failures    int
		retryAfter  time.Duration
		least, most time.Duration
	}{
		{0, 0, 5 * time.Second, 5500 * time.Millisecond},
		{1, 0, 5 * time.Minute, 330 * time.Second},
		{0, time.Hour, time.Hour, time.Hour},
		{3, time.Second, 2 * time.Hour, 132 * time.Minute},
		{0, 1000 * time.Hour, 24 * time.Hour, 24 * time.Hour},
		{last, 0, 24 * time.Hour, 26*time.Hour + 24*time.Minute},
	} {
		delay, disabled := s.retry(&model.Webhook{Failures: tt.failures}, result{retryAfter: tt.retryAfter})
		if delay < tt.least || delay > tt.most || disabled != "" {
			t.Errorf("%+v: %v %s", tt, delay, disabled)
		}
	}
	if _, disabled := s.retry(&model.Webhook{Failures: last + 1}, result{err: io.EOF}); disabled != "10 attempts failed, the last because EOF" {
		t.Errorf("after all delays: %q", disabled)
	}
}

// TestMetrics reads the metrics of a webhook that fails, and of a disabled one.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newSetting(t, catalogtest.SQLite(t))
	to := newReceiver(t, nil)
	s.add(t, to)
	s.write(t, 1)
	w := must(s.Webhooks.Lease(t.Context(), "me", time.Hour))(t)
	sender := s.sender(s.Background)
	registry := prometheus.NewRegistry()
	registry.MustRegister(sender)
	value := func(name string) float64 {
		t.Helper()
		for _, family := range must(registry.Gather())(t) {
			if family.GetName() == name {
				m := family.GetMetric()[0]
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		t.Fatalf("there is no %s", name)
		return 0
	}
	if value("catalogue_webhook_lag_seconds") <= 0 || value("catalogue_webhook_disabled") != 0 {
		t.Error("the webhook does not lag, or is disabled")
	}
	must(s.Webhooks.Extend(t.Context(), w, "me", must(s.Webhooks.Position(t.Context()))(t), time.Hour))(t)
	if lag := value("catalogue_webhook_lag_seconds"); lag != 0 {
		t.Errorf("at the newest position it lags by %v", lag)
	}
	w = must(s.Webhooks.Get(t.Context(), w.ID))(t)
	w = must(s.Webhooks.Extend(t.Context(), w, "me", w.Position, time.Hour))(t)
	check(t, s.Webhooks.Failed(t.Context(), w, "me", "no route", 0, "gone"))
	if value("catalogue_webhook_disabled") != 1 {
		t.Error("the webhook is not disabled")
	}
	if n := value("catalogue_webhook_deliveries_total"); n != 0 {
		t.Errorf("%v deliveries", n)
	}
}

// panicking panics at the first call of each method.
type panicking struct {
	Endpoints
	Feed
	lease, changes sync.Once
}

func (p *panicking) Lease(ctx context.Context, holder string, lease time.Duration) (*model.Webhook, error) {
	p.lease.Do(func() { panic("on purpose") })
	return p.Endpoints.Lease(ctx, holder, lease)
}

func (p *panicking) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	p.changes.Do(func() { panic("on purpose") })
	return p.Feed.Changes(ctx, args)
}

// TestGoesOn lets a look for endpoints and a turn panic, and then gets all changes.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := newSetting(t, url)
		to := newReceiver(t, nil)
		w := s.add(t, to)
		s.write(t, 3)
		p := &panicking{Endpoints: s.Webhooks, Feed: s}
		sender := s.sender(s.Background)
		sender.Endpoints, sender.Feed = p, p
		ctx, cancel := context.WithCancel(task.WithReport(t.Context(), s.ReportPanic))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			sender.Run(ctx)
		}()
		to.wants(t, s.after(t, w.Position))
		cancel()
		<-ended
		if s.Panics() != 2 {
			t.Errorf("%d panics were counted, want 2", s.Panics())
		}
	})
}
