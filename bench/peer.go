package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// PocketBase is built as a program, so that this module does not have its dependencies.
const (
	peerVersion = "v0.39.11"
	peerPackage = "github.com/pocketbase/pocketbase/examples/base@" + peerVersion
)

// peer is PocketBase with its data in a folder.
type peer struct {
	program, folder string
	process         *process
	token           string
}

// peerPart fills and measures PocketBase at one size, and compares its first books with those of the catalogue.
func (g *growth) peerPart(ctx context.Context, size int) (cells map[string]string, err error) {
	p := &peer{program: filepath.Join(g.folder, "base"), folder: g.file("pocketbase", size)}
	if _, err := os.Stat(p.program); err != nil {
		build := exec.CommandContext(ctx, "go", "install", peerPackage)
		build.Env, build.Stderr = append(os.Environ(), "GOBIN="+g.folder), os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build PocketBase: %w", err)
		}
	}
	if err := p.create(ctx); err != nil {
		return nil, err
	}
	file := filepath.Join(p.folder, "data.db")
	db, err := openSQLite(file)
	if err != nil {
		return nil, err
	}
	err = errors.Join(peerFiller().fill(ctx, db, size), execAll(ctx, db, `PRAGMA wal_checkpoint(TRUNCATE)`), db.Close())
	if err != nil {
		return nil, err
	}
	bytes, err := g.perBook("pocketbase", size, func() (int64, error) { return fileBytes(file) })
	if err != nil || g.fillOnly {
		return nil, err
	}
	var started, used string
	if p.process, started, err = starts(func() (*process, error) { return p.serve(ctx) }); err != nil {
		return nil, err
	}
	defer p.process.stop()
	if used, err = memory(p.process.pid); err != nil {
		return nil, err
	}
	cells, failed := p.process.lines(ctx, peerLines(size), g.least, nil)
	cells[sizeLine], cells[startLine], cells[memoryLine] = bytes, started, used
	if cells[usedMemoryLine], err = memory(p.process.pid); err != nil {
		return nil, err
	}
	if err := g.compare(ctx, p, size); err != nil {
		return nil, err
	}
	cells[importLine], err = p.importMore(ctx, size)
	return cells, errors.Join(failed, err)
}

func (p *peer) serve(ctx context.Context) (*process, error) {
	return start(ctx, "/api/health", func(address string) *exec.Cmd {
		return exec.CommandContext(ctx, p.program, "serve", "--dev=false", "--automigrate=false",
			"--http="+address, "--dir="+p.folder)
	})
}

// create creates the tables, unless they exist.
func (p *peer) create(ctx context.Context) error {
	if _, err := os.Stat(p.folder); err == nil {
		return nil
	}
	const person, password = "bench@example.com", "only for this run"
	create := exec.CommandContext(ctx, p.program, "superuser", "upsert", person, password, "--dir="+p.folder)
	if out, err := create.CombinedOutput(); err != nil {
		return fmt.Errorf("create a superuser: %w: %.300s", err, out)
	}
	var err error
	if p.process, err = p.serve(ctx); err != nil {
		return err
	}
	defer p.process.stop()
	answer, err := p.send(ctx, http.MethodPost, "/api/collections/_superusers/auth-with-password",
		map[string]any{"identity": person, "password": password})
	if err != nil {
		return err
	}
	var login struct{ Token string }
	if err := json.Unmarshal(answer, &login); err != nil {
		return err
	}
	p.token = login.Token
	type object = map[string]any
	relation := func(name, to string) object {
		return object{"name": name, "type": "relation", "collectionId": id15(to), "maxSelect": 1, "required": true}
	}
	texts := func(names ...string) (fields []object) {
		for _, name := range names {
			fields = append(fields, object{"name": name, "type": "text", "max": 20_000})
		}
		return append(fields, object{"name": "created", "type": "autodate", "onCreate": true},
			object{"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true})
	}
	for _, c := range []struct {
		name    string
		fields  []object
		indexed []string
	}{
		{"categories", texts("name", "description"), nil},
		{"genres", append(texts("name", "description"), relation("category", "categories")), []string{"category"}},
		{"books", append(texts("name", "description", "author", "isbn", "publisher", "language", "shelf_mark"),
			relation("genre", "genres"), object{"name": "pages", "type": "number"},
			object{"name": "price", "type": "number"},
			object{"name": "published_at", "type": "date"}),
			[]string{"genre", "price", "published_at", "name", "author"}},
	} {
		indexes := []string{}
		for _, column := range c.indexed {
			indexes = append(indexes, fmt.Sprintf("CREATE INDEX %[1]s_%[2]s ON %[1]s (%[2]s)", c.name, column))
		}
		_, err := p.send(ctx, http.MethodPost, "/api/collections",
			object{"id": id15(c.name), "name": c.name, "type": "base",
				"listRule": "", "viewRule": "", "createRule": "", "fields": c.fields, "indexes": indexes})
		if err != nil {
			return err
		}
	}
	_, err = p.send(ctx, http.MethodPatch, "/api/settings",
		object{"batch": object{"enabled": true, "maxRequests": 1000, "timeout": 60}})
	return err
}

// id15 returns an id of PocketBase, which has 15 characters.
func id15(name string) string { return name + strings.Repeat("0", 15-len(name)) }

// send sends an object as JSON and returns the body of the response, or an error for a status above 2xx.
func (p *peer) send(ctx context.Context, method, path string, object any) ([]byte, error) {
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, p.process.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {p.token}}
	return read(http.DefaultClient.Do(request))
}

func read(response *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d: %.300s", response.StatusCode, answer)
	}
	return answer, err
}

