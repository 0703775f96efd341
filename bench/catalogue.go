package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
	"time"

	"library-catalogue/db/search"
	"library-catalogue/graph/model/collate"
)

const (
	parentColumns = "id,name,description,created_at,updated_at"
	bookColumns   = "id,name,description,pages,published_at,author,price_cents,genre_id,created_at,updated_at," +
		"isbn,publisher,language,shelf_mark"
	derivedColumns = ",name_fold,author_fold,isbn_fold,publisher_fold,language_fold,shelf_mark_fold,name_words,shelf_mark_key"
)

// catalogueFiller returns the filler of a catalogue in a new or partly filled database.
func catalogueFiller() *filler {
	created := (&book{}).created()
	parentValues := func(p *parent) []any { return []any{p.id, p.name, p.description, created, created} }
	return &filler{
		key:           func(id int) any { return id },
		categoryTable: table[parent]{"categories", strings.Split(parentColumns, ","), parentValues},
		genreTable: table[parent]{"genres", strings.Split(parentColumns+",category_id", ","), func(p *parent) []any {
			return append(parentValues(p), p.category)
		}},
		bookTables: []table[book]{{"books", strings.Split(bookColumns, ","), bookValues}},
		copies:     true,
	}
}

func bookValues(b *book) []any {
	return []any{b.id, b.name, text(b.description), b.pages, b.published(), b.author, b.priceCents, b.genre,
		b.created(), b.created(), text(b.isbn), text(b.publisher), text(b.language), text(b.shelfMark)}
}

// fillPostgres fills a migrated database. Its triggers derive the other columns and tables.
func fillPostgres(ctx context.Context, url string, size int) error {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := catalogueFiller().fill(ctx, db, size); err != nil {
		return err
	}
	for _, table := range []string{"categories", "genres", "books"} {
		const passed = `SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), (SELECT max(id) FROM %[1]s))`
		if _, err := db.ExecContext(ctx, fmt.Sprintf(passed, table)); err != nil {
			return err
		}
	}
	return nil
}

// heldSQL creates the table of the statements that create the indexes of books, and the triggers whose work a fill does
// itself. A fill drops these, because an index of sorted rows is built in a tenth of the time. Other triggers stay.
const heldSQL = `CREATE TABLE growth_held AS SELECT type, name, sql FROM sqlite_master
WHERE tbl_name IN ('books', 'changes') AND type = 'index' AND sql IS NOT NULL
  OR name IN ('books_revision_insert', 'books_log_insert', 'books_search_given', 'books_search_insert')`

// fillSQLite fills a migrated database. It writes what the triggers derive itself.
func fillSQLite(ctx context.Context, file string, size int) error {
	db, err := openSQLite(file)
	if err != nil {
		return err
	}
	defer db.Close()
	held, err := texts(ctx, db, `SELECT name FROM sqlite_master WHERE name = 'growth_held'`)
	if err != nil {
		return err
	}
	filling := len(held) > 0
	f := sqliteFiller()
	last, err := f.last(ctx, db)
	if err != nil {
		return err
	}
	if last < size && !filling {
		if err := hold(ctx, db); err != nil {
			return err
		}
		filling = true
	}
	if err := f.fill(ctx, db, size); err != nil || !filling {
		return err
	}
	return release(ctx, db)
}

