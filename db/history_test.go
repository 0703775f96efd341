package db_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func wantError(t *testing.T, err error, code model.Code) {
	t.Helper()
	if !model.IsCode(err, code) {
		t.Errorf("the error is %v, want %s", err, code)
	}
}

func anyRow(bool) error { return nil }

// historyOf returns the whole history of a row, read in pages of first changes.
func historyOf(t *testing.T, s *db.Store, typ model.CatalogueType, id model.ID, first int) (all []*model.Change) {
	t.Helper()
	args := &model.HistoryArgs{Type: typ, First: first}
	for {
		page := must[map[model.ID]*model.ChangePage](t)(s.Now(t.Context()).History(t.Context(), []model.ID{id}, args))[id]
		all = append(all, page.Nodes...)
		if !page.HasMore {
			return all
		}
		args.After = new(page.Position)
	}
}

// asOf returns a row as it was at a time.
func asOf[T any](t *testing.T, s *db.Store, rows func(*db.Snapshot) db.Reader[T], id model.ID, at model.Timestamp) *T {
	t.Helper()
	snapshot := s.Now(t.Context())
	key := db.Past{Moment: must[model.Moment](t)(snapshot.MomentAt(t.Context(), at)), ID: id}
	return must[map[db.Past]*T](t)(rows(snapshot).AsOf(t.Context(), []db.Past{key}))[key]
}

func bookRows(s *db.Snapshot) db.Reader[model.Book]         { return s.Books }
func categoryRows(s *db.Snapshot) db.Reader[model.Category] { return s.Categories }
func errorOf[T any](_ T, err error) error                   { return err }
func textOfBook(b *model.Book) string {
	return textOf(b, func() string { return fmt.Sprint("v", b.Version, " ", b.Name, " ", b.Pages, " in ", b.GenreID) })
}
func textOfGenre(g *model.Genre) string {
	return textOf(g, func() string { return fmt.Sprint("v", g.Version, " ", g.Name, " in ", g.CategoryID) })
}
func textOf[T any](row *T, text func() string) string {
	if row == nil {
		return "none"
	}
	return text()
}

// modelHistory is a history of a few books and genres, and what a simple model expects of them.
type modelHistory struct {
	*testing.T
	s        *db.Store
	r        *rand.Rand
	category model.ID
	genres   []model.ID
	books    []model.ID

	now    map[string]string   // text by type and id
	before []map[string]string // now after each change
	times  []model.Timestamp   // of each change
	after  map[string]string   // text after the change with a position, without its version
	places map[string][]string // positions by type and id
}

