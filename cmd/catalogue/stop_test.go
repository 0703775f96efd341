package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// importing is what a server says of an import.
type importing struct {
	Data struct {
		ID, Status, Message string
		Counts              struct{ Created, Unchanged int }
	}
}

// sendImport sends a request for an import, with a file or none.
func sendImport(t *testing.T, token, method, url, file string, status int) (i importing) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(file))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d: %s, %v", method, url, response.StatusCode, status, body, err)
	}
	must(t, json.Unmarshal(body, &i))
	return i
}

// TestStopWhileImporting stops a server that imports a file: it logs how many books are
// stored, whole batches of them, and the same file sent to the next server does the rest.
func TestStopWhileImporting(t *testing.T) {
	t.Parallel()
	lines := []string{strings.Join(model.ImportFields, ",")}
	for n := range 20_000 { // of which the first hundreds are stored
		lines = append(lines, fmt.Sprintf("Book %d,,1,2001-02-03,An author,1.00,Genre,Category", n))
	}
	token := strings.TrimSpace(catalogue(t, 0, "", "token", testSecret))
	dbtest.Each(t, func(t *testing.T, url string) {
		args := []string{"--log-format=json", "--rate=0", "--empty", testSecret, "--database-url=" + url}
		var log bytes.Buffer
		public, _, stop := serving(t, &log, args...)
		i := sendImport(t, token, http.MethodPost, public+"/api/imports", strings.Join(lines, "\n"), http.StatusAccepted)
		path := "/api/imports/" + i.Data.ID
		for i.Data.Counts.Created == 0 {
			i = sendImport(t, token, http.MethodGet, public+path, "", http.StatusOK)
		}
		stop()
		stored := strings.Count(catalogue(t, 0, "", "export", "--database-url="+url), "\n") - 1
		said := fmt.Sprintf(`"import":%q,"created":%d,`, i.Data.ID, stored)
		if stored%200 != 0 || stored < i.Data.Counts.Created || stored == len(lines)-1 || !strings.Contains(log.String(), said) {
			t.Fatalf("%d books are stored, and the log is %s", stored, &log)
		}

		public, _, _ = serving(t, io.Discard, args...)
		sendImport(t, token, http.MethodGet, public+path, "", http.StatusNotFound)
		i = sendImport(t, token, http.MethodPost, public+"/api/imports", strings.Join(lines[:1+stored+10], "\n"), http.StatusAccepted)
		for path = "/api/imports/" + i.Data.ID; i.Data.Status != "done"; {
			i = sendImport(t, token, http.MethodGet, public+path, "", http.StatusOK)
			if i.Data.Status == "failed" || i.Data.Status == "refused" {
				t.Fatal(i.Data.Message)
			}
		}
		if c := i.Data.Counts; c.Created != 10 || c.Unchanged != stored {
			t.Errorf("sent again: %+v, want 10 created and %d unchanged", c, stored)
		}
	})
}
