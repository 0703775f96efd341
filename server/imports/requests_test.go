package imports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// imported is what a client is told of an import.
type imported struct {
	CreatedAt           time.Time `json:"created_at"`
	ID, Status, Message string
	Rows                int
	Counts              struct{ Created, Updated, Unchanged, Rejected, Skipped int }
	Columns             []struct {
		Field, Column string
		EmptyRows     int `json:"empty_rows"`
	}
	Unused []string
	Sheets struct {
		Read    []string
		LeftOut []string `json:"left_out"`
	}
	FirstRows []struct{ Values, Sources map[string]string } `json:"first_rows"`
	Lookups   bool
	LookedUp  int `json:"looked_up"`
	Rejects   struct {
		First []struct {
			Row      int
			Place    string
			Problems []struct{ Column, Value, Message string }
		}
		URL string
	}
	Question *struct {
		Parameter, Text  string
		Examples, Fields []string
		Answers          []struct{ Parameter, Value, Meaning, Label string }
		Candidates       []struct {
			Field, Column string
			First         []string
		}
	}
}

func readImport(t *testing.T, w *httptest.ResponseRecorder, status int) (i imported) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	envelope := struct{ Data *imported }{&i}
	servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &envelope))
	return i
}

// sendFile sends a file and waits for the end of its import.
func sendFile(t *testing.T, c *servertest.Client, query, file string) imported {
	t.Helper()
	w := c.Do(http.MethodPost, "/api/imports?"+query, file, "Content-Type: text/csv")
	i := readImport(t, w, http.StatusAccepted)
	if want := "/api/imports/" + i.ID; w.Header().Get("Location") != want {
		t.Errorf("Location: %s, want %s", w.Header().Get("Location"), want)
	}
	return ended(t, c, i.ID)
}

// ended waits for the end of an import.
func ended(t *testing.T, c *servertest.Client, id string) imported {
	t.Helper()
	for {
		i := readImport(t, c.Do(http.MethodGet, "/api/imports/"+id, ""), http.StatusOK)
		switch i.Status {
		case "waiting", "reading", "looking_up", "importing":
		default:
			return i
		}
		servertest.Must(t, t.Context().Err())
	}
}

const importHeader = "Title;num_pages;publication date;authors;price;genre;category\n"

// TestImports sends a file: a dry run tells what the import then does, and its rejects
// can be mended and sent.
func TestImports(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		var file strings.Builder
		file.WriteString(importHeader)
		for n := range 450 { // several batches
			fmt.Fprintf(&file, "Book %d;%d;31-Jul-14;X;1,50;Genre;Category\n", n, n)
		}
		dry := sendFile(t, c, "dry_run=true&file_name=b.csv", file.String())
		for _, i := range []imported{dry, sendFile(t, c, "", file.String())} {
			if i.Status != "done" || i.Rows != 450 || i.Counts.Created != 449 || i.Counts.Rejected != 1 {
				t.Errorf("got %+v", i)
			}
			if len(i.FirstRows) != 5 || i.FirstRows[0].Values["published_at"] != "2014-07-31" || i.Columns[0].Column != "Title" {
				t.Errorf("the rows are read as %+v, of the columns %+v", i.FirstRows, i.Columns)
			}
			if p := i.Rejects.First[0]; p.Row != 1 || p.Problems[0].Column != "num_pages" || p.Problems[0].Value != "0" {
				t.Errorf("the reject is %+v", p)
			}
		}
		if got := c.Get(t, `{ books { totalCount } }`, ""); got != `{"books":{"totalCount":449}}` {
			t.Errorf("stored: %s", got)
		}
		w := c.Do(http.MethodGet, dry.Rejects.URL, "")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Fatalf("rejects: status %d: %s", w.Code, w.Body)
		}
		mended := strings.Replace(w.Body.String(), "Book 0,0,", "Book 0,9,", 1)
		if i := sendFile(t, c, "", mended); i.Counts.Created != 1 || i.Counts.Rejected != 0 {
			t.Errorf("mended rejects: %+v\n%s", i, mended)
		}
		if w := c.Do(http.MethodGet, "/api/imports/"+sendFile(t, c, "", file.String()).ID+"/rejects", "", "Authorization:"); w.Code != http.StatusUnauthorized {
			t.Errorf("rejects without a token: status %d", w.Code)
		}
	})
}

