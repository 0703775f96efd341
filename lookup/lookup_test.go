package lookup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// fake responds in place of the sources of a setting. Time is that of the bubble of synctest.
type fake map[string]func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f fake) RoundTrip(r *http.Request) (*http.Response, error) { return f[r.URL.Host](r) }

const unknown = `<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><numberOfRecords>0</numberOfRecords></searchRetrieveResponse>`

func respond(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// newFake returns a Service whose sources a.example and b.example are fakes.
func newFake(t *testing.T, f fake) *Service {
	t.Helper()
	s := sourceAt(t, "https://a.example/?query={isbn}, https://b.example/?query={isbn}")
	for _, source := range s.sources {
		source.client.Transport = f
	}
	return s
}

// statuses returns the names and statuses of a look-up.
func statuses(t *testing.T, s *Service, isbn string) (text string) {
	t.Helper()
	found, err := s.Find(t.Context(), isbn)
	if err != nil {
		return err.Error()
	}
	for _, source := range found.Sources {
		text += source.Name[:1] + " " + string(source.Status) + " "
	}
	return strings.TrimSpace(text)
}

// TestSlowSource asks the next source after 2 s, ends with a source after 5 s, and skips it after two time-outs.
func TestSlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var bAsked time.Duration
		s := newFake(t, fake{"a.example": hang, "b.example": func(*http.Request) (*http.Response, error) {
			bAsked = time.Since(start)
			return respond(200, sruOf(t, "loc", "=020  \\\\$a"+asked+"\n=245  00$aRivers\n")), nil
		}})
		for i, want := range []struct {
			statuses string
			took     time.Duration
		}{
			{"a UNREACHABLE b FOUND", 5 * time.Second}, {"a UNREACHABLE b FOUND", 5 * time.Second}, {"a SKIPPED b FOUND", 0},
		} {
			begin := time.Now()
			if got := statuses(t, s, asked); got != want.statuses || time.Since(begin) != want.took {
				t.Errorf("look-up %d: %s in %v, want %+v", i+1, got, time.Since(begin), want)
			}
		}
		if bAsked != 2*time.Second {
			t.Errorf("the second source was asked after %v", bAsked)
		}
		time.Sleep(time.Minute)
		if got := statuses(t, s, asked); got != "a UNREACHABLE b FOUND" {
			t.Errorf("after the pause: %s", got)
		}
	})
}

// TestTotal ends a look-up of slow sources after 8 s. The fifth would be asked in this moment.
func TestTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sourceAt(t, "https://a.example/?query={isbn},https://b.example/?query={isbn},https://c.example/?query={isbn},https://d.example/?query={isbn},https://e.example/?query={isbn},https://f.example/?query={isbn}")
		for _, source := range s.sources {
			source.client.Transport = fake{source.name: hang}
		}
		start := time.Now()
		got := statuses(t, s, asked)
		if !strings.HasPrefix(got, "a UNREACHABLE b UNREACHABLE c UNREACHABLE d UNREACHABLE e ") || !strings.HasSuffix(got, " f SKIPPED") ||
			time.Since(start) != 8*time.Second {
			t.Errorf("%s in %v", got, time.Since(start))
		}
	})
}

// TestRetryAfter leaves a source alone as long as it asks for.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		s := newFake(t, fake{"a.example": func(*http.Request) (*http.Response, error) {
			requests++
			return respond(429, "", "Retry-After", "600"), nil
		}, "b.example": func(*http.Request) (*http.Response, error) { return respond(200, unknown), nil }})
		want := "a REFUSED b UNKNOWN"
		for _, wait := range []time.Duration{0, 599 * time.Second, time.Second} {
			time.Sleep(wait)
			if wait > time.Second {
				want = "a SKIPPED b UNKNOWN"
			} else {
				want = "a REFUSED b UNKNOWN"
			}
			if got := statuses(t, s, asked); got != want {
				t.Errorf("after %v more: %s, want %s", wait, got, want)
			}
		}
		if requests != 2 {
			t.Errorf("%d requests", requests)
		}
	})
}

// TestCache keeps a book for a day, "unknown" for an hour and failures not at all.
func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := sruOf(t, "dnb", "=020  \\\\$a"+asked+"\n=245  00$aFluss\n")
		bodies, requests := []string{"broken", unknown, book, unknown}, 0
		s := newFake(t, fake{"a.example": func(*http.Request) (*http.Response, error) {
			requests++
			return respond(200, bodies[requests-1]), nil
		}, "b.example": func(*http.Request) (*http.Response, error) { return respond(200, unknown), nil }})
		for i, want := range []struct {
			wait     time.Duration
			status   string
			requests int
		}{
			{0, "a UNREACHABLE", 1}, {0, "a UNKNOWN", 2}, {time.Hour - 1, "a UNKNOWN", 2}, {1, "a FOUND", 3},
			{24*time.Hour - 1, "a FOUND", 3}, {1, "a UNKNOWN", 4},
		} {
			time.Sleep(want.wait)
			if got := statuses(t, s, asked); !strings.HasPrefix(got, want.status) || requests != want.requests {
				t.Errorf("%d: %s after %d requests, want %+v", i, got, requests, want)
			}
		}
	})
}

