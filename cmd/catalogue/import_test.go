package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/importer"
)

// header and csvRow make files of as many books as wanted.
const header = "name,pages,published_at,author,price,genre,category\n"

func csvRow(n int) string {
	return fmt.Sprintf("Book %d,%d,2000-01-01,Author,1.00,Genre %d,Fiction\n", n, n+1, n%9)
}

// TestImportStopped: Ctrl-C ends an import whose input does not come, before anything
// is stored or made.
func TestImportStopped(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		t.Run(fmt.Sprintf("strict=%v", strict), func(t *testing.T) {
			url := dbtest.SQLite(t)
			ctx, stop := context.WithCancel(t.Context())
			in, feed := io.Pipe()
			t.Cleanup(func() { feed.Close() })
			go func() {
				io.WriteString(feed, header+csvRow(0))
				stop() // when all has been read
			}()
			var out, errOut strings.Builder
			err := run(ctx, []string{"import", "-", "--database-url=" + url, fmt.Sprintf("--strict=%v", strict)}, noEnv, in, &out, &errOut)
			if code := report(err, &errOut); code != 2 || errOut.String() != "catalogue: stopped: nothing was imported\n" || out.Len() > 0 {
				t.Errorf("ended with %d\n%s%s", code, &out, &errOut)
			}
			if _, err := os.Stat(strings.TrimPrefix(url, "sqlite:")); err == nil {
				t.Error("a database was made")
			}
		})
	}
}

// TestImportStoppedAmid: what an import that is stopped says it has done is what was
// kept: whole batches.
func TestImportStoppedAmid(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString(header)
	for n := range 40 * importer.BatchRows {
		file.WriteString(csvRow(n))
	}
	path := dbtest.SQLite(t)
	store, err := sql.Open("sqlite", strings.TrimPrefix(path, "sqlite:"))
	must(t, err)
	defer store.Close()
	catalogue(t, 0, header, "import", "-", "--database-url="+path) // makes the tables
	ctx, stop := context.WithCancel(t.Context())
	var out, errOut strings.Builder
	ended := make(chan int)
	go func() {
		ended <- report(run(ctx, []string{"import", "-", "--database-url=" + path}, noEnv, strings.NewReader(file.String()), &out, &errOut), &errOut)
	}()
	for kept := 0; kept == 0; {
		must(t, store.QueryRow(`SELECT count(*) FROM books`).Scan(&kept))
	}
	stop()
	code, said := <-ended, 0
	if _, err := fmt.Sscanf(out.String(), "%d rows:", &said); err != nil {
		t.Errorf("standard output: %s", &out)
	}
	kept := strings.Count(catalogue(t, 0, "", "export", "--database-url="+path), "\n") - 1
	if code != 2 || !strings.Contains(errOut.String(), "catalogue: stopped: ") || kept != said || kept%importer.BatchRows != 0 {
		t.Errorf("ended with %d: %d books were kept, it said %d\n%s", code, kept, said, &errOut)
	}
}

// TestImportOfManyBatches: a bad row far behind takes what came before it with
// it only with --strict.
func TestImportOfManyBatches(t *testing.T) {
	t.Parallel()
	const rows = 3*importer.BatchRows + 7
	var file strings.Builder
	file.WriteString(header)
	for n := range rows {
		file.WriteString(csvRow(n))
	}
	file.WriteString("Bad,0,2000-01-01,Author,1.00,Genre,Fiction\n")
	dbtest.Each(t, func(t *testing.T, url string) {
		url = "--database-url=" + url
		path := filepath.Join(t.TempDir(), "books.csv")
		must(t, os.WriteFile(path, []byte(file.String()), 0o600))
		catalogue(t, 1, "", "import", "--strict", path, url)
		if kept := catalogue(t, 0, "", "export", url); strings.Count(kept, "\n") != 1 {
			t.Errorf("kept: %s", kept)
		}
		for _, want := range []string{
			fmt.Sprintf("%d rows: %d created, 0 updated, 0 unchanged, 1 rejected", rows+1, rows),
			fmt.Sprintf("%d rows: 0 created, 0 updated, %d unchanged, 1 rejected", rows+1, rows),
		} {
			if got := catalogue(t, 1, "", "import", path, url); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, not %s", got, want)
			}
		}
		exported := catalogue(t, 0, "", "export", "--format=jsonl", url)
		for n, line := range strings.Split(strings.TrimSpace(exported), "\n") {
			if want := fmt.Sprintf(`{"name":"Book %d","description":null,"pages":%d,`, n, n+1); !strings.HasPrefix(line, want) {
				t.Fatalf("row %d: %s", n, line)
			}
		}
	})
}

