package main

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const baselineCommand = "baseline"

// serveBaseline is the baseline server: until ctx ends it serves pages of books as
// fast as Go code written for nothing else can. One prepared statement, rows scanned
// into a struct, JSON appended; genres and categories are in memory for good. The
// answers are the service's to W1, byte by byte.
func serveBaseline(ctx context.Context, address, database string) error {
	conn, err := sql.Open("postgres", database)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(16)
	conn.SetMaxIdleConns(16)
	b, err := newBaseline(ctx, conn)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rows", b.rows)
	server := &http.Server{Addr: address, Handler: mux}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}

type baselineServer struct {
	page    *sql.Stmt
	genres  map[int64][]byte // as JSON, with the category
	buffers sync.Pool
}

const (
	pageSQL = `SELECT id, name, description, pages, published_at::text, author, price_cents, created_at, updated_at, genre_id
FROM books WHERE id > $1 ORDER BY id LIMIT 100`

	genresSQL = `SELECT g.id, g.name, g.description, g.created_at, g.updated_at, c.id, c.name, c.description, c.created_at, c.updated_at
FROM genres g JOIN categories c ON c.id = g.category_id`
)

// named is what books, genres and categories have in common.
type named struct {
	id                int64
	name, description string
	created, updated  time.Time
}

func (n *named) appendStart(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"id":"`...), n.id, 10)
	dst = appendText(append(dst, `","name":`...), n.name)
	return appendText(append(dst, `,"description":`...), n.description)
}

func (n *named) appendTimes(dst []byte) []byte {
	const format = `"2006-01-02T15:04:05.000000Z"`
	dst = n.created.UTC().AppendFormat(append(dst, `,"createdAt":`...), format)
	return n.updated.UTC().AppendFormat(append(dst, `,"updatedAt":`...), format)
}

// newBaseline reads all genres and categories, and prepares the statement.
func newBaseline(ctx context.Context, conn *sql.DB) (*baselineServer, error) {
	page, err := conn.PrepareContext(ctx, pageSQL)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, genresSQL)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	b := &baselineServer{page: page, genres: map[int64][]byte{}, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	for rows.Next() {
		var g, c named
		if err := rows.Scan(&g.id, &g.name, &g.description, &g.created, &g.updated, &c.id, &c.name, &c.description, &c.created, &c.updated); err != nil {
			return nil, err
		}
		text := append(g.appendTimes(g.appendStart(nil)), `,"category":`...)
		b.genres[g.id] = append(c.appendTimes(c.appendStart(text)), "}}"...)
	}
	return b, rows.Err()
}

// appendPage appends the page of books that follows an id.
func (b *baselineServer) appendPage(ctx context.Context, dst []byte, after int64) ([]byte, error) {
	rows, err := b.page.QueryContext(ctx, after)
	if err != nil {
		return dst, err
	}
	defer rows.Close()
	dst = append(dst, `{"data":{"books":{"nodes":[`...)
	var book struct {
		named
		pages, cents, genre int64
		published, author   string
	}
	for first := true; rows.Next(); first = false {
		if err := rows.Scan(&book.id, &book.name, &book.description, &book.pages, &book.published, &book.author, &book.cents, &book.created, &book.updated, &book.genre); err != nil {
			return dst, err
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(book.appendStart(dst), `,"pages":`...), book.pages, 10)
		dst = append(append(append(dst, `,"publishedAt":"`...), book.published...), '"')
		dst = appendText(append(dst, `,"author":`...), book.author)
		dst = strconv.AppendInt(append(dst, `,"price":"`...), book.cents/100, 10)
		dst = append(dst, '.', byte('0'+book.cents/10%10), byte('0'+book.cents%10), '"')
		dst = append(book.appendTimes(dst), `,"genre":`...)
		dst = append(append(dst, b.genres[book.genre]...), '}')
	}
	return append(dst, "]}}}"...), rows.Err()
}

func (b *baselineServer) rows(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64) // only this program asks
	buffer := b.buffers.Get().(*[]byte)
	defer b.buffers.Put(buffer)
	var err error
	if *buffer, err = b.appendPage(r.Context(), (*buffer)[:0], after); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(*buffer)))
	_, _ = w.Write(*buffer) // a client that has gone needs no answer
}

// appendText appends a text in quotes. Of what JSON escapes, the rows hold
// quotes alone.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			dst = append(append(dst, s[start:i]...), '\\')
			start = i
		}
	}
	return append(append(dst, s[start:]...), '"')
}
