package imports

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

// catalogue takes books and keeps none. It rejects those without pages.
type catalogue struct {
	importer.Catalogue
	jobs *sync.WaitGroup
	hold chan struct{} // imports begin when it is closed
}

func (catalogue) WithSnapshot(ctx context.Context) context.Context { return ctx }

// FindBooks finds no book.
func (catalogue) FindBooks(context.Context, string) ([]*model.FoundBook, string) {
	return nil, "Unknown."
}

func (catalogue) AnalyzeGrown(context.Context, int) error { return nil }

func (c catalogue) Background(fn func(context.Context)) bool {
	c.jobs.Go(func() {
		<-c.hold
		fn(context.Background())
	})
	return true
}

func (catalogue) ImportBooks(_ context.Context, books []model.Form) (*model.ImportResult, error) {
	result := &model.ImportResult{}
	for i, form := range books {
		if book := form.ImportBook(); book.Pages > 0 {
			result.Created++
		} else {
			result.Rejected = append(result.Rejected, model.RejectedRow{Index: i, Problems: book.Validate()})
		}
	}
	return result, nil
}

// newImports returns imports into a catalogue, and hold.
func newImports(t *testing.T) (*Imports, catalogue) {
	t.Helper()
	c := catalogue{jobs: &sync.WaitGroup{}, hold: make(chan struct{})}
	m := New(Config{Catalogue: c, Admit: func(context.Context, int64) (func(), error) { return func() {}, nil }})
	t.Cleanup(m.Close)
	return m, c
}

// books is a file of good and bad books.
func books(good, bad int) string {
	const header = "name,pages,published_at,author,price,genre\n"
	return header + strings.Repeat("A,1,2005-01-01,X,1,G\n", good) + strings.Repeat("B,0,2005-01-01,X,1,G\n", bad)
}

// request is one of a subject.
func request(subject, method, body string) *http.Request {
	r := httptest.NewRequest(method, "/api/imports", strings.NewReader(body))
	return r.WithContext(model.WithCaller(r.Context(), model.Caller{Subject: subject}))
}

// run imports a file and waits for the end.
func run(t *testing.T, m *Imports, c catalogue, body string) *job {
	t.Helper()
	if err := m.post(httptest.NewRecorder(), request("me", http.MethodPost, body), ""); err != nil {
		t.Fatal(err)
	}
	close(c.hold)
	c.jobs.Wait()
	return m.ended[0]
}

// open returns a file that is a text.
func open(t *testing.T, text string) *source.Source {
	t.Helper()
	file, err := source.Open(t.Context(), "-", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEndedImportKeepsNoFile: only the rejects stay of a file.
func TestEndedImportKeepsNoFile(t *testing.T) {
	t.Parallel()
	m, c := newImports(t)
	file := open(t, books(1, 1))
	kept := weak.Make(file)
	j := &job{subject: "me"}
	if err := j.parseQuery(nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.start(context.Background(), j, file); err != nil {
		t.Fatal(err)
	}
	file = nil
	close(c.hold)
	c.jobs.Wait()
	runtime.GC()
	if j.Status != done || j.Counts.Rejected != 1 || kept.Value() != nil {
		t.Errorf("at the end the file is %p: %+v", kept.Value(), j.view)
	}
	runtime.KeepAlive(m)
}

// TestFormats checks that imports take the same formats as the command line.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, format := range importer.Formats {
		j := &job{}
		if err := j.parseQuery(url.Values{"format": {format}}); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if want := map[string]string{"auto": "", "jsonl": "json"}; j.options.Format != format && j.options.Format != want[format] {
			t.Errorf("%s is read as %q", format, j.options.Format)
		}
	}
	j := &job{}
	const want = "The format parameter must be one of: auto, csv, json, jsonl, xlsx."
	if err := j.parseQuery(url.Values{"format": {"tsv"}}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("tsv: %v", err)
	}
}

// TestPlacesOfASubject: no more imports of a subject are under way than may be, however
// many are sent at once.
func TestPlacesOfASubject(t *testing.T) {
	t.Parallel()
	for range 300 {
		m, c := newImports(t)
		var senders sync.WaitGroup
		for range 4 {
			senders.Go(func() {
				for range 3 {
					_ = m.post(httptest.NewRecorder(), request("me", http.MethodPost, books(1, 0)), "")
				}
			})
		}
		senders.Wait()
		if n := len(m.byID); n != maxOfSubject {
			t.Errorf("%d imports are under way", n)
		}
		close(c.hold)
		c.jobs.Wait()
	}
}

// TestKeysWithoutSubject: the tokens without a subject are not all of one holder.
func TestKeysWithoutSubject(t *testing.T) {
	t.Parallel()
	m, _ := newImports(t)
	r := request("", http.MethodPost, books(1, 0))
	r.Header.Set("Idempotency-Key", "k")
	if err := m.post(httptest.NewRecorder(), r, ""); !model.IsCode(err, model.BadUserInput) || !strings.Contains(err.Error(), "sub must have 1 to 255 bytes") {
		t.Errorf("ended with %v", err)
	}
}

// forgetting is a client during whose first reading the import is forgotten.
type forgetting struct {
	*httptest.ResponseRecorder
	forget func()
}

func (w forgetting) Write(p []byte) (int, error) {
	w.forget()
	return w.ResponseRecorder.Write(p)
}

// TestForgottenRejects: rejects that are forgotten while they are sent break off.
func TestForgottenRejects(t *testing.T) {
	t.Parallel()
	m, c := newImports(t)
	j := run(t, m, c, books(0, 10_000))
	w := forgetting{httptest.NewRecorder(), sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.forget(j)
	})}
	if err := m.getRejects(w, request("me", http.MethodGet, ""), j.ID); !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("ended with %v after %d bytes", err, w.Body.Len())
	}
}