// TestHistoryModel compares the past and restores of random histories with a model.
func TestHistoryModel(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		category := must[*model.Category](t)(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "All"}))
		for seed := range dbtest.Runs(1000) {
			h := &modelHistory{T: t, s: s, r: rand.New(rand.NewPCG(uint64(seed), 1)), category: category.ID, now: map[string]string{}, after: map[string]string{}, places: map[string][]string{}}
			for range 4 + h.r.IntN(10) {
				h.step()
			}
			h.compare()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

// step changes a row at random.
func (h *modelHistory) step() {
	name := fmt.Sprint("Name ", h.r.IntN(1000))
	if len(h.genres) == 0 || h.r.IntN(8) == 0 {
		g := must[*model.Genre](h.T)(h.s.Genres.Create(h.Context(), &model.CreateGenreInput{Name: name, CategoryID: h.category}))
		h.genres = append(h.genres, g.ID)
		h.changed(model.TypeGenre, g.ID)
		return
	}
	genre := h.genres[h.r.IntN(len(h.genres))]
	if len(h.books) == 0 || h.r.IntN(8) == 0 {
		in := &model.CreateBookInput{Name: name, Author: "A", Pages: 1 + h.r.IntN(9), PublishedAt: model.Date{Year: 1999, Month: 1, Day: 1}, GenreID: genre}
		b, err := h.s.Books.Create(h.Context(), in)
		if h.now[key(model.TypeGenre, genre)] == "none" {
			wantError(h.T, err, model.BadUserInput)
			return
		}
		check(h.T, err)
		h.books = append(h.books, b.ID)
		h.changed(model.TypeBook, b.ID)
		return
	}
	book := h.books[h.r.IntN(len(h.books))]
	switch h.r.IntN(6) {
	case 0:
		patch := &model.GenrePatch{Name: graphql.OmittableOf(&name)}
		h.written(model.TypeGenre, genre, errorOf(h.s.Genres.Update(h.Context(), genre, patch, nil)))
	case 1:
		children := 0
		for _, b := range h.books {
			if text := h.now[key(model.TypeBook, b)]; text != "none" && model.ID(genreIn(text)) == genre {
				children++
			}
		}
		err := h.s.Genres.Delete(h.Context(), genre, nil, model.Restrict)
		if children > 0 {
			wantError(h.T, err, model.Conflict)
			return
		}
		h.written(model.TypeGenre, genre, err)
	case 2:
		h.written(model.TypeBook, book, h.s.Books.Delete(h.Context(), book, nil, model.Cascade))
	case 3:
		patch := &model.BookPatch{Name: graphql.OmittableOf(&name), Pages: graphql.OmittableOf(new(1 + h.r.IntN(9)))}
		h.written(model.TypeBook, book, errorOf(h.s.Books.Update(h.Context(), book, patch, nil)))
	case 4:
		h.restore(model.TypeBook, book)
	default:
		h.restore(model.TypeGenre, genre)
	}
}

// genreIn returns the genre in a text of a book.
func genreIn(text string) (id int) {
	id, _ = strconv.Atoi(text[strings.LastIndex(text, " ")+1:])
	return id
}

func key(typ model.CatalogueType, id model.ID) string { return string(typ) + id.String() }

// withoutVersion returns a text without its version.
func withoutVersion(text string) string {
	var v int
	if _, err := fmt.Sscanf(text, "v%d", &v); err != nil {
		return text
	}
	return text[len(fmt.Sprint("v", v)):]
}

// written expects an error for a row that does not exist.
func (h *modelHistory) written(typ model.CatalogueType, id model.ID, err error) {
	h.Helper()
	if h.now[key(typ, id)] == "none" {
		wantError(h.T, err, model.NotFound)
		return
	}
	check(h.T, err)
	h.changed(typ, id)
}

// restore restores a row to one of its changes.
func (h *modelHistory) restore(typ model.CatalogueType, id model.ID) {
	h.Helper()
	places := h.places[key(typ, id)]
	position := places[h.r.IntN(len(places))]
	in := model.RestoreInput{ID: id, Position: &position}
	want := h.after[position]
	if h.r.IntN(3) == 0 && len(places) > 1 { // the newest change is taken back
		in.Position, want = nil, h.after[places[len(places)-2]]
	}
	var err error
	if typ == model.TypeBook {
		_, err = h.s.Books.Revert(h.Context(), in, anyRow)
	} else {
		_, err = h.s.Genres.Revert(h.Context(), in, anyRow)
	}
	switch {
	case want == "none":
		wantError(h.T, err, model.BadUserInput)
	case typ == model.TypeBook && h.now[key(model.TypeGenre, model.ID(genreIn(want)))] == "none":
		wantError(h.T, err, model.Conflict)
	default:
		check(h.T, err)
		if got := h.changed(typ, id); withoutVersion(got) != want {
			h.Errorf("restored %s %d: %s, want %s", typ, id, got, want)
		}
	}
}

// changed records the state after a change of a row.
func (h *modelHistory) changed(typ model.CatalogueType, id model.ID) string {
	h.Helper()
	newest := historyOf(h.T, h.s, typ, id, 3)[0]
	text := "none"
	if typ == model.TypeBook {
		for _, b := range must[[]*model.Book](h.T)(h.s.Now(h.Context()).Books.ByID(h.Context(), []model.ID{id})) {
			text = textOfBook(b)
		}
	} else {
		for _, g := range must[[]*model.Genre](h.T)(h.s.Now(h.Context()).Genres.ByID(h.Context(), []model.ID{id})) {
			text = textOfGenre(g)
		}
	}
	if newest.Version <= versionIn(h.now[key(typ, id)]) && text != "none" {
		h.Errorf("%s %d: version %d after %s", typ, id, newest.Version, h.now[key(typ, id)])
	}
	h.now[key(typ, id)] = text
	state := map[string]string{}
	for k, v := range h.now {
		state[k] = v
	}
	h.before, h.times = append(h.before, state), append(h.times, newest.At)
	h.after[newest.Position] = withoutVersion(text)
	h.places[key(typ, id)] = append(h.places[key(typ, id)], newest.Position)
	return text
}

func versionIn(text string) (v int64) {
	_, _ = fmt.Sscanf(text, "v%d", &v)
	return v
}

// compare compares the past at each change, and just before it, and the histories.
func (h *modelHistory) compare() {
	h.Helper()
	for i, at := range h.times {
		last := i
		for last+1 < len(h.times) && h.times[last+1] == at {
			last++
		}
		h.compareAt(at, h.before[last])
		first := i
		for first > 0 && h.times[first-1] == at {
			first--
		}
		if first > 0 {
			h.compareAt(at-1, h.before[first-1])
		}
	}
	for _, id := range h.books {
		for i, c := range historyOf(h.T, h.s, model.TypeBook, id, 2) {
			places := h.places[key(model.TypeBook, id)]
			if want := places[len(places)-1-i]; c.Position != want {
				h.Errorf("book %d: position %s, want %s", id, c.Position, want)
			}
			if got := withoutVersion(textOfBook(c.Book)); got != h.after[c.Position] {
				h.Errorf("book %d after %s: %s, want %s", id, c.Position, got, h.after[c.Position])
			}
		}
	}
}

func (h *modelHistory) compareAt(at model.Timestamp, want map[string]string) {
	h.Helper()
	for _, id := range h.books {
		b := asOf(h.T, h.s, bookRows, id, at)
		if got := textOfBook(b); got != orNone(want[key(model.TypeBook, id)]) {
			h.Errorf("book %d as of %s: %s, want %s", id, at, got, want[key(model.TypeBook, id)])
		}
		if b == nil {
			continue
		}
		past := db.Past{Moment: *b.Moment, ID: b.GenreID}
		genre := must[map[db.Past]*model.Genre](h.T)(h.s.Now(h.Context()).Genres.AsOf(h.Context(), []db.Past{past}))[past]
		if got := textOfGenre(genre); got != want[key(model.TypeGenre, b.GenreID)] {
			h.Errorf("genre %d of book %d as of %s: %s, want %s", b.GenreID, id, at, got, want[key(model.TypeGenre, b.GenreID)])
		}
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// TestHonestHistory reads the history of rows that other programs deleted, created again with the same id, and truncated.
func TestHonestHistory(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := catalogtest.Open(t, url), other(t, url)
		tell := func() string {
			t.Helper()
			return strings.Join(told(historyOf(t, s, model.TypeCategory, 1, 2)), "; ")
		}
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'First')`)
		exec(t, program, `UPDATE categories SET name = 'Second' WHERE id = 1`)
		tell() // makes a tick
		exec(t, program, `DELETE FROM categories WHERE id = 1`)
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'Other')`)
		if got, want := tell(), "CREATE CATEGORY 1 v1 Other; DELETE CATEGORY 1 v2; UPDATE CATEGORY 1 v2 Second; CREATE CATEGORY 1 v1 First"; got != want {
			t.Errorf("the history is %s, want %s", got, want)
		}
		all := historyOf(t, s, model.TypeCategory, 1, 10)
		if got := asOf(t, s, categoryRows, 1, all[2].At); got == nil || got.Name != "Second" && all[2].At != all[0].At {
			t.Errorf("as of the update: %+v", got)
		}
		if strings.HasPrefix(url, "sqlite:") {
			return
		}
		exec(t, program, `TRUNCATE categories CASCADE`)
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'Last')`)
		if got, want := tell(), "CREATE CATEGORY 1 v1 Last; RESET CATEGORY 0 v0; CREATE CATEGORY 1 v1; DELETE CATEGORY 1 v2; UPDATE CATEGORY 1 v2 Second; CREATE CATEGORY 1 v1 First"; got != want {
			t.Errorf("after a reset the history is %s, want %s", got, want)
		}
		reverted := func(position string) error {
			_, err := s.Categories.Revert(t.Context(), model.RestoreInput{ID: 1, Position: &position}, anyRow)
			return err
		}
		wantError(t, reverted(all[0].Position), model.PositionGone) // what the reset lost
		check(t, reverted(all[2].Position))
		if got := asOf(t, s, categoryRows, 1, historyOf(t, s, model.TypeCategory, 1, 1)[0].At); got.Name != "Second" || got.Version != 2 {
			t.Errorf("after the restore: %+v", got)
		}
		snapshot := s.Now(t.Context())
		_, err := snapshot.Categories.AsOf(t.Context(), []db.Past{{Moment: must[model.Moment](t)(snapshot.MomentAt(t.Context(), all[0].At)), ID: 1}})
		wantError(t, err, model.PositionGone)
	})
}

// TestMomentOfStrangeTimes wants an error with advice for a time whose year an engine does not read.
func TestMomentOfStrangeTimes(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		for at, code := range map[string]model.Code{
			"0000-01-01T00:00:00Z":      model.PositionGone,
			"0001-01-01T00:00:00+10:00": model.PositionGone,
			"9999-12-31T23:59:59-10:00": model.BadUserInput,
		} {
			moment, err := time.Parse(time.RFC3339, at)
			check(t, err)
			_, err = s.Now(t.Context()).MomentAt(t.Context(), model.Timestamp(moment.UnixMicro()))
			wantCode(t, err, code, "")
		}
	})
}
