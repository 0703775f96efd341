package imports

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"library-catalogue/graph/model"
)

// blocking is a catalogue whose statements do not end with their context.
type blocking struct {
	catalogue
	began chan int // gets the number of rows of each batch
	write chan struct{}
}

func (c blocking) ImportBooks(_ context.Context, books []model.Form) (*model.ImportResult, error) {
	c.began <- len(books)
	<-c.write
	return &model.ImportResult{Created: len(books)}, nil
}

// TestStopDoesNotWait stops an import that does not end. The response does not wait for it, and says that the batch
// which is being stored may still count. No batch follows.
func TestStopDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, c := newImports(t)
		b := blocking{c, make(chan int, 10), make(chan struct{})}
		m.Catalogue = b
		close(c.hold)
		w := httptest.NewRecorder()
		file := strings.ReplaceAll(books(3*batchRows, 0), "2005", "1999") // the clock of the test begins in 2000
		if err := m.post(w, request("me", http.MethodPost, file), ""); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimPrefix(w.Header().Get("Location"), path+"/")
		if n := <-b.began; n != batchRows {
			t.Errorf("a batch of %d rows", n)
		}
		stop := func() (int, string) {
			w := httptest.NewRecorder()
			if err := m.delete(w, request("me", http.MethodDelete, ""), id); err != nil {
				t.Fatal(err)
			}
			return w.Code, w.Body.String()
		}
		code, body := stop()
		for _, want := range []string{`"message":"Import is stopping"`, `"status":"importing"`, `"ended_at":null`, `"created":0`, "one that is being stored now is counted at the end"} {
			if code != http.StatusAccepted || !strings.Contains(body, want) {
				t.Errorf("the answer is %d %.400s, want %s", code, body, want)
			}
		}
		close(b.write)
		c.jobs.Wait()
		code, body = stop()
		for _, want := range []string{`"message":"Import stopped"`, `"status":"stopped"`, `"created":200`, "The counted rows are stored."} {
			if code != http.StatusOK || !strings.Contains(body, want) {
				t.Errorf("at the end the answer is %d %.400s, want %s", code, body, want)
			}
		}
		if len(b.began) != 0 {
			t.Errorf("%d batches began after the stop", len(b.began))
		}
	})
}