// TestImportChanges: a dry run shows the first 100 books that the import would change, with old and new values, and how
// many of the new books have the name of a stored one.
func TestImportChanges(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	file := func(pages string, more ...string) string {
		var b strings.Builder
		b.WriteString("name,author,pages,published_at,price,genre,category,publisher\n")
		for n := range 120 {
			fmt.Fprintf(&b, "Book %d,X,%s,2000-01-01,1,G,C,\n", n, pages)
		}
		return b.String() + strings.Join(more, "")
	}
	sendFile(t, c, "", file("10"))
	changed := file("12", "Book 7,Somebody Else,1,2000-01-01,1,G,C,River\n", "Other,Y,1,2000-01-01,1,G,C,Lake\n")
	type change struct {
		Place, Name string
		ID          int
		Fields      []struct{ Field, Old, New *string }
	}
	read := func(query, file string) (counts map[string]int, changes []change) {
		var answer struct {
			Data struct {
				Counts  map[string]int
				Changes []change
			}
		}
		w := c.Do(http.MethodGet, "/api/imports/"+sendFile(t, c, query, file).ID, "")
		servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &answer))
		return answer.Data.Counts, answer.Data.Changes
	}
	counts, changes := read("dry_run=true", changed)
	if counts["created"] != 2 || counts["namesakes"] != 1 || counts["updated"] != 120 || len(changes) != 100 {
		t.Fatalf("got %v and %d changes", counts, len(changes))
	}
	want := change{"line 2", "Book 0", 1, []struct{ Field, Old, New *string }{{new("pages"), new("10"), new("12")}}}
	if diff := cmp.Diff(want, changes[0]); diff != "" {
		t.Error(diff)
	}
	if counts, changes := read("", changed); counts["updated"] != 120 || len(changes) != 0 {
		t.Errorf("an import: %v and %d changes", counts, len(changes))
	}
	filled := strings.Replace(changed, "Book 1,X,12,2000-01-01,1,G,C,", "Book 1,X,12,2000-01-01,1,G,C,Sea", 1)
	if _, changes := read("dry_run=true", filled); len(changes) != 1 || changes[0].Fields[0].Old != nil || *changes[0].Fields[0].New != "Sea" {
		t.Errorf("a filled field: %+v", changes)
	}
}