// TestPlaces runs eight look-ups, refuses the ninth, and sends two requests to a source at a time.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		slow := func(*http.Request) (*http.Response, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Second)
			return respond(200, unknown), nil
		}
		s := newFake(t, fake{"a.example": slow, "b.example": slow})
		var ended []<-chan error
		for i := range 8 {
			isbn, _ := numbered(i)
			ended = append(ended, task.Go(t.Context(), func() error {
				if got := statuses(t, s, isbn); got != "a UNKNOWN b UNKNOWN" {
					return errors.New(got)
				}
				return nil
			}))
		}
		synctest.Wait()
		if _, err := s.Find(t.Context(), asked); !model.IsCode(err, model.RateLimited) || model.RetryAfter(err) != 1 {
			t.Errorf("the ninth: %v", err)
		}
		for _, done := range ended {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most.Load() != 4 {
			t.Errorf("%d requests at once to two sources", most.Load())
		}
	})
}

// TestCanceled ends a look-up with its request, and does not count that as a time-out.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, fake{"a.example": hang, "b.example": hang})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := s.Find(ctx, asked); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
		if why := s.sources[0].paused(); why != "" {
			t.Error(why)
		}
	})
}

// TestPanic survives a reader that panics.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake(t, fake{"a.example": func(*http.Request) (*http.Response, error) { return respond(200, ""), nil },
			"b.example": func(*http.Request) (*http.Response, error) { return respond(200, unknown), nil }})
		s.sources[0].read = func([]byte, string, time.Time) (*model.FoundBook, error) { panic("on purpose") }
		panics := 0
		ctx := task.WithReport(t.Context(), func(context.Context, *task.PanicError) { panics++ })
		found, err := s.Find(ctx, asked)
		must(t, err)
		if panics != 1 || found.Sources[0].Status != model.LookupUnreachable || found.Sources[1].Status != model.LookupUnknown {
			t.Errorf("%d panics, %+v, %+v", panics, found.Sources[0], found.Sources[1])
		}
	})
}

// TestOrder asks the sources of the number's country first.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := sourceAt(t, "openlibrary,loc,k10plus,dnb")
	for isbn, want := range map[string]string{
		"9783161484100": "k10plus dnb openlibrary loc", "9780306406157": "loc openlibrary k10plus dnb",
		"9788804668237": "openlibrary loc k10plus dnb", "9798602405453": "loc openlibrary k10plus dnb",
	} {
		var names []string
		for _, source := range s.orderFor(isbn) {
			names = append(names, source.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", isbn, got, want)
		}
	}
	if !slices.Equal(Presets(), []string{"dnb", "k10plus", "loc", "openlibrary"}) {
		t.Error(Presets())
	}
}

// TestPresetAddresses shows the request to each preset.
func TestPresetAddresses(t *testing.T) {
	t.Parallel()
	s := sourceAt(t, strings.Join(Presets(), ","))
	for i, want := range []string{
		"https://services.dnb.de/sru/dnb?query=ISBN%3D" + asked + "&operation=searchRetrieve&version=1.1&maximumRecords=10&recordSchema=MARC21-xml",
		"https://sru.k10plus.de/opac-de-627?query=pica.isb%3D" + asked + "&operation=searchRetrieve&version=1.1&maximumRecords=10&recordSchema=marcxml",
		"http://lx2.loc.gov:210/LCDB?query=bath.isbn%3D" + asked + "&operation=searchRetrieve&version=1.1&maximumRecords=10&recordSchema=marcxml",
		"https://openlibrary.org/api/books?bibkeys=ISBN:" + asked + "&jscmd=details&format=json",
	} {
		got := ""
		s.sources[i].client.Transport = fake{s.sources[i].base.Host: func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return respond(404, ""), nil
		}}
		s.sources[i].ask(t.Context(), asked)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSettings refuses settings that name no source. Errors have no credentials.
func TestSettings(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"": "", " , ": "", "dnb": "", " dnb , openlibrary,": "", "http://127.0.0.1:9999/sru?query={isbn}": "",
		"https://books.example/{isbn}": "", "dnb,dnb": "given twice", "amazon": "write one of dnb, k10plus, loc, openlibrary",
		"https://books.example/sru": "write {isbn} in place", "file:///{isbn}": "an address like https://", "ftp://a.example/{isbn}": "an address like https://",
		"https://me:secret@books.example/{isbn}": "source 1: remove the user", "https://books.example/{isbn}#a": "remove the user or the fragment",
		"https://a.example:65535/{isbn}": "", "https://a.example:65536/{isbn}": "the port must be from 1 to 65535", "https://a.example:0/{isbn}": "the port must be",
		"https:///{isbn}": "an address like", "https://{isbn}/": "an address like", "https://a.example/?a={isbn},https://A.example/?b={isbn}": "given twice",
	} {
		_, err := New(setting, "")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", setting, err, want)
		}
		if strings.Contains(fmt.Sprint(err), "secret") {
			t.Error(err)
		}
	}
	if s, err := New("", ""); s != nil || err != nil {
		t.Error("look-ups without sources are on")
	}
}

// TestFindRefuses refuses what is no ISBN.
func TestFindRefuses(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"", "9783161484101", "1234-5679", "a book"} {
		if _, err := sourceAt(t, "dnb").Find(t.Context(), number); !model.IsCode(err, model.BadUserInput) || !strings.Contains(err.Error(), "The isbn field must be a valid ISBN.") {
			t.Errorf("%q: %v", number, err)
		}
	}
}
