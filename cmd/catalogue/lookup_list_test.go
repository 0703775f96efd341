package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// withLibrary returns an environment with the sources of a setting.
func withLibrary(setting string) []string {
	return []string{"CATALOGUE_LOOKUP=" + strings.TrimPrefix(setting, "--lookup=")}
}

// inOrder fails unless a text has the parts in their order.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("no %q in its place in\n%s", part, text)
		}
		rest = after
	}
}

// TestImportLooksUp completes a list by look-ups. Its own values count, what a record lacks is named in the rejects,
// and these go in again without further look-ups of what was found.
func TestImportLooksUp(t *testing.T) {
	t.Parallel()
	const list = "ISBN,name,price\n3-16-148410-X,,9.50\n9780306406157,\"My, lakes\",\n9788804668237,,\n,No number,1.00\n"
	dbtest.Each(t, func(t *testing.T, url string) {
		var asked atomic.Int64
		env := withLibrary(newLibrary(t, func(string) { asked.Add(1) }))
		folder := t.TempDir()
		rejects, more := filepath.Join(folder, "rejects.csv"), filepath.Join(folder, "more.csv")
		url = "--database-url=" + url
		catalogue(t, 0, "", "db", "migrate", "up", url)
		out := catalogueWith(t, env, 1, list, "import", "-", "--lookup", "--dry-run", "--default=category=Nature", url)
		inOrder(t, out, "; name: Rivers (127.0.0.1:", "; pages: 304 (127.0.0.1:", "; price: 9.50; genre: Rivers (", "; name: My, lakes; author: Bob Two (", "\n  line 4; category: Nature; isbn: 9788804668237\n", "1 created, 0 updated, 0 unchanged, 3 rejected")
		out = catalogueWith(t, env, 1, list, "import", "-", "--lookup", "--rejects="+rejects, "--default=category=Nature", url)
		if !strings.HasPrefix(out, "4 rows: 1 created, 0 updated, 0 unchanged, 3 rejected") || asked.Load() != 6 {
			t.Errorf("%d requests: %s", asked.Load(), out)
		}
		text, err := os.ReadFile(rejects)
		must(t, err)
		inOrder(t, string(text), "line 3,The Pages field is required. The Published field is required. The Price field is required. The Genre field is required.,", "author: 127.0.0.1:", "Bob Two", "9780306406157,\"My, lakes\",",
			"line 4,No source has the book. The Name field is required. The Pages field is required.", "line 5,The row has no valid ISBN. The Pages field is required.")
		out = catalogueWith(t, env, 1, "", "import", rejects, "--lookup", "--rejects="+more, "--default=category=Nature;pages=7;price=2;genre=Lakes;published_at=1990-01-01", url)
		if !strings.HasPrefix(out, "3 rows: 1 created, 0 updated, 0 unchanged, 2 rejected") || asked.Load() != 7 {
			t.Errorf("%d requests: %s", asked.Load(), out)
		}
		text, err = os.ReadFile(more)
		must(t, err)
		inOrder(t, string(text), "Row,Problem", "How to fix it,Looked up in,", "in the series,ISBN,name,price\n", "line 4,No source has the book. The Name field is required.", "line 5,")
		inOrder(t, catalogue(t, 0, "", "export", url), "Rivers,,304,1998-01-01,Ann One,9.50,Rivers,Nature,9783161484100,North Press", "\"My, lakes\",,7,1990-01-01,Bob Two,2.00,Lakes,Nature,9780306406157")
		out = catalogueWith(t, env, 1, "9783161484100\n9780306406157\nx\n", "import", "-", "--lookup", url)
		if !strings.HasPrefix(out, "3 rows: 0 created, 0 updated, 2 unchanged, 1 rejected") || asked.Load() != 7 {
			t.Errorf("the catalogue has two: %d requests: %s", asked.Load(), out)
		}
	})
}