// TestImportOutcomes: what a file leaves open is asked, with the parameter that answers
// it, and what cannot be imported is said.
func TestImportOutcomes(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	row := func(name, pages, day string) string { return name + ";" + pages + ";" + day + ";X;1;Genre;Category\n" }
	either := importHeader + row("A", "1", "3/4/2005")
	twice := importHeader + row("A", "1", "2005-01-01") + row("A", "2", "2005-01-01")
	for _, test := range []struct{ query, file, status, message, question string }{
		{"", either, "question", "can be read in two ways", "dates mdy dmy"},
		{"dates=dmy", either, "done", "The file is imported.", ""},
		{"", twice, "question", "1 book has several rows with different values", "duplicates keep last first reject"},
		{"duplicates=last&dry_run=1", twice, "done", "Nothing was stored", ""},
		{"", "Werk;num_pages;date;author;price;genre\n", "question", "The header has no column name. It has: Werk", "map"},
		{"map=name%3DWerk", "Werk;num_pages;date;author;price;genre\n", "done", "", ""},
		{"", "My books\n\n" + either, "question", "can be read in two ways", "dates mdy dmy"},
		{"header_row=2&dates=dmy&dry_run=1", "Title;Author\n" + either, "done", "", ""},
		{"map=name%3Dzz", `{"name":"A"}`, "question", "The header has no column zz (did you mean name?), pages, published_at, author, price, genre. It has: name:\n  name may be name: A.", "map name=name"},
		{"map=description%3D&dates=dmy&dry_run=1", either, "done", "", ""},
		{"sheet=S", either, "refused", "The sheet option applies to spreadsheets only", ""},
		{"no_header=true", `{"name":"A"}`, "refused", "The no header option applies to CSV and spreadsheets only", ""},
		{"dates=dmy&map=author%3DTitle%2Bprice%2Bgenre", either, "question", "The header has no column Title+price+genre", "map author=authors"},
		{"dates=dmy&map=author%3D%2399", either, "question", "The header has no column #99", "map author=authors"},
		{"dates=dmy&map=author%3D%2B", either, "question", "The header has no column +", "map author=authors"},
		{"dates=dmy&map=author%3D%234&dry_run=1", either, "done", "", ""},
		{"", "", "refused", "The file is empty", ""},
		{"strict=true", importHeader + row("B", "1", "2005-01-01") + row("C", "0", "2005-01-01"), "refused", "Row 2", ""},
		{"strict=true", importHeader + strings.Repeat(row("B", "1", "2005-01-01"), 10_001), "refused", "A strict import may have at most 10000 rows", ""},
		{"strict=true", brokenSpreadsheet(t), "refused", "The spreadsheet is broken (xl/worksheets/sheet1.xml, row 2", ""},
		{"dry_run=true", brokenSpreadsheet(t), "refused", "The spreadsheet is broken", ""},
		{"", brokenSpreadsheet(t), "refused", "The spreadsheet is broken", ""},
	} {
		i := sendFile(t, c, test.query, test.file)
		question := ""
		if i.Question != nil {
			question = i.Question.Parameter
			for _, a := range i.Question.Answers {
				question += " " + a.Value
			}
		}
		if i.Status != test.status || !strings.Contains(i.Message, test.message) || question != test.question {
			t.Errorf("%s: %s, %s, asks for %q: want %+v", test.query, i.Status, i.Message, question, test)
		}
	}
	if got := c.Get(t, `{ books { nodes { name } } }`, ""); got != `{"books":{"nodes":[{"name":"A"}]}}` {
		t.Errorf("stored: %s", got)
	}
	for _, test := range []struct{ file, want string }{
		{either, "The column publication date can be read in two ways, as 3/4/2005 (line 2). [] [] Month first: 2005-03-04, Day first: 2005-04-03"},
		{twice, "1 book has several rows with different values. [Line 2 and line 3: A, X: pages 1 or 2.] [] Keep all: they are different books, Use the last row, Use the first row, Skip these books"},
		{"Title,pages,date,author\n", "The header has no column price, genre. It has: Title, pages, date, author. [] [price genre category] "},
	} {
		q := sendFile(t, c, "dry_run=true", test.file).Question
		var labels []string
		for _, a := range q.Answers {
			labels = append(labels, a.Label)
		}
		if got := fmt.Sprint(q.Text, " ", q.Examples, " ", q.Fields, " ", strings.Join(labels, ", ")); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestImportReport: the report has what a page asks with: candidates with their first values, numbers of empty cells,
// columns and sheets that are not read, places of rows.
func TestImportReport(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	book := excelize.NewFile()
	defer book.Close()
	for sheet, rows := range map[string][][]any{
		"Sheet1": {{"My books"}, {"Title", "Pages", "Year", "Author", "Betr.", "Genre", "Colour"}, {"A", 1, 2000, "X", 1.5, "G", "S"}, {"B", nil, 1999, "Y", 2.5, "G", "S"}, {"C", 0.5, 1999, "Z", 3.5, "G", "S"}},
		"Other":  {{"Note"}, {"x"}},
	} {
		_, err := book.NewSheet(sheet)
		servertest.Must(t, err)
		for i, row := range rows {
			servertest.Must(t, book.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &row))
		}
	}
	file, err := book.WriteToBuffer()
	servertest.Must(t, err)
	asked := sendFile(t, c, "dry_run=true", file.String())
	if asked.Question == nil {
		t.Fatalf("%+v", asked)
	}
	got := fmt.Sprint(asked.Question.Candidates, asked.Unused, asked.Sheets, asked.Columns[1])
	if want := "[{price Betr. [1.5 2.5 3.5]}] [Betr. Colour] {[Sheet1] [Other]} {pages Pages 1}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	done := sendFile(t, c, "dry_run=true&map=price%3DBetr.&default=category%3DC", file.String())
	var places []string
	for _, row := range done.Rejects.First {
		places = append(places, row.Place)
	}
	if diff := cmp.Diff([]string{"row 4", "row 5"}, places); diff != "" {
		t.Errorf("%s: %+v", diff, done)
	}
}

// brokenSpreadsheet is one with a control character after its first row.
func brokenSpreadsheet(t *testing.T) string {
	t.Helper()
	book := excelize.NewFile()
	defer book.Close()
	header := strings.Split(strings.TrimSpace(importHeader), ";")
	servertest.Must(t, errors.Join(book.SetSheetRow("Sheet1", "A1", &header), book.SetSheetRow("Sheet1", "A2", &[]string{"A", "1", "2005-01-01", "X", "1", "G", "C"})))
	whole, err := book.WriteToBuffer()
	servertest.Must(t, err)
	parts, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	servertest.Must(t, err)
	var b strings.Builder
	broken := zip.NewWriter(&b)
	for _, part := range parts.File {
		text, err := fs.ReadFile(parts, part.Name)
		servertest.Must(t, err)
		out, err := broken.Create(part.Name)
		servertest.Must(t, err)
		if _, err := out.Write(bytes.Replace(text, []byte(`<row r="2">`), []byte("<row r=\"2\">\x01"), 1)); err != nil {
			t.Fatal(err)
		}
	}
	servertest.Must(t, broken.Close())
	return b.String()
}

// TestImportRequests: what is wrong with a request is said before there is an import.
func TestImportRequests(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	scoped := servertest.ServeScoped(t)
	scoped.Token = servertest.TokenFor(t, "books:create")
	if w := scoped.Do(http.MethodPost, "/api/imports", ""); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "catalogue:write") {
		t.Errorf("without the scope: status %d: %s", w.Code, w.Body)
	}
	known := "/api/imports/" + sendFile(t, c, "", importHeader).ID
	for _, test := range []struct {
		method, target, body string
		header               string
		status               int
		says                 string
	}{
		{"POST", "/api/imports", "", "Authorization:", 401, ""},
		{"POST", "/api/imports", "", "Content-Type: multipart/form-data; boundary=x", 415, "curl --data-binary"},
		{"POST", "/api/imports?dryrun=true", "", "Accept: */*", 422, "There is no parameter dryrun."},
		{"POST", "/api/imports?dry_run=maybe&dates=ymd&map=name&default=isbn%3D1&delimiter=ab&strict=1&strict=1", "", "Accept: */*", 422, "The dates parameter must be one of: auto, iso, mdy, dmy."},
		{"POST", "/api/imports?encoding=Klingon", "", "Accept: */*", 422, "The encoding parameter must be one of: auto, UTF-8"},
		{"POST", "/api/imports?decimal=85&no_header=maybe", "", "Accept: */*", 422, "The no header parameter must be true or false."},
		{"POST", "/api/imports?no_header=true&header_row=1", "", "Accept: */*", 422, "The no header parameter cannot be set together with the header row."},
		{"POST", "/api/imports", strings.Repeat("x", 1<<20) + "x", "Accept: */*", 413, "The file must not be larger than 1 MiB."},
		{"POST", "/api/imports", "", "Idempotency-Key: é", 422, "Idempotency-Key"},
		{"GET", "/api/imports", "", "Accept: */*", 405, "POST"},
		{"GET", known, "", "Authorization: Bearer " + servertest.TokenOf(t, "other"), 404, "Import not found"},
		{"GET", known, "", "Authorization:", 401, ""},
		{"GET", known + "/rejects", "", "Accept: */*", 404, "No row was rejected"},
		{"GET", known + "/other", "", "Accept: */*", 404, "could not be found"},
		{"DELETE", "/api/imports/none", "", "Accept: */*", 404, "Import not found"},
	} {
		small := &servertest.Client{Token: c.Token, Handler: servertest.NewHandler(t, c.Log, server.Config{Catalogue: c.Catalogue, Authenticate: c.Authenticate, ImportBytes: 1 << 20})}
		if test.target == known || strings.HasPrefix(test.target, known+"/") {
			small.Handler = c.Handler
		}
		w := small.Do(test.method, test.target, test.body, test.header)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || !strings.HasPrefix(w.Body.String(), `{"success":false,`) {
			t.Errorf("%s %s: status %d: %s", test.method, test.target, w.Code, w.Body)
		}
	}
}