// TestStrictImportIsRunAgain: where PostgreSQL gives the transaction up for
// another's sake, the file is read again from its start, and so is a pipe.
func TestStrictImportIsRunAgain(t *testing.T) {
	t.Parallel()
	const rows = importer.BatchRows + 1
	before, after := header, header
	for n := range rows {
		before += csvRow(n)
		after += strings.Replace(csvRow(n), "1.00", "2.00", 1)
	}
	path := filepath.Join(t.TempDir(), "books.csv")
	must(t, os.WriteFile(path, []byte(after), 0o600))
	for _, file := range []string{path, "-"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			url := dbtest.Postgres(t)
			catalogue(t, 0, before, "import", "-", "--database-url="+url)
			pool, err := sql.Open("postgres", url)
			must(t, err)
			defer pool.Close()

			// The other holds the last book. It never looks for a deadlock, so that
			// the import, which holds the first one and waits, is the one that does.
			other, err := pool.Begin()
			must(t, err)
			defer other.Rollback()
			hold := func(name string) {
				t.Helper()
				if _, err := other.Exec(`SELECT id FROM books WHERE name = $1 FOR UPDATE`, name); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := other.Exec(`SET deadlock_timeout = '1h'`); err != nil {
				t.Fatal(err)
			}
			hold(fmt.Sprintf("Book %d", rows-1))
			var out, errOut strings.Builder
			ended := make(chan int)
			go func() {
				args := []string{"import", "--strict", file, "--format=csv", "--database-url=" + url}
				ended <- report(run(t.Context(), args, noEnv, strings.NewReader(after), &out, &errOut), &errOut)
			}()
			for waiting := false; !waiting; {
				must(t, pool.QueryRow(`SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting))
			}
			hold("Book 0") // comes back when the import has been given up
			must(t, other.Rollback())
			want := fmt.Sprintf("%d rows: 0 created, %[1]d updated, 0 unchanged, 0 rejected", rows)
			if code := <-ended; code != 0 || !strings.HasPrefix(out.String(), want) {
				t.Errorf("ended with %d\n%s%s", code, &out, &errOut)
			}
			exported := catalogue(t, 0, "", "export", "--database-url="+url)
			if kept := strings.Count(exported, ",2.00,"); kept != rows {
				t.Errorf("%d books cost 2.00", kept)
			}
		})
	}
}

// TestStrictImportInDoubt cuts the connection between COMMIT and its answer: all is stored,
// and the import does not say that nothing is.
func TestStrictImportInDoubt(t *testing.T) {
	t.Parallel()
	direct := dbtest.Postgres(t)
	catalogue(t, 0, header, "import", "-", "--database-url="+direct) // makes the tables
	address, err := url.Parse(direct)
	must(t, err)
	query := address.Query()
	socket := filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	query.Set("host", host)
	query.Set("port", port)
	address.RawQuery = query.Encode()
	stored := atomic.Bool{} // a row has been sent
	pass := func(client net.Conn) {
		defer client.Close()
		database, err := net.Dial("unix", socket)
		if err != nil {
			t.Error(err)
			return
		}
		defer database.Close()
		committed := atomic.Bool{}
		go func() {
			buffer := make([]byte, 64<<10)
			for {
				n, err := client.Read(buffer)
				stored.Store(stored.Load() || bytes.Contains(buffer[:n], []byte("Book 0")))
				if stored.Load() && bytes.Contains(buffer[:n], []byte("COMMIT")) {
					committed.Store(true)
				}
				if _, failed := database.Write(buffer[:n]); err != nil || failed != nil {
					return
				}
			}
		}()
		buffer := make([]byte, 64<<10)
		for {
			n, err := database.Read(buffer)
			if err != nil || committed.Load() {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(client)
		}
	}()
	var out, errOut strings.Builder
	args := []string{"import", "--strict", "-", "--database-url=" + address.String()}
	code := report(run(t.Context(), args, noEnv, strings.NewReader(header+csvRow(0)), &out, &errOut), &errOut)
	if code != 2 || !strings.Contains(errOut.String(), "all rows are stored or none; import the file again: the outcome of a statement is unknown") {
		t.Errorf("ended with %d\n%s%s", code, &out, &errOut)
	}
	if kept := catalogue(t, 0, "", "export", "--database-url="+direct); !strings.Contains(kept, "Book 0,") {
		t.Errorf("kept: %s", kept)
	}
}

// TestImportOfBrokenInput: of a file that cannot be read to its end nothing is stored.
func TestImportOfBrokenInput(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(header+csvRow(0)), errReader{errors.New("the disk is gone")})
	var out, errOut strings.Builder
	code := report(run(t.Context(), []string{"import", "-", "--database-url=" + dbtest.SQLite(t)}, noEnv, in, &out, &errOut), &errOut)
	if code != 2 || out.Len() > 0 || errOut.String() != "catalogue: the disk is gone: nothing was imported\n" {
		t.Errorf("ended with %d\n%s%s", code, &out, &errOut)
	}
}

// errReader fails with err.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// TestRejectsIntoTheImportedFile: the file that is imported is not emptied to
// take its bad rows, under whatever name it is given.
func TestRejectsIntoTheImportedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "good.csv")
	file := header + csvRow(0) + "Bad,0,2000-01-01,Author,1.00,Genre,Fiction\n"
	must(t, os.WriteFile(path, []byte(file), 0o600))
	link := filepath.Join(folder, "link.csv")
	must(t, os.Symlink("good.csv", link))
	stdin, err := os.Open(path)
	must(t, err)
	defer stdin.Close()
	for _, test := range []struct{ file, rejects string }{
		{path, path}, {path, folder + "/./good.csv"}, {path, link}, {link, path}, {"-", path},
	} {
		var out strings.Builder
		err := run(t.Context(), []string{"import", test.file, "--rejects=" + test.rejects, "--database-url=" + dbtest.SQLite(t)}, noEnv, stdin, &out, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "is the file to import: choose another name") {
			t.Errorf("import %s --rejects %s: %v\n%s", test.file, test.rejects, err, &out)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != file {
			t.Fatalf("import %s --rejects %s: the file holds %q, %v", test.file, test.rejects, text, err)
		}
	}
}

// TestImportKeepsUnreadable keeps the stored value of an optional field whose cell cannot be read, or that has no cell.
// An empty cell clears it.
func TestImportKeepsUnreadable(t *testing.T) {
	t.Parallel()
	const known, values = "name,pages,published_at,author,price,genre,category", "A,10,2000-01-01,X Y,1.00,G,C"
	const all = ",description,isbn,publisher,language,shelf_mark"
	for name, test := range map[string]struct{ columns, cells, cleared string }{
		"rounded":                 {",isbn", ",9.78379E+12", ""},
		"rounded with a comma":    {",isbn", `,"9,78379E+12"`, ""},
		"a wrong check digit":     {",isbn", ",9780192553356", ""},
		"a mark of no value":      {",isbn,language", ",N/A,-", ""},
		"Goodreads' empty ISBN":   {",ISBN,ISBN13", `,"=""""","="""""`, ""},
		"one readable of two":     {",ISBN,ISBN13", `,9.78019E+12,9780192553355`, ""},
		"a misspelt language":     {",language", ",deutchs", ""},
		"errors of formulas":      {all, ",#REF!,#N/A,#VALUE!,#NAME?,#NUM!", ""},
		"no columns":              {"", "", ""},
		"empty cells":             {all, ",,,,,", "description isbn publisher language shelf_mark"},
		"spaces":                  {all, ", ,\u00a0,  , , ", "description isbn publisher language shelf_mark"},
		"an empty cell":           {",isbn,language", ",,de", "isbn"},
		"one of two columns":      {",ISBN,ISBN13", ",,9780192553355", ""},
		"missing cells at an end": {",language,isbn", ",de", "isbn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := "--database-url=" + dbtest.SQLite(t)
			catalogue(t, 0, known+all+"\n"+values+",D,9780192553355,P,de,QA 1\n", "import", "-", url)
			catalogue(t, 0, strings.Replace(known, "name", "Title", 1)+test.columns+"\n"+values+test.cells+"\n", "import", "-", url)
			got := catalogue(t, 0, "", "export", "--format=jsonl", url)
			for field, stored := range map[string]string{"description": "D", "isbn": "9780192553355", "publisher": "P", "language": "de", "shelf_mark": "QA 1"} {
				want := fmt.Sprintf("%q:%q", field, stored)
				if strings.Contains(test.cleared, field) {
					want = fmt.Sprintf("%q:null", field)
				}
				if !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
}

// TestImportKeepsAbsentKeys keeps values of fields that an object of JSON does not have, and clears those that are null or empty.
func TestImportKeepsAbsentKeys(t *testing.T) {
	t.Parallel()
	url := "--database-url=" + dbtest.SQLite(t)
	const book = `{"name":"A","pages":10,"published_at":"2000-01-01","author":"X Y","price":1,"genre":"G","category":"C"`
	catalogue(t, 0, book+`,"description":"D","isbn":"9780192553355","publisher":"P","language":"de"}`, "import", "-", url)
	catalogue(t, 0, book+`,"isbn":null,"publisher":" ","language":"zz-zz-zz"}`+"\n"+`{"name":"B","description":"",`+book[len(`{"name":"A",`):]+"}", "import", "-", url)
	got := catalogue(t, 0, "", "export", "--format=jsonl", url)
	if want := `"category":"C","isbn":null,"publisher":null,"language":"de",`; !strings.Contains(got, want) || !strings.Contains(got, `"description":"D"`) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestImportMatchesUnreadable reads a row whose ISBN cannot be read as one without an ISBN: it means the only edition, and is
// rejected beside two.
func TestImportMatchesUnreadable(t *testing.T) {
	t.Parallel()
	const rows, edition, rounded = "name,pages,published_at,author,price,genre,category,isbn\n", "A,10,2000-01-01,X Y,1.00,G,C,", "A,11,2000-01-01,X Y,1.00,G,C,9.78019E+12\n"
	url := "--database-url=" + dbtest.SQLite(t)
	catalogue(t, 0, rows+edition+"9780192553355\n", "import", "-", url)
	catalogue(t, 0, rows+rounded, "import", "-", url)
	if got := catalogue(t, 0, "", "export", url); !strings.Contains(got, "A,,11,") || strings.Count(got, "A,,") != 1 {
		t.Errorf("one edition: %s", got)
	}
	catalogue(t, 0, rows+edition+"9780451450524\n", "import", "-", url)
	if got := catalogue(t, 1, rows+rounded, "import", "-", url); !strings.Contains(got, "1 row: 0 created, 0 updated, 0 unchanged, 1 rejected") {
		t.Errorf("two editions: %s", got)
	}
}
