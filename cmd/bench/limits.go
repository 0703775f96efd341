package main

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const limitsCommand = "limits"

// serveLimits serves a page of books in two ways that no service can beat:
//
//	/rows   by hand: one prepared statement, rows scanned into a struct, JSON
//	        appended; genres and categories are in memory for good
//	/bytes  one page, written before the first request came
//
// The answers are the service's to W1, byte by byte. It ends with ctx.
func serveLimits(ctx context.Context, address, database string) error {
	conn, err := sql.Open("postgres", database)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(16)
	conn.SetMaxIdleConns(16)
	l := &limits{buffers: sync.Pool{New: func() any { return new([]byte) }}}
	if err := l.prepare(ctx, conn); err != nil {
		return err
	}
	whole, err := l.appendPage(ctx, nil, fixedAfter)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /rows", l.rows)
	mux.HandleFunc("GET /bytes", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, whole) })
	server := &http.Server{Addr: address, Handler: mux}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}

type limits struct {
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

func (n *named) begin(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"id":"`...), n.id, 10)
	dst = appendText(append(dst, `","name":`...), n.name)
	return appendText(append(dst, `,"description":`...), n.description)
}

func (n *named) times(dst []byte) []byte {
	const format = `"2006-01-02T15:04:05.000000Z"`
	dst = n.created.UTC().AppendFormat(append(dst, `,"createdAt":`...), format)
	return n.updated.UTC().AppendFormat(append(dst, `,"updatedAt":`...), format)
}

// prepare reads all genres and categories, and has the database plan the rest.
func (l *limits) prepare(ctx context.Context, conn *sql.DB) (err error) {
	if l.page, err = conn.PrepareContext(ctx, pageSQL); err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, genresSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	l.genres = map[int64][]byte{}
	for rows.Next() {
		var g, c named
		if err := rows.Scan(&g.id, &g.name, &g.description, &g.created, &g.updated, &c.id, &c.name, &c.description, &c.created, &c.updated); err != nil {
			return err
		}
		text := append(g.times(g.begin(nil)), `,"category":`...)
		l.genres[g.id] = append(c.times(c.begin(text)), "}}"...)
	}
	return rows.Err()
}

// appendPage appends the page of books that follows an id.
func (l *limits) appendPage(ctx context.Context, dst []byte, after int64) ([]byte, error) {
	rows, err := l.page.QueryContext(ctx, after)
	if err != nil {
		return dst, err
	}
	defer rows.Close()
	dst = append(dst, `{"data":{"books":{"nodes":[`...)
	var b struct {
		named
		pages, cents, genre int64
		published, author   string
	}
	for first := true; rows.Next(); first = false {
		if err := rows.Scan(&b.id, &b.name, &b.description, &b.pages, &b.published, &b.author, &b.cents, &b.created, &b.updated, &b.genre); err != nil {
			return dst, err
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(b.begin(dst), `,"pages":`...), b.pages, 10)
		dst = append(append(append(dst, `,"publishedAt":"`...), b.published...), '"')
		dst = appendText(append(dst, `,"author":`...), b.author)
		dst = strconv.AppendInt(append(dst, `,"price":"`...), b.cents/100, 10)
		dst = append(dst, '.', byte('0'+b.cents/10%10), byte('0'+b.cents%10), '"')
		dst = append(b.times(dst), `,"genre":`...)
		dst = append(append(dst, l.genres[b.genre]...), '}')
	}
	return append(dst, "]}}}"...), rows.Err()
}

func (l *limits) rows(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseInt(r.FormValue("after"), 10, 64) // only this program asks
	buffer := l.buffers.Get().(*[]byte)
	defer l.buffers.Put(buffer)
	var err error
	if *buffer, err = l.appendPage(r.Context(), (*buffer)[:0], after); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, *buffer)
}

func writeJSON(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that has gone needs no answer
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