// TestImportTwice: the same file under the same key is the same import.
func TestImportTwice(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	post := func(query, file string) *httptest.ResponseRecorder {
		return c.Do(http.MethodPost, "/api/imports"+query, file, "Idempotency-Key: k")
	}
	first := readImport(t, post("", importHeader), http.StatusAccepted)
	w := post("", importHeader)
	if again := readImport(t, w, http.StatusAccepted); again.ID != first.ID || w.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("again: %s, want %s: %v", again.ID, first.ID, w.Header())
	}
	for _, w := range []*httptest.ResponseRecorder{post("", importHeader+"x"), post("?dry_run=true", importHeader)} {
		if w.Code != http.StatusUnprocessableEntity {
			t.Errorf("the key with another request: status %d: %s", w.Code, w.Body)
		}
	}
}

// failingImports is a catalogue that stores one batch of an import, and fails then.
type failingImports struct {
	*resolvers.Resolver
	batches int
	fail    func(context.Context) error
}

func (c *failingImports) ImportBooks(ctx context.Context, rows []model.Form) (*model.ImportResult, error) {
	if c.batches++; c.batches > 1 {
		return nil, c.fail(ctx)
	}
	return c.Resolver.ImportBooks(ctx, rows)
}

func serveFailingImports(t *testing.T, fail func(context.Context) error) *servertest.Client {
	t.Helper()
	return servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue { return &failingImports{r, 0, fail} })
}

// serveSlowImports starts a service that never stores the second batch of an import, and
// says when it has begun.
func serveSlowImports(t *testing.T) (c *servertest.Client, begun chan struct{}) {
	t.Helper()
	begun = make(chan struct{})
	return serveFailingImports(t, func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}), begun
}