// openSQLite opens a file for a fill, which a crash of the machine may damage.
func openSQLite(file string) (*sql.DB, error) {
	const pragmas = "?_pragma=busy_timeout(10000)&_pragma=synchronous(0)&_pragma=cache_size(-500000)"
	db, err := sql.Open("sqlite", "file:"+file+pragmas)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func sqliteFiller() *filler {
	f := catalogueFiller()
	f.copies = false
	derived := func(b *book) []any {
		values := bookValues(b)
		for _, text := range []string{b.name, b.author, b.isbn, b.publisher, b.language, b.shelfMark} {
			values = append(values, collate.Fold(text))
		}
		return append(values, search.Words(b.name), collate.NaturalKey(b.shelfMark))
	}
	f.bookTables = []table[book]{
		{"books", strings.Split(bookColumns+derivedColumns, ","), derived},
		{"books_search", []string{"rowid", "name", "author", "description"}, func(b *book) []any {
			return []any{b.id, search.Words(b.name), search.Words(b.author), search.Words(b.description)}
		}},
		{"changes", []string{"seq", "row_id", "version", "type", "operation"}, func(b *book) []any {
			return []any{1<<40 + (b.id+allGenres)<<24, b.id, 1, "b", "c"} // after the entries of genres
		}},
	}
	return f
}

// hold drops the indexes and triggers of books, and keeps their statements.
func hold(ctx context.Context, db *sql.DB) error {
	if err := execAll(ctx, db, heldSQL); err != nil {
		return err
	}
	drops, err := texts(ctx, db, `SELECT 'DROP ' || type || ' ' || name FROM growth_held`)
	if err != nil {
		return err
	}
	return execAll(ctx, db, append(drops,
		`INSERT INTO books_search (books_search, rank) VALUES ('hashsize', 67108864)`)...)
}

// release creates what hold dropped, each in a transaction, and moves the revision.
func release(ctx context.Context, db *sql.DB) error {
	statements, err := texts(ctx, db, `SELECT sql FROM growth_held h
WHERE NOT EXISTS (SELECT 1 FROM sqlite_master m WHERE m.name = h.name) ORDER BY type`)
	if err != nil {
		return err
	}
	return execAll(ctx, db, append(statements,
		// Otherwise the next writer would merge the large parts of the index.
		`INSERT INTO books_search (books_search, rank) VALUES ('merge', 10000000)`,
		`DELETE FROM books_search_config WHERE k = 'hashsize'`,
		`UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215)`,
		`DROP TABLE growth_held`)...)
}

func texts(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}

func execAll(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// catalogueLines returns the requests that a catalogue of some size is measured by.
func catalogueLines(size int, rare, cursor string) []line {
	anyBook := fmt.Sprintf("$(1-%d)", size)
	facets := func(filter string) workload {
		return workload{query: `{ books` + filter + ` { facets { genres(first: 20) { count genre { name } }
			categories(first: 20) { count category { name } } authors(first: 20) { count author } } } }`}
	}
	rest := func(names int, format string, values ...any) workload {
		return workload{path: fmt.Sprintf(format, values...), names: names}
	}
	count := func(filter string) workload { return workload{query: `{ books` + filter + ` { totalCount } }`} }
	return []line{
		{name: "a book by its id", workload: workload{query: queryW2, variables: variables{"id": anyBook}, names: 3}},
		{name: "page 1: 100 books with genre and category", workload: firstPage},
		{name: "page 1,000 of 10 books, by number", changed: true,
			workload: rest(30, "/api/books?per_page=10&page=%d", min(1000, size/10))},
		{name: "page 1,000, by cursor", workload: rest(30, "/api/books?per_page=10&after=%s", cursor)},
		{name: "the page in the middle, by number", changed: true,
			workload: rest(30, "/api/books?per_page=10&page=%d", size/20)},
		{name: "search: a common word", workload: rest(60, "/api/books?per_page=20&q=history"), changed: true},
		{name: "search: a rare word", workload: rest(0, "/api/books?per_page=20&q=%s", rare)},
		{name: "search: a mistyped word", workload: rest(60, "/api/books?per_page=20&q=histroy")},
		{name: "three facets", workload: facets(""), changed: true},
		{name: "three facets of a genre", workload: facets(`(filter: {genreId: {eq: 1}})`), changed: true},
		{name: "three facets of books below a price", workload: facets(`(filter: {price: {lt: 5}})`), changed: true},
		{name: "count", workload: count(""), changed: true},
		{name: "count of a genre", workload: count(`(filter: {genreId: {eq: 1}})`), changed: true},
		{name: "count by price and date", changed: true,
			workload: count(`(filter: {price: {lt: 10}, publishedAt: {gte: "2000-01-01"}})`)},
		{name: "20 books by price", workload: rest(60, "/api/books?per_page=20&sort=price")},
		{name: "20 books of a genre by price", workload: rest(60, "/api/books?per_page=20&sort=price&genre_id=1")},
		{name: "the page / in a browser", workload: rest(0, "/"), changed: true},
		{name: "the whole list as CSV", workload: rest(0, "/api/books?format=csv")},
	}
}

var firstPage = workload{query: queryW1, variables: variables{"after": "0"}, names: 3 * pageSize}

// catalogue is one database of the program.
type catalogue struct {
	program, database string
	postgres          int // the first process of PostgreSQL, 0 for SQLite
}

func (c *catalogue) command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, arguments...)
	cmd.Env, cmd.Stderr = environment(c.database), os.Stderr
	return cmd
}