// TestNoTemporaryFiles: without a place for temporary files an import goes on without its
// rejects, a long file is refused until later, and the client is told.
func TestNoTemporaryFiles(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	m, c := newImports(t)
	err := m.post(httptest.NewRecorder(), request("me", http.MethodPost, books(250_000, 0)), "")
	if e := model.AsError(err); e.Code != model.Unavailable || e.Message != errTemporary.Message {
		t.Errorf("a long file: %v", err)
	}
	j := run(t, m, c, books(1, 1))
	if j.Status != done || j.Counts.Created != 1 || len(j.Rejects.First) != 1 || j.Rejects.URL != nil || j.Rejects.Whole {
		t.Errorf("at the end: %+v", j.view)
	}
	if err := m.getRejects(httptest.NewRecorder(), request("me", http.MethodGet, ""), j.ID); err == nil || !strings.Contains(err.Error(), "are not kept") {
		t.Errorf("its rejects: %v", err)
	}
}

// TestRejectsWithoutRoom: of rejects that cannot be written on only whole rows are there.
func TestRejectsWithoutRoom(t *testing.T) {
	t.Parallel()
	file, err := importer.Survey(t.Context(), open(t, books(1, 0)), importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := file.First(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := newRejects(file, 1<<20, slog.New(slog.DiscardHandler))
	r.add(rows[0])
	path := filepath.Join(t.TempDir(), "full")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	writable, size := r.file, r.size
	if r.file, err = os.Open(path); err != nil { // which takes no writes
		t.Fatal(err)
	}
	r.add(rows[0])
	r.file.Close()
	r.file = writable
	defer r.close()
	r.add(rows[0])
	text, err := io.ReadAll(r.content())
	if err != nil || r.whole || r.count != 3 || r.size != size || strings.Count(string(text), "\n") != 2 || !strings.HasSuffix(string(text), ",G\n") {
		t.Errorf("whole: %v, %d of %d bytes: %q, %v", r.whole, r.size, size, text, err)
	}
}

// finding is a catalogue whose look-ups last until the test ends.
type finding struct {
	catalogue
	end chan struct{}
}

func (c finding) FindBooks(context.Context, string) ([]*model.FoundBook, string) {
	<-c.end
	return nil, "Ended."
}

// TestLookupsHoldNoPlace fills all places of look-ups. Imports run beside them.
func TestLookupsHoldNoPlace(t *testing.T) {
	t.Parallel()
	m, c := newImports(t)
	f := finding{c, make(chan struct{})}
	m.Catalogue, m.Lookup = f, true
	close(c.hold)
	send := func(subject, query, file string) (*job, error) {
		r := request(subject, http.MethodPost, file)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		err := m.post(w, r, "")
		if err != nil {
			return nil, err
		}
		return m.find(subject, strings.TrimPrefix(w.Header().Get("Location"), path+"/"))
	}
	for i := range maxUnderWay {
		if _, err := send(string(rune('a'+i)), "lookup=true", "isbn\n9783161484100\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := send("other", "lookup=true", "isbn\n9783161484100\n"); !errors.Is(err, errUnderWay) {
		t.Errorf("one more: %v", err)
	}
	j, err := send("me", "", books(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if <-j.done; j.Counts.Created != 1 {
		t.Errorf("the import: %+v", j.view)
	}
	close(f.end)
	c.jobs.Wait()
}