// TestImportStops: an import that is stopped tells what it has stored, and that is
// stored. Meanwhile its caller may begin one more, and others theirs.
func TestImportStops(t *testing.T) {
	t.Parallel()
	c, begun := serveSlowImports(t)
	var file strings.Builder
	file.WriteString(importHeader)
	for n := range 500 {
		fmt.Fprintf(&file, "Book %d;1;2014-07-31;X;1;Genre;Category\n", n)
	}
	i := readImport(t, c.Do(http.MethodPost, "/api/imports", file.String()), http.StatusAccepted)
	<-begun

	body, more := io.Pipe()
	coming := make(chan *httptest.ResponseRecorder)
	go func() {
		r := httptest.NewRequest(http.MethodPost, "/api/imports?dry_run=true", body)
		r.Header.Set("Authorization", "Bearer "+c.Token)
		w := httptest.NewRecorder()
		c.Handler.ServeHTTP(w, r)
		coming <- w
	}()
	fmt.Fprint(more, importHeader) // which is read by then
	if w := c.Do(http.MethodPost, "/api/imports", ""); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "2 of your imports are under way") {
		t.Errorf("a third: status %d: %s", w.Code, w.Body)
	}
	more.CloseWithError(io.ErrUnexpectedEOF)
	if w := <-coming; w.Code != http.StatusBadRequest {
		t.Errorf("a file that did not come: status %d: %s", w.Code, w.Body)
	}
	if w := c.Do(http.MethodGet, "/api/imports/"+i.ID+"/rejects", ""); w.Code != http.StatusConflict {
		t.Errorf("rejects of an import under way: status %d: %s", w.Code, w.Body)
	}

	w := c.Do(http.MethodDelete, "/api/imports/"+i.ID, "")
	i = readImport(t, w, http.StatusOK)
	want := "The import was stopped. The counted rows are stored. Send the file again for the rest."
	if diff := cmp.Diff([]any{"stopped", want, 200}, []any{i.Status, i.Message, i.Counts.Created}); diff != "" {
		t.Error(diff)
	}
	if got := c.Get(t, `{ books { totalCount } }`, ""); got != `{"books":{"totalCount":200}}` {
		t.Errorf("stored: %s", got)
	}
	if again := readImport(t, c.Do(http.MethodDelete, "/api/imports/"+i.ID, ""), http.StatusOK); again.Status != "stopped" {
		t.Errorf("stopped again: %+v", again)
	}
}

// TestImportAtClose: the catalogue is not closed before an import has ended, which is
// logged, and then begins none.
func TestImportAtClose(t *testing.T) {
	t.Parallel()
	c, begun := serveSlowImports(t)
	file := importHeader + strings.Repeat("A;1;2014-07-31;X;1;Genre;Category\n", 201)
	i := readImport(t, c.Do(http.MethodPost, "/api/imports", file), http.StatusAccepted)
	<-begun
	servertest.Must(t, c.Store.Close())
	if got := readImport(t, c.Do(http.MethodGet, "/api/imports/"+i.ID, ""), http.StatusOK); got.Status != "stopped" || !c.Log.Has(`msg="import stopped" import=`+i.ID+" created=1 ") {
		t.Errorf("at the end: %+v", got)
	}
	if w := c.Do(http.MethodPost, "/api/imports", file); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "being stopped") {
		t.Errorf("after it: status %d: %s", w.Code, w.Body)
	}
}

// TestImportFails: an import that failed tells what it has stored, and what is not known.
// A panic ends it alone.
func TestImportFails(t *testing.T) {
	t.Parallel()
	file := importHeader + strings.Repeat("A;1;2014-07-31;X;1;Genre;Category\n", 201)
	const stored = "The counted rows are stored. Send the file again for the rest."
	for message, fail := range map[string]func(context.Context) error{
		"The database is away. " + stored: func(context.Context) error { return model.Errorf(model.Unavailable, "The database is away.") },
		"Internal server error. The server's log has the cause, with the id of this import. " + stored: func(context.Context) error { panic("on purpose") },
		"The database did not confirm the last rows; the counted rows are stored. Send the file again for the rest.": func(context.Context) error {
			return &model.Error{Code: model.Unavailable, InDoubt: true}
		},
	} {
		c := serveFailingImports(t, fail)
		i := sendFile(t, c, "", file)
		if diff := cmp.Diff([]any{"failed", message, 1}, []any{i.Status, i.Message, i.Counts.Created}); diff != "" {
			t.Error(diff)
		}
	}
}
