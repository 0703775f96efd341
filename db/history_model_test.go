package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// ref names a row.
type ref struct {
	typ model.CatalogueType
	id  model.ID
}

// state is the text of each row. A row that it lacks does not exist.
type state map[ref]string

func (s state) text(row ref) string {
	if text, ok := s[row]; ok {
		return text
	}
	return "none"
}

// answer is the state that the log gave for a time.
type answer struct {
	at    model.Timestamp
	state state
}

// modelHistory is a history of a few books and genres, and what a simple model expects of them.
type modelHistory struct {
	*testing.T
	s        *db.Store
	program  *sql.DB
	r        *rand.Rand
	waits    bool // a question about now waits a second for an open transaction
	category model.ID
	genres   []model.ID
	books    []model.ID

	now     state
	states  []state           // after each transaction
	times   []model.Timestamp // of each transaction
	after   map[string]string // text after the change with a position, without its version
	places  map[ref][]string  // positions
	answers []answer
}

// TestHistoryModel compares the past and restores of random histories with a model. The past is asked
// for at random moments, also within a transaction of another program, and again at the end: an
// answer about the past does not change.
func TestHistoryModel(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, err := started(t, url, db.Options{}) // makes ticks in the background
		check(t, err)
		program := other(t, url)
		category := must[*model.Category](t)(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "All"}))
		for seed := range dbtest.Runs(1000) {
			h := &modelHistory{
				T: t, s: s, program: program, waits: isSQLite(url), r: rand.New(rand.NewPCG(uint64(seed), 1)), category: category.ID,
				now: state{}, after: map[string]string{}, places: map[ref][]string{},
			}
			for range 4 + h.r.IntN(10) {
				h.step()
				h.ask()
			}
			h.compare()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

// step changes rows at random, in one transaction.
func (h *modelHistory) step() {
	name := fmt.Sprint("Name ", h.r.IntN(1000))
	genres := h.live(model.TypeGenre)
	if len(genres) == 0 || h.r.IntN(8) == 0 {
		g := must[*model.Genre](h.T)(h.s.Genres.Create(h.Context(), &model.CreateGenreInput{Name: name, CategoryID: h.category}))
		h.changed(ref{model.TypeGenre, g.ID})
		return
	}
	genre := genres[h.r.IntN(len(genres))]
	if len(h.books) == 0 || h.r.IntN(8) == 0 {
		b := must[*model.Book](h.T)(h.s.Books.Create(h.Context(), h.newBook(name, genre)))
		h.changed(ref{model.TypeBook, b.ID})
		return
	}
	genre = h.genres[h.r.IntN(len(h.genres))] // may be deleted
	book := h.books[h.r.IntN(len(h.books))]
	switch h.r.IntN(11) {
	case 0:
		patch := &model.GenrePatch{Name: graphql.OmittableOf(&name)}
		h.written(ref{model.TypeGenre, genre}, errorOf(h.s.Genres.Update(h.Context(), genre, patch, nil)))
	case 1:
		children := h.booksOf(genre)
		err := h.s.Genres.Delete(h.Context(), genre, nil, model.Restrict)
		if len(children) > 0 {
			wantError(h.T, err, model.Conflict)
			return
		}
		h.written(ref{model.TypeGenre, genre}, err)
	case 2:
		h.written(ref{model.TypeBook, book}, h.s.Books.Delete(h.Context(), book, nil, model.Cascade))
	case 3:
		patch := &model.BookPatch{Name: graphql.OmittableOf(&name), Pages: graphql.OmittableOf(new(1 + h.r.IntN(9)))}
		h.written(ref{model.TypeBook, book}, errorOf(h.s.Books.Update(h.Context(), book, patch, nil)))
	case 4:
		h.restore(ref{model.TypeBook, book})
	case 5:
		h.restore(ref{model.TypeGenre, genre})
	case 6:
		rows := append(h.booksOf(genre), ref{model.TypeGenre, genre})
		h.written(rows[len(rows)-1], h.s.Genres.Delete(h.Context(), genre, nil, model.Cascade), rows[:len(rows)-1]...)
	case 7:
		h.reassign(genres[h.r.IntN(len(genres))], genres[h.r.IntN(len(genres))])
	case 8:
		h.createNested(name)
	default:
		h.runSQL()
	}
}

func (h *modelHistory) newBook(name string, genre model.ID) *model.CreateBookInput {
	return &model.CreateBookInput{Name: name, Author: "A", Pages: 1 + h.r.IntN(9), PublishedAt: model.Date{Year: 1999, Month: 1, Day: 1}, GenreID: genre}
}

// live returns the ids of the rows that exist.
func (h *modelHistory) live(typ model.CatalogueType) (ids []model.ID) {
	for row := range h.now {
		if row.typ == typ && h.now[row] != "none" {
			ids = append(ids, row.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// booksOf returns the books of a genre.
func (h *modelHistory) booksOf(genre model.ID) (rows []ref) {
	for _, id := range h.live(model.TypeBook) {
		if genreIn(h.now[ref{model.TypeBook, id}]) == genre {
			rows = append(rows, ref{model.TypeBook, id})
		}
	}
	return rows
}

// reassign moves the books of a genre and deletes it.
func (h *modelHistory) reassign(from, to model.ID) {
	h.Helper()
	if from == to {
		return
	}
	rows := append(h.booksOf(from), ref{model.TypeGenre, from})
	check(h.T, h.s.Write(h.Context(), func(ctx context.Context) error {
		if err := h.s.Genres.MoveChildren(ctx, []model.ID{from}, to); err != nil {
			return err
		}
		h.askWithin()
		return h.s.Genres.DeleteAll(ctx, []model.ID{from})
	}))
	h.changed(rows...)
}

// createNested creates a genre with books, as a nested input or an import does.
func (h *modelHistory) createNested(name string) {
	h.Helper()
	var rows []ref
	check(h.T, h.s.Write(h.Context(), func(ctx context.Context) error {
		g, err := h.s.Genres.Create(ctx, &model.CreateGenreInput{Name: name, CategoryID: h.category})
		if err != nil {
			return err
		}
		h.askWithin()
		rows = []ref{{model.TypeGenre, g.ID}}
		books := make([]*model.Book, 1+h.r.IntN(3))
		for i := range books {
			books[i] = h.newBook(name, g.ID).Row()
		}
		if err := h.s.Books.Insert(ctx, books); err != nil {
			return err
		}
		for _, b := range books {
			rows = append(rows, ref{model.TypeBook, b.ID})
		}
		return nil
	}))
	h.changed(rows...)
}

// runSQL has another program run several statements in a transaction, and asks for the past between
// them.
func (h *modelHistory) runSQL() {
	h.Helper()
	genres, books := h.live(model.TypeGenre), h.live(model.TypeBook)
	var rows []ref
	tx := must[*sql.Tx](h.T)(h.program.BeginTx(h.Context(), nil))
	defer tx.Rollback()
	for range 1 + h.r.IntN(4) {
		row := ref{model.TypeGenre, genres[h.r.IntN(len(genres))]}
		text, args := `UPDATE genres SET name = $2 WHERE id = $1 RETURNING id`, []any{row.id, fmt.Sprint("SQL ", h.r.IntN(1000))}
		switch choice := h.r.IntN(5); {
		case choice == 0:
			text = `INSERT INTO books (genre_id, name, pages, published_at, author, price_cents) VALUES ($1, $2, 7, '1999-01-01', 'A', 0) RETURNING id`
			row = ref{typ: model.TypeBook}
		case choice == 1 && len(books) > 0:
			i := h.r.IntN(len(books))
			row = ref{model.TypeBook, books[i]}
			text, args = `DELETE FROM books WHERE id = $1 RETURNING id`, []any{row.id}
			books = slices.Delete(books, i, i+1)
		case choice < 4 && len(books) > 0:
			row = ref{model.TypeBook, books[h.r.IntN(len(books))]}
			text, args = `UPDATE books SET pages = $2 WHERE id = $1 RETURNING id`, []any{row.id, 10 + h.r.IntN(90)}
		}
		check(h.T, tx.QueryRowContext(h.Context(), text, args...).Scan(&row.id))
		rows = append(rows, row)
		h.askWithin()
	}
	if h.r.IntN(6) == 0 {
		check(h.T, tx.Rollback())
		return
	}
	check(h.T, tx.Commit())
	h.ask()
	h.changed(rows...)
}

// genreIn returns the genre in a text of a book.
func genreIn(text string) model.ID {
	id, _ := strconv.Atoi(text[strings.LastIndex(text, " ")+1:])
	return model.ID(id)
}

// withoutVersion returns a text without its version.
func withoutVersion(text string) string {
	if _, rest, ok := strings.Cut(text, " "); ok {
		return rest
	}
	return text
}

func versionIn(text string) (v int64) {
	_, _ = fmt.Sscanf(text, "v%d", &v)
	return v
}

// written expects an error for a row that does not exist, or else changes of it and of further rows.
func (h *modelHistory) written(row ref, err error, further ...ref) {
	h.Helper()
	if h.now[row] == "none" {
		wantError(h.T, err, model.NotFound)
		return
	}
	check(h.T, err)
	h.changed(append(further, row)...)
}

// restore restores a row to one of its changes.
func (h *modelHistory) restore(row ref) {
	h.Helper()
	places := h.places[row]
	position := places[h.r.IntN(len(places))]
	in := model.RestoreInput{ID: row.id, Position: &position}
	want := h.after[position]
	if h.r.IntN(3) == 0 && len(places) > 1 { // the newest change is taken back
		in.Position, want = nil, h.after[places[len(places)-2]]
	}
	var err error
	if row.typ == model.TypeBook {
		_, err = h.s.Books.Revert(h.Context(), in, anyRow)
	} else {
		_, err = h.s.Genres.Revert(h.Context(), in, anyRow)
	}
	switch {
	case want == "none":
		wantError(h.T, err, model.BadUserInput)
	case row.typ == model.TypeBook && h.now[ref{model.TypeGenre, genreIn(want)}] == "none":
		wantError(h.T, err, model.Conflict)
	default:
		check(h.T, err)
		h.changed(row)
		if got := withoutVersion(h.now[row]); got != want {
			h.Errorf("restored %v: %s, want %s", row, got, want)
		}
	}
}

// changed records the state after a transaction that changed rows. All of its changes have one time.
func (h *modelHistory) changed(rows ...ref) {
	h.Helper()
	var at model.Timestamp
	h.now = maps.Clone(h.now)
	for _, row := range rows {
		text, known := h.textNow(row), h.places[row]
		if known == nil && row.typ == model.TypeBook {
			h.books = append(h.books, row.id)
		} else if known == nil {
			h.genres = append(h.genres, row.id)
		}
		all := historyOf(h.T, h.s, row.typ, row.id, 3)
		if all[0].Version <= versionIn(h.now[row]) && text != "none" && !slices.Contains(known, all[0].Position) {
			h.Errorf("%v: version %d after %s", row, all[0].Version, h.now[row])
		}
		h.now[row] = text
		for i, c := range slices.Backward(all[:len(all)-len(known)]) {
			if at == 0 {
				at = c.At
			}
			if c.At != at {
				h.Errorf("%v changed at %s, in a transaction of %s", row, c.At, at)
			}
			if h.after[c.Position] = withoutVersion(text); i > 0 {
				h.after[c.Position] = withoutVersion(textOfChange(c))
			}
			h.places[row] = append(h.places[row], c.Position)
		}
	}
	h.states, h.times = append(h.states, h.now), append(h.times, at)
}

// textNow returns the text of a row as it is now.
func (h *modelHistory) textNow(row ref) string {
	h.Helper()
	snapshot, ids := h.s.Unchecked(h.Context()), []model.ID{row.id}
	if row.typ == model.TypeBook {
		for _, b := range must[[]*model.Book](h.T)(snapshot.Books.ByID(h.Context(), ids)) {
			return textOfBook(b)
		}
	} else {
		for _, g := range must[[]*model.Genre](h.T)(snapshot.Genres.ByID(h.Context(), ids)) {
			return textOfGenre(g)
		}
	}
	return "none"
}

// textOfChange returns the text of the row after a change.
func textOfChange(c *model.Change) string {
	if c.Type == model.TypeBook {
		return textOfBook(c.Book)
	}
	return textOfGenre(c.Genre)
}

// ask asks for the past now or a little before.
func (h *modelHistory) ask() {
	h.Helper()
	at := model.Timestamp(time.Now().UnixMicro())
	if h.r.IntN(2) == 0 {
		at -= model.Timestamp(h.r.IntN(3_000))
	}
	h.answers = append(h.answers, answer{at, h.stateAt(at)})
}

// askWithin is ask within a transaction, which a question may wait for.
func (h *modelHistory) askWithin() {
	h.Helper()
	if !h.waits || h.r.IntN(20) == 0 {
		h.ask()
	}
}

// stateAt returns the state at a time by the log.
func (h *modelHistory) stateAt(at model.Timestamp) state {
	h.Helper()
	found, snapshot := state{}, h.s.Unchecked(h.Context())
	moment := must[model.Position](h.T)(snapshot.PositionAt(h.Context(), at))
	var books, genres []db.Past
	for _, id := range h.books {
		books, found[ref{model.TypeBook, id}] = append(books, db.Past{Position: moment, ID: id}), "none"
	}
	for _, id := range h.genres {
		genres, found[ref{model.TypeGenre, id}] = append(genres, db.Past{Position: moment, ID: id}), "none"
	}
	for key, b := range must[map[db.Past]*model.Book](h.T)(snapshot.Books.AsOf(h.Context(), books)) {
		found[ref{model.TypeBook, key.ID}] = textOfBook(b)
	}
	for key, g := range must[map[db.Past]*model.Genre](h.T)(snapshot.Genres.AsOf(h.Context(), genres)) {
		found[ref{model.TypeGenre, key.ID}] = textOfGenre(g)
	}
	return found
}

// compare compares the past at each change and just before it, the answers, and the histories.
func (h *modelHistory) compare() {
	h.Helper()
	for _, at := range h.times {
		h.compareAt(at, h.stateAt(at))
		h.compareAt(at-1, h.stateAt(at-1))
	}
	for _, a := range h.answers {
		h.compareAt(a.at, a.state)
		h.compareAt(a.at, h.stateAt(a.at))
	}
	for _, id := range h.books {
		row, got, texts := ref{model.TypeBook, id}, []string{}, []string{}
		for _, c := range slices.Backward(historyOf(h.T, h.s, model.TypeBook, id, 2)) {
			got, texts = append(got, c.Position+" "+withoutVersion(textOfBook(c.Book))), append(texts, c.Position+" "+h.after[c.Position])
		}
		if len(got) != len(h.places[row]) || !slices.Equal(got, texts) {
			h.Errorf("the history of book %d is %q, want %q", id, got, texts)
		}
	}
}

// compareAt compares a state of the log with the model's state at that time.
func (h *modelHistory) compareAt(at model.Timestamp, got state) {
	h.Helper()
	want := state{}
	for i, time := range h.times {
		if time <= at {
			want = h.states[i]
		}
	}
	for row := range got { // the rows that were known
		if got.text(row) != want.text(row) {
			h.Errorf("%v as of %s: %s, want %s\n%s", row, at, got.text(row), want.text(row), cmp.Diff(want, got))
		}
	}
}