// TestLookupsOverwriteNothing compares each field of stored books before and after look-ups of their ISBNs, in all ways
// that store something.
func TestLookupsOverwriteNothing(t *testing.T) {
	t.Parallel()
	const stored = "name,description,pages,published_at,author,price,genre,category,isbn,publisher,language,shelf_mark,subtitle,series,series_number\n" +
		"Hills,Mine,7,1990-01-01,Di Four,1.00,Novels,Fiction,,Mine,fr,M 1,mine,Mine,1\n" + // a list means it by name and author
		"My seas,Mine,8,1991-01-01,Me,2.00,Novels,Fiction,9783550081507,Mine,fr,M 2,mine,Mine,3\n"
	dbtest.Each(t, func(t *testing.T, url string) {
		setting := newLibrary(t)
		env := withLibrary(setting)
		url = "--database-url=" + url
		catalogue(t, 0, stored, "import", "-", url)
		const defaults = "--default=pages=1;published_at=2000-01-01;price=0;genre=Unsorted;category=Unsorted"
		catalogueWith(t, env, 0, "isbn,publisher,shelf_mark\n9783550081507,,\n9788806219451,,\n", "import", "-", "--lookup", defaults, url)
		catalogue(t, 0, "", "lookup", setting, "--add", defaults, "9783550081507", "9788806219451", url)
		catalogue(t, 0, "", "lookup", setting, "--fill=description,publisher,language,subtitle,series,series_number", "--yes", url)
		read := func(text string) [][]string {
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			must(t, err)
			return rows
		}
		before, after := read(stored), read(catalogue(t, 0, "", "export", url))
		if len(after) != len(before) {
			t.Fatalf("%q", after)
		}
		for i, row := range before {
			for n, field := range model.ImportFields {
				if row[n] != "" && after[i][n] != row[n] {
					t.Errorf("%s of %s was %s and is %s", field, row[0], row[n], after[i][n])
				}
			}
		}
		if after[1][slices.Index(model.ImportFields, "isbn")] != "9788806219451" {
			t.Errorf("the list does not mean the stored book: %q", after[1])
		}
	})
}

// TestImportLookupsEnd ends the look-ups. What was found is imported, and the rejects have the other rows, whose
// look-ups go on.
func TestImportLookupsEnd(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	env := withLibrary(newLibrary(t, func(isbn string) {
		switch isbn {
		case "9783550081507":
			stop()
		case "9791090636071":
			<-ctx.Done()
		}
	}))
	folder := t.TempDir()
	rejects, url := filepath.Join(folder, "rejects.csv"), "--database-url="+dbtest.SQLite(t)
	list := "isbn\n" + strings.Repeat("9783161484100\n", 20) + "9783550081507\n9791090636071\n"
	flags := []string{"--lookup", "--default=price=1;category=Nature;genre=Novels", url}
	var out, errOut strings.Builder
	err := run(ctx, append([]string{"import", "-", "--rejects=" + rejects}, flags...), env, strings.NewReader(list), &out, &errOut)
	if code := report(err, &errOut); code != 1 || !strings.HasPrefix(out.String(), "22 rows: 1 created, ") {
		t.Errorf("ended with %d: %s%s", code, &out, &errOut)
	}
	text, err := os.ReadFile(rejects)
	must(t, err)
	inOrder(t, string(text), "line 22,The look-ups ended before this row. The Name field is required.", "9783550081507\n", "line 23,The look-ups ended before this row.", "9791090636071\n")
	if got := catalogueWith(t, env, 0, "", append([]string{"import", rejects}, flags...)...); !strings.Contains(got, "rows: 2 created, ") {
		t.Error(got)
	}
}

// TestImportLookupsRejects refuses a file for rejects before it looks anything up.
func TestImportLookupsRejects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old, list := filepath.Join(folder, "old.csv"), filepath.Join(folder, "list.txt")
	for _, path := range []string{old, list} {
		must(t, os.WriteFile(path, []byte("9783161484100\n"), 0o600))
	}
	env := withLibrary(newLibrary(t, func(isbn string) { t.Errorf("%s was looked up", isbn) }))
	for path, want := range map[string]string{
		old: "exists: choose another name", list: "is the file to import", filepath.Join(folder, "none", "a.csv"): "no such file or directory",
	} {
		var out, errOut strings.Builder
		err := run(t.Context(), []string{"import", list, "--lookup", "--rejects", path, "--database-url=" + dbtest.SQLite(t)}, env, strings.NewReader(""), &out, &errOut)
		if code := report(err, &errOut); code != 2 || !strings.Contains(errOut.String(), want) {
			t.Errorf("ended with %d, without %q: %s%s", code, want, &out, &errOut)
		}
	}
}