func (c *catalogue) serve(ctx context.Context, settings ...string) (*process, error) {
	p, err := start(ctx, "/readyz", func(address string) *exec.Cmd {
		cmd := c.command(ctx, "serve", "--addr="+address)
		cmd.Env = append(cmd.Env, settings...)
		return cmd
	})
	if err != nil {
		return nil, err
	}
	p.postgres = c.postgres
	return p, nil
}

// bytes returns the size of the database.
func (c *catalogue) bytes(ctx context.Context) (bytes int64, err error) {
	if file, is := strings.CutPrefix(c.database, "sqlite:"); is {
		return fileBytes(file)
	}
	db, err := sql.Open("postgres", c.database)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return bytes, db.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&bytes)
}

// measure returns the cells of a filled catalogue. If only requests fail, it returns both the cells and an error.
func (c *catalogue) measure(
	ctx context.Context, size int, least time.Duration,
) (cells map[string]string, failed error) {
	token, err := c.command(ctx, "token").Output()
	if err != nil {
		return nil, err
	}
	const noCache = "CATALOGUE_CACHE_MB=0"
	p, started, err := starts(func() (*process, error) { return c.serve(ctx, noCache) })
	if err != nil {
		return nil, err
	}
	defer func() { p.stop() }()
	p.token = strings.TrimSpace(string(token))
	used, err := memory(p.pid)
	if err != nil {
		return nil, err
	}
	before := workload{query: `{ books(first: 1, offset: ` + fmt.Sprint(min(9989, size/2)) + `) { edges { cursor } } }`}
	var answer bytes.Buffer
	if err := p.ask(ctx, before, "", before.body(), &answer); err != nil {
		return nil, err
	}
	found := cursor.FindSubmatch(answer.Bytes())
	if found == nil {
		return nil, fmt.Errorf("no cursor: %s", &answer)
	}
	book := variables{"name": "New", "pages": 1, "publishedAt": "2020-01-02", "author": "A", "price": "9.99",
		"genreId": "1"}
	create := line{workload: workload{query: queryW6, variables: variables{"input": book}}}
	write := func() error {
		_, err := p.fetch(ctx, create, nil)
		return err
	}
	cells, failed = p.lines(ctx, catalogueLines(size, rareWord(size), string(found[1])), least, write)
	cells[startLine], cells[memoryLine] = started, used
	if cells[usedMemoryLine], err = memory(p.pid); err != nil {
		return nil, err
	}
	p.stop()
	if p, err = c.serve(ctx); err != nil {
		return nil, err
	}
	cached := firstPage
	cached.cached = true
	more, err := p.lines(ctx, []line{{name: cachedLine, workload: cached}}, least, nil)
	maps.Copy(cells, more)
	failed = errors.Join(failed, err)
	p.stop()
	cells[importLine], err = c.importMore(ctx, size)
	return cells, errors.Join(failed, err)
}

// importMore imports books after those of a catalogue, and returns the cost of a row.
func (c *catalogue) importMore(ctx context.Context, size int) (string, error) {
	var file bytes.Buffer
	rows := min(importRows, size)
	if err := newGenerator().writeCSV(&file, size+1, size+rows); err != nil {
		return "", err
	}
	cmd, before, begin := c.command(ctx, "import", "-"), processorTime(c.postgres), time.Now()
	var report bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &file, &report, &report
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("import: %w: %.300s", err, &report)
	}
	if !strings.Contains(report.String(), " 0 rejected") {
		return "", fmt.Errorf("import: %.300s", &report)
	}
	n := time.Duration(rows)
	return cost{
		server:   (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / n,
		database: (processorTime(c.postgres) - before) / n,
		wait:     time.Since(begin) / n,
	}.String(), nil
}

// rareWord returns a word that few names of a catalogue have.
func rareWord(size int) string {
	g, places := newGenerator(), len(placeStarts)*len(placeMiddles)*len(placeEnds)
	for id := max(1, size/2); ; id++ {
		if b := g.book(id); b.rarest > places/2 {
			return pick(uint64(b.rarest), "", placeStarts, placeMiddles, placeEnds)
		}
	}
}