// peerFiller returns the filler of PocketBase's tables. Ids are numbers with 15 digits.
func peerFiller() *filler {
	key := func(id int) any { return fmt.Sprintf("%015d", id) }
	parentColumns := []string{"id", "name", "description", "created", "updated"}
	parentValues := func(p *parent) []any {
		created := peerTime(&book{})
		return []any{key(p.id), p.name, p.description, created, created}
	}
	return &filler{
		key:           key,
		categoryTable: table[parent]{"categories", parentColumns, parentValues},
		genreTable: table[parent]{"genres", append(slices.Clone(parentColumns), "category"), func(p *parent) []any {
			return append(parentValues(p), key(p.category))
		}},
		bookTables: []table[book]{{"books",
			strings.Split("id,created,updated,genre,name,description,author,isbn,publisher,"+
				"language,shelf_mark,pages,price,published_at", ","), func(b *book) []any {
				return []any{key(b.id), peerTime(b), peerTime(b), key(b.genre), b.name, b.description, b.author, b.isbn,
					b.publisher,
					b.language, b.shelfMark, b.pages, float64(b.priceCents) / 100, b.published() + " 00:00:00.000Z"}
			}}},
	}
}

func peerTime(b *book) string { return strings.Replace(b.created()[:23], "T", " ", 1) + "Z" }

// peerLines returns the lines of catalogueLines that PocketBase has, as its own requests.
func peerLines(size int) []line {
	digits := len(fmt.Sprint(size)) - 1
	zeros, nines := strings.Repeat("0", 15), strings.Repeat("9", digits)
	anyBook := zeros[digits:] + "$(1" + zeros[:digits-1] + "-" + nines + ")"
	const parents = "expand=genre.category"
	list := func(name string, names int, parameters string) line {
		return line{name: name, workload: workload{path: "/api/collections/books/records?" + parameters, names: names}}
	}
	search := func(word string) string {
		return "perPage=20&filter=name~%22" + word + "%22||author~%22" + word + "%22||description~%22" + word + "%22"
	}
	genre := "filter=genre=%22" + fmt.Sprintf("%015d", 1) + "%22"
	return []line{
		{name: "a book by its id",
			workload: workload{path: "/api/collections/books/records/" + anyBook + "?" + parents, names: 3}},
		list("page 1: 100 books with genre and category", 300, "perPage=100&sort=id&skipTotal=true&"+parents),
		list("page 1,000 of 10 books, by number", 30,
			fmt.Sprintf("perPage=10&sort=id&page=%d&%s", min(1000, size/10), parents)),
		list("the page in the middle, by number", 30, fmt.Sprintf("perPage=10&sort=id&page=%d&%s", size/20, parents)),
		list("search: a common word", 20, search("history")),
		list("search: a rare word", 0, search(rareWord(size))),
		list("count", 0, "perPage=1&fields=id"),
		list("count of a genre", 0, "perPage=1&fields=id&"+genre),
		list("count by price and date", 0,
			"perPage=1&fields=id&filter=price%3C10%26%26published_at%3E=%222000-01-01%22"),
		list("20 books by price", 60, "perPage=20&sort=price&"+parents),
		list("20 books of a genre by price", 60, "perPage=20&sort=price&"+genre+"&"+parents),
	}
}