// TestImportLooksUpTables refuses files that look-ups cannot complete, and says how look-ups are turned on.
func TestImportLooksUpTables(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		env  []string
		file string
	}{
		"look-ups are off: set CATALOGUE_LOOKUP to sources":                                  {noEnv, "9783161484100\n"},
		"name it with the map option, isbn=COLUMN: nothing was imported":                     {[]string{"CATALOGUE_LOOKUP=dnb"}, "name,author\nA,B\n"},
		"look-ups need a table with a column of ISBNs: name":                                 {[]string{"CATALOGUE_LOOKUP=dnb"}, `{"isbn":"9783161484100"}`},
		"the column published_at can be read in two ways, as 3/4/2005 (line 2); use --dates": {[]string{"CATALOGUE_LOOKUP=dnb"}, "isbn,published_at\n9783161484100,3/4/2005\n"},
	} {
		var out, errOut strings.Builder
		err := run(t.Context(), []string{"import", "-", "--lookup", "--database-url=" + dbtest.SQLite(t)}, test.env, strings.NewReader(test.file), &out, &errOut)
		want, _, _ = strings.Cut(want, "; use")
		if code := report(err, &errOut); code != 2 || !strings.Contains(errOut.String(), want) {
			t.Errorf("ended with %d, without %q: %s%s", code, want, &out, &errOut)
		}
	}
}

// answer is standard input that does something before the answer is read.
type answer struct {
	before func()
	text   *strings.Reader
}

func (a answer) Read(p []byte) (int, error) {
	a.before()
	return a.text.Read(p)
}

// TestLookupFills completes stored books, after a preview and a question. A book that changes before the answer stays
// as it is.
func TestLookupFills(t *testing.T) {
	t.Parallel()
	const header = "name,author,pages,published_at,price,genre,category,isbn,publisher\n"
	const seas, rivers = "Seas,Cy Three,7,2000-01-01,1.00,Novels,Fiction,9783550081507,", "Rivers,Me,7,2000-01-01,1.00,Novels,Fiction,9783161484100,"
	dbtest.Each(t, func(t *testing.T, url string) {
		setting := newLibrary(t)
		url = "--database-url=" + url
		catalogue(t, 0, header+seas+"\n"+rivers+"\n"+"Unknown,Me,7,2000-01-01,1.00,Novels,Fiction,9788804668237,\nNone,Me,7,2000-01-01,1.00,Novels,Fiction,,\n", "import", "-", url)
		fill := func(code int, in answer, args ...string) (string, string) {
			t.Helper()
			var out, errOut strings.Builder
			err := run(t.Context(), append([]string{"lookup", setting, url}, args...), noEnv, in, &out, &errOut)
			if got := report(err, &errOut); got != code {
				t.Fatalf("%q ended with %d, not %d: %s%s", args, got, code, &out, &errOut)
			}
			return out.String(), errOut.String()
		}
		no := answer{func() {}, strings.NewReader("")}
		out, said := fill(2, no, "--fill=series_number,series,publisher,subtitle,language")
		inOrder(t, out, "ID  NAME    FIELD          VALUE        SOURCE\n", "1   Seas    publisher      South Press  127.0.0.1:", "1   Seas    language       de", "1   Seas    subtitle       a tale", "1   Seas    series         Waters", "1   Seas    series_number  2", "2   Rivers  publisher      North Press")
		inOrder(t, said, "9788804668237: No source has the book.\n", "Store these 6 values? [y/N] catalogue: nothing was stored: answer y, or give --yes")
		if got := catalogue(t, 0, "", "export", url); strings.Contains(got, "Press") {
			t.Errorf("stored without an answer:\n%s", got)
		}
		changing := answer{func() { catalogue(t, 0, header+seas+"Mine\n", "import", "-", url) }, strings.NewReader("y\n")}
		_, said = fill(1, changing, "--fill=publisher,language")
		inOrder(t, said, "Book 1 Seas has changed since it was read, and was not completed.", "1 books completed")
		got := catalogue(t, 0, "", "export", url)
		inOrder(t, got, "9783550081507,Mine,,", "9783161484100,North Press,")
		out, _ = fill(0, no, "--fill=publisher,language", "--yes", "--json", "978-3-550-08150-7")
		var found []map[string]any
		must(t, json.Unmarshal([]byte(out), &found))
		if len(found) != 1 || found[0]["field"] != "language" || found[0]["value"] != "de" || found[0]["id"] != float64(1) {
			t.Errorf("%s", out)
		}
		inOrder(t, catalogue(t, 0, "", "export", url), "9783550081507,Mine,de,")
	})
}
