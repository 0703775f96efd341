package imports_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// sources have one book. A look-up of another ISBN lasts until its end, if it is held.
type sources struct {
	began chan string
	held  bool
}

func (s *sources) Find(ctx context.Context, isbn string) (*model.Lookup, error) {
	s.began <- isbn
	if isbn == "9783161484100" {
		form := model.Form{"name": model.Text("Rivers"), "author": model.Text("Ann One"), "pages": model.Text("304"),
			"published_at": model.Text("1998-01-01"), "genre": model.Text("Waters"), "publisher": model.Text("North Press")}
		return &model.Lookup{ISBN: isbn, Books: []*model.FoundBook{{Source: "dnb", Form: form}}}, nil
	}
	if s.held {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	slow := "The source was too slow."
	return &model.Lookup{ISBN: isbn, Sources: []*model.LookupSource{{Name: "loc", Status: model.LookupUnreachable, Message: &slow}}}, nil
}

// serveLookups serves a catalogue with sources.
func serveLookups(t *testing.T, url string, s *sources) *servertest.Client {
	t.Helper()
	c := servertest.Serve(t, url, func(r *resolvers.Resolver) server.Catalogue {
		r.Sources = s
		return r
	})
	c.Reconfigure(t, server.Config{Lookup: true})
	return c
}

const isbnList = "9783161484100\n9780306406157\n9788804668237\n"

// rejectsOf returns the rejects of an import.
func rejectsOf(t *testing.T, c *servertest.Client, i imported) string {
	t.Helper()
	w := c.Do(http.MethodGet, i.Rejects.URL, "")
	if w.Code != http.StatusOK {
		t.Fatalf("rejects: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestLookupsOfAList completes a list, whose rejects are then imported. A stored book is not looked up, and does not
// change.
func TestLookupsOfAList(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := &sources{began: make(chan string, 10)}
		c := serveLookups(t, url, s)
		if i := sendFile(t, c, "dry_run=true", isbnList); i.Status != "question" || !i.Lookups || i.Question.Parameter != "map" {
			t.Fatalf("before: %+v", i)
		}
		found := sendFile(t, c, "lookup=true&default=price%3D1", isbnList)
		if found.Status != "done" || found.LookedUp != 3 || len(found.FirstRows) != 3 || len(s.began) != 3 {
			t.Fatalf("look-ups: %+v", found)
		}
		first := found.FirstRows[0]
		if first.Values["name"] != "Rivers" || first.Sources["name"] != "dnb" || first.Values["isbn"] != "9783161484100" || first.Sources["isbn"] != "" || first.Values["price"] != "" {
			t.Errorf("the first row: %+v", first)
		}
		list, query := rejectsOf(t, c, found), "default=price%3D2&default=category%3DNature"
		dry := sendFile(t, c, query+"&dry_run=true", list)
		if dry.Status != "done" || dry.Counts.Created != 1 || dry.Counts.Rejected != 2 || dry.FirstRows[0].Sources["pages"] != "dnb" || dry.FirstRows[0].Values["price"] != "2" {
			t.Errorf("the check: %+v", dry)
		}
		problems := dry.Rejects.First[0].Problems
		if dry.Rejects.First[0].Place != "line 2" || problems[0].Message != "loc: The source was too slow." || problems[1].Column != "name" || problems[1].Message != "The name field is required." {
			t.Errorf("the rejects: %+v", dry.Rejects)
		}
		stored := sendFile(t, c, query, list)
		if stored.Counts.Created != 1 || len(s.began) != 3 {
			t.Errorf("the import: %+v", stored)
		}
		again := sendFile(t, c, "lookup=1", rejectsOf(t, c, stored)+"line 4,,,,,"+strings.Repeat(",", 16)+"9783161484100\n")
		if again.LookedUp != 3 || len(s.began) != 5 || again.FirstRows[2].Sources["name"] != "this catalogue" || again.FirstRows[2].Values["price"] != "2.00" {
			t.Errorf("its rejects go on: %+v", again)
		}
		if i := sendFile(t, c, query, rejectsOf(t, c, again)); i.Counts.Unchanged != 1 || i.Counts.Rejected != 2 {
			t.Errorf("at last: %+v", i)
		}
	})
}

// TestLookupsEnd ends look-ups. The list has what was found, and says which rows were not looked up.
func TestLookupsEnd(t *testing.T) {
	t.Parallel()
	s := &sources{began: make(chan string, 10), held: true}
	c := serveLookups(t, catalogtest.SQLite(t), s)
	i := readImport(t, c.Do(http.MethodPost, "/api/imports?lookup=true", isbnList+"9791090636071\n"), http.StatusAccepted)
	for range 3 { // the first has ended, and two are under way
		<-s.began
	}
	c.Do(http.MethodDelete, "/api/imports/"+i.ID, "")
	i = ended(t, c, i.ID)
	rows := strings.Split(rejectsOf(t, c, i), "\n")
	if i.Status != "done" || len(s.began) != 0 || !strings.Contains(rows[1], ",name: dnb; ") {
		t.Errorf("%+v %q", i, rows)
	}
	for _, row := range rows[2:5] {
		if !strings.Contains(row, ",The look-ups ended before this row.,") {
			t.Errorf("%q", row)
		}
	}
}

// TestLookupsNotKept fails look-ups whose temporary file cannot be written, because a part is not the list.
func TestLookupsNotKept(t *testing.T) {
	c := serveLookups(t, catalogtest.SQLite(t), &sources{began: make(chan string, 10)})
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	i := sendFile(t, c, "lookup=true", isbnList)
	if i.Status != "failed" || i.Message != "The server could not keep all rows with what was found. "+
		"Try again later, or send the list in parts. Nothing was stored." {
		t.Errorf("%+v", i)
	}
}

// TestLookupsRefused refuses lists that look-ups cannot complete.
func TestLookupsRefused(t *testing.T) {
	t.Parallel()
	c := serveLookups(t, catalogtest.SQLite(t), &sources{began: make(chan string, 10)})
	for file, want := range map[string]string{
		"isbn\n" + strings.Repeat("9783161484100\n", 2001): "The file has more than 2000 rows: send it in parts.",
		"name,author\nA,B\n": "Look-ups need a table with a column of ISBNs: name it with the map option, isbn=COLUMN.",
	} {
		if i := sendFile(t, c, "lookup=true", file); i.Status != "refused" || i.Message != want {
			t.Errorf("%.20s: %s %s", file, i.Status, i.Message)
		}
	}
	off := servertest.Serve(t, catalogtest.SQLite(t))
	if w := off.Do(http.MethodPost, "/api/imports?lookup=true", isbnList); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Look-ups are off.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if i := sendFile(t, off, "dry_run=true", isbnList); i.Lookups {
		t.Errorf("look-ups are offered: %+v", i)
	}
}