// importMore creates books after those of a filled database, by batches of 500, and returns the cost of a row.
func (p *peer) importMore(ctx context.Context, size int) (string, error) {
	g, rows := newGenerator(), min(importRows, size)
	before, begin := p.process.used(), time.Now()
	var requests []any
	for id := size + 1; id <= size+rows; id++ {
		b := g.book(id)
		requests = append(requests,
			map[string]any{"method": "POST", "url": "/api/collections/books/records", "body": map[string]any{
				"genre": fmt.Sprintf("%015d", b.genre), "name": b.name, "description": b.description,
				"author": b.author, "isbn": b.isbn,
				"publisher": b.publisher, "language": b.language, "shelf_mark": b.shelfMark, "pages": b.pages,
				"price": float64(b.priceCents) / 100, "published_at": b.published() + " 00:00:00.000Z",
			}})
		if len(requests) == 500 || id == size+rows {
			if _, err := p.send(ctx, http.MethodPost, "/api/batch", map[string]any{"requests": requests}); err != nil {
				return "", fmt.Errorf("import: %w", err)
			}
			requests = nil
		}
	}
	n := time.Duration(rows)
	return cost{server: (p.process.used().server - before.server) / n, wait: time.Since(begin) / n}.String(), nil
}

// compared are the fields of a book in the responses of the catalogue and of PocketBase.
var compared = [][2]string{
	{"name", "name"}, {"description", "description"}, {"author", "author"}, {"pages", "pages"},
	{"published_at", "published_at"}, {"price", "price"}, {"genre.name", "expand.genre.name"},
	{"genre.description", "expand.genre.description"}, {"genre.category.name", "expand.genre.expand.category.name"},
	{"genre.category.description", "expand.genre.expand.category.description"},
}

// compare returns an error unless the catalogue on SQLite and PocketBase answer with the same 100 books, with their
// genres and categories.
func (g *growth) compare(ctx context.Context, p *peer, size int) error {
	c := &catalogue{program: g.program, database: "sqlite:" + g.file("sqlite", size) + ".db"}
	served, err := c.serve(ctx)
	if err != nil {
		return err
	}
	defer served.stop()
	ours, err := read(http.Get(served.url + "/api/books?per_page=100"))
	if err != nil {
		return err
	}
	theirs, err := read(
		http.Get(p.process.url + "/api/collections/books/records?perPage=100&sort=id&expand=genre.category"))
	if err != nil {
		return err
	}
	var our struct{ Data []any }
	var their struct{ Items []any }
	if err := errors.Join(json.Unmarshal(ours, &our), json.Unmarshal(theirs, &their)); err != nil {
		return err
	}
	if len(our.Data) != 100 || len(their.Items) != 100 {
		return fmt.Errorf("%d and %d books, want 100", len(our.Data), len(their.Items))
	}
	for i := range our.Data {
		for _, path := range compared {
			if a, b := at(our.Data[i], path[0]), at(their.Items[i], path[1]); a != b {
				return fmt.Errorf("book %d: %s is %q, in PocketBase %q", i, path[0], a, b)
			}
		}
	}
	fmt.Fprintln(os.Stderr, "the same 100 books with genre and category from both")
	return nil
}

// at returns a value of a JSON object as text: null as empty, a number with two decimals, a time as a date.
func at(value any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	switch value := value.(type) {
	case float64:
		return fmt.Sprintf("%.2f", value)
	case string:
		return strings.TrimSuffix(value, " 00:00:00.000Z")
	}
	return ""
}
