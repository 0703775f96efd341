package db_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// fillShelf stores the real books of testdata/shelf.csv, with ids from first on.
func fillShelf(t *testing.T, s *db.Store) (first model.ID) {
	t.Helper()
	rows := must[[][]string](t)(csv.NewReader(bytes.NewReader(must[[]byte](t)(os.ReadFile("testdata/shelf.csv")))).ReadAll())
	home := newShelf(t, s)
	var books []*model.Book
	for _, row := range rows[1:] {
		books = append(books, &model.Book{
			Name: row[0], Author: row[1], Description: &row[2], Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, GenreID: home.genre.ID,
		})
	}
	if err := s.Books.Insert(t.Context(), books); err != nil {
		t.Fatal(err)
	}
	if err := s.Books.Delete(t.Context(), home.book.ID, nil, model.Cascade); err != nil {
		t.Fatal(err)
	}
	return home.book.ID + 1
}

// searchPage is the first page of a search, as a client asks for it.
func searchPage(t *testing.T, typename, text string) *model.Page {
	t.Helper()
	return must[*model.Page](t)(model.PageArgs{Search: &text}.Page(typename))
}

// foundBooks are the names of the books that a search finds, the best first.
func foundBooks(t *testing.T, s *db.Store, text string) []string {
	t.Helper()
	return namesOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), searchPage(t, "Book", text))))
}

// TestSearchGolden holds both databases to the same books in the same order.
func TestSearchGolden(t *testing.T) {
	t.Parallel()
	queries := strings.Split(strings.TrimSpace(string(must[[]byte](t)(os.ReadFile("testdata/queries.txt")))), "\n")
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		first := fillShelf(t, s)
		var got strings.Builder
		for _, text := range queries {
			page := searchPage(t, "Book", text)
			fmt.Fprintf(&got, "%s: %d\n", text, must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), page.Selection)))
			page.Limit = 10
			for _, b := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page)) {
				fmt.Fprintf(&got, "  %d %s / %s\n", b.ID-first+1, b.Name, b.Author)
			}
		}
		dbtest.Golden(t, "testdata/search.golden", got.String())
	})
}

// TestSearchOfForeignRows has another program write Korean letter by letter, and words with
// signs and initials: they are found as if the catalogue had written them.
func TestSearchOfForeignRows(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		korean := norm.NFD.String("채식주의자")
		exec(t, program, `INSERT INTO categories (name) VALUES ($1)`, korean)
		exec(t, program, `INSERT INTO genres (name, category_id) VALUES ($1, 1)`, korean)
		for _, name := range []string{korean, "J. K. Rowling's cat"} {
			exec(t, program, `INSERT INTO books (name, author, description, pages, published_at, price_cents, genre_id) VALUES ($1, $1, $1, 1, '2000-01-01', 0, 1)`, name)
		}
		wantBooksInSearch(t, url, program)
		for text, want := range map[string]string{"채식주의자": korean, korean: korean, "jk": "J. K. Rowling's cat", "xcat": "J. K. Rowling's cat"} {
			if diff := cmp.Diff([]string{want}, foundBooks(t, s, text)); diff != "" {
				t.Errorf("%s finds (-want +got):\n%s", text, diff)
			}
		}
		where := &model.Condition{Op: model.StartsWithFolded, Field: "name", Operand: "채식"}
		for _, n := range []int{
			must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Where: where})), must[int](t)(s.Unchecked(t.Context()).Genres.Count(t.Context(), model.Selection{Where: where})),
			must[int](t)(s.Unchecked(t.Context()).Categories.Count(t.Context(), model.Selection{Where: where, Search: "채식"})), int(ask[int64](t, program, `SELECT max(version) FROM books`)),
		} {
			if n != 1 {
				t.Errorf("%d in place of one row, and its first version", n)
			}
		}
	})
}

// TestSearchFollowsWrites writes as another program does, and looks what is found
// after each statement, and that nothing is left of what was before.
func TestSearchFollowsWrites(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		program := other(t, url)
		want := func(text string, names ...string) {
			t.Helper()
			if diff := cmp.Diff(append([]string{}, names...), foundBooks(t, s, text)); diff != "" {
				t.Errorf("%q finds (-want +got):\n%s", text, diff)
			}
		}
		want("hobbit", "The Hobbit")
		exec(t, program, `INSERT INTO books (name, author, description, pages, published_at, price_cents, genre_id) VALUES
('Ætherlight', 'Zoë Ünal', 'Über alles—“naïve” art', 1, '2000-01-01', 0, $1), ('Second', 'Nobody', NULL, 1, '2000-01-01', 0, $1)`, home.genre.ID)
		want("zoe unal", "Ætherlight")
		want("naive uber", "Ætherlight")
		want("aetherlihgt", "Ætherlight")
		exec(t, program, `UPDATE books SET description = 'A hobbit too' WHERE name = 'Second'`)
		want("hobbit", "The Hobbit", "Second")
		exec(t, program, `UPDATE books SET name = 'Third', author = 'Somebody' WHERE name = 'Second'`)
		want("second")
		want("nobody")
		want("third somebody hobbit", "Third")
		exec(t, program, `UPDATE books SET description = NULL, pages = 7 WHERE name = 'Third'`)
		want("hobbit", "The Hobbit")
		exec(t, program, `UPDATE books SET id = id + 1000 WHERE name = 'Third'`)
		want("third", "Third")
		exec(t, program, `UPDATE books SET pages = pages + 1`)
		want("third", "Third")
		exec(t, program, `DELETE FROM books WHERE name = 'Third'`)
		want("third")
		exec(t, program, `UPDATE genres SET name = 'Phantasy', description = 'Of dragons'`)
		want("phantasy")
		text := "fantasy dragon"
		if n := must[int](t)(s.Unchecked(t.Context()).Genres.Count(t.Context(), model.Selection{Search: text})); n != 1 {
			t.Errorf("%q finds %d genres, want 1", text, n)
		}
		exec(t, program, `UPDATE categories SET name = 'Poésie'`)
		if n := must[int](t)(s.Unchecked(t.Context()).Categories.Count(t.Context(), model.Selection{Search: "poes"})); n != 1 {
			t.Errorf("poes finds %d categories, want 1", n)
		}

		tx := must[*sql.Tx](t)(program.Begin())
		if _, err := tx.Exec(`UPDATE books SET name = 'Undone' WHERE name = 'The Hobbit'`); err != nil {
			t.Fatal(err)
		}
		check(t, tx.Rollback())
		want("undone")
		want("hobbit", "The Hobbit")
		if isSQLite(url) {
			exec(t, program, `INSERT INTO books_search (books_search) VALUES ('integrity-check')`)
			exec(t, program, `INSERT OR REPLACE INTO books (id, name, author, pages, published_at, price_cents, genre_id)
SELECT id, 'Replaced', author, pages, published_at, price_cents, genre_id FROM books WHERE name = 'The Hobbit'`)
			want("hobbit")
			want("replaced", "Replaced")
		}
		wantBooksInSearch(t, url, program)
		if !isSQLite(url) {
			exec(t, program, `TRUNCATE books`)
		} else {
			exec(t, program, `DELETE FROM books`)
		}
		want("tolkien")
	})
}

// wantBooksInSearch wants the rows of the search to be those of their books, and what
// SQLite keeps of texts to be what Go makes of them.
func wantBooksInSearch(t *testing.T, url string, program *sql.DB) {
	t.Helper()
	if !isSQLite(url) {
		if n := ask[int](t, program, `SELECT count(*) FROM books_search s FULL JOIN books b ON b.id = s.id
WHERE s.words IS DISTINCT FROM searchable(words(b.name_fold) || joined(b.name_fold), words(b.author_fold) || joined(b.author_fold), words(b.description_fold) || joined(b.description_fold)) || further_words(b.subtitle_fold, b.series_fold) OR s.name IS DISTINCT FROM words(b.name_fold)`); n != 0 {
			t.Errorf("%d rows of the search are not those of their books", n)
		}
		return
	}
	if n := ask[int](t, program, `SELECT (SELECT count(*) FROM reading) + (SELECT count(*) FROM books_search WHERE rowid NOT IN (SELECT id FROM books))`); n != 0 {
		t.Errorf("%d rows of the search or of the triggers are of no book", n)
	}
	type derived struct{ NameFold, AuthorFold, NameWords, Name, Author, Description string }
	//nolint:rowserrcheck // read at the end
	rows := must[*sql.Rows](t)(program.Query(`SELECT b.name, b.author, coalesce(b.series, ''), coalesce(b.subtitle, ''), coalesce(b.description, ''), b.name_fold, b.author_fold,
b.name_words || coalesce(b.author_words, '') || coalesce(b.description_words, '') || coalesce(b.given_words, ''), s.name, s.author, s.description FROM books b LEFT JOIN books_search s ON s.rowid = b.id`))
	defer rows.Close()
	for rows.Next() {
		var name, author, series, subtitle, description string
		var got derived
		check(t, rows.Scan(&name, &author, &series, &subtitle, &description, &got.NameFold, &got.AuthorFold, &got.NameWords, &got.Name, &got.Author, &got.Description))
		want := derived{collate.Fold(name), collate.Fold(author), search.Words(name), search.Words(name), search.Words(author, series, subtitle), search.Words(description)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check(t, rows.Err())
}

// TestSearchFindsMany goes by the ranks one after the other, as for more rows than
// are here: each page is what it is where all ranks are looked at.
func TestSearchFindsMany(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, many := open(t, url), openWith(t, url, db.WithManyFound(1))
		fillShelf(t, s)
		exec(t, other(t, url), `UPDATE books SET pages = 1 + id * 7 % 601`)
		n := 0
		for _, text := range []string{"the", "a", "of the", "j", "dream", "shakespeare", "the king", "war and peace", "garcia marquez", "tolkein", "nothing has this"} {
			for _, direction := range []string{"ASC", "DESC"} {
				args := model.PageArgs{Search: &text, OrderBy: []*model.OrderBy{{Field: model.Relevance, Direction: direction}}}
				if n++; n%3 == 0 {
					args.Filter = model.Filter{"id": map[string]any{"gt": 200}, "not": map[string]any{"pages": map[string]any{"gt": 400}}}
				}
				page := must[*model.Page](t)(args.Page("Book"))
				page.Limit = model.MaxPageSize
				all := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))
				want := idsOf(all)
				t.Run("", func(t *testing.T) {
					check := func(want []model.ID, p model.Page) {
						t.Helper()
						if got := idsOf(must[[]*model.Book](t)(many.Unchecked(t.Context()).Books.Page(t.Context(), &p))); !slices.Equal(want, got) {
							t.Errorf("%q %s: %v, want %v", text, direction, got, want)
						}
					}
					check(want, *page)
					c := model.NewConnection("Book", page, s.Unchecked(t.Context()).Books.Page, s.Unchecked(t.Context()).Books.Count, s.Unchecked(t.Context()).GroupBooks)
					for _, i := range []int{0, len(want) / 3, len(want) - 1} {
						if i < 0 || i >= len(want) {
							continue
						}
						cursor := c.Cursor(all[i])
						size, offset := 5, 2
						args := args
						args.First, args.After, args.Offset = &size, &cursor, &offset
						rest := want[i+1:]
						rest = rest[min(offset, len(rest)):]
						check(rest[:min(size, len(rest))], *must[*model.Page](t)(args.Page("Book")))
						args = model.PageArgs{Search: args.Search, OrderBy: args.OrderBy, Filter: args.Filter, Last: &size, Before: &cursor}
						check(want[max(0, i-size):i], *must[*model.Page](t)(args.Page("Book")))
						position := must[*model.Page](t)(model.PageArgs{Search: args.Search, OrderBy: args.OrderBy, After: &cursor}.Page("Book")).After
						check(want[i:min(i+3, len(want))], model.Page{Selection: page.Selection, Order: page.Order, Limit: 3, From: position})
						check(want[max(0, i-2):i+1], model.Page{Selection: page.Selection, Order: page.Order, Limit: 3, Until: position, Backward: true})
					}
				})
			}
		}
	})
}

// TestSearchPages walks through the books that a search finds, in both
// directions and with a filter, by rank and by another order: each is there once.
func TestSearchPages(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		fillShelf(t, s)
		filter := model.Filter{"id": map[string]any{"gt": 100}}
		for _, orderBy := range [][]*model.OrderBy{
			nil,
			{{Field: model.Relevance, Direction: "DESC"}},
			{{Field: model.Relevance}, {Field: "NAME", Direction: "DESC"}},
			{{Field: "AUTHOR"}},
		} {
			for _, text := range []string{"the king", "shakespeare", "hary poter"} {
				args := model.PageArgs{Search: &text, Filter: filter, OrderBy: orderBy}
				page := must[*model.Page](t)(args.Page("Book"))
				page.Limit = model.MaxPageSize
				want := idsOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page)))
				if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), page.Selection)); n != len(want) || n < 5 {
					t.Errorf("%q has %d books and counts %d", text, len(want), n)
				}
				for _, backward := range []bool{false, true} {
					var got []model.ID
					for size, next := 4, (*string)(nil); ; {
						args := args
						args.First, args.After = &size, next
						if backward {
							args = model.PageArgs{Search: &text, Filter: filter, OrderBy: orderBy, Last: &size, Before: next}
						}
						c := model.NewConnection("Book", must[*model.Page](t)(args.Page("Book")), s.Unchecked(t.Context()).Books.Page, s.Unchecked(t.Context()).Books.Count, s.Unchecked(t.Context()).GroupBooks)
						nodes := must[[]*model.Book](t)(c.Nodes(t.Context()))
						if len(nodes) == 0 {
							break
						}
						cursor := c.Cursor(nodes[len(nodes)-1])
						if backward {
							cursor = c.Cursor(nodes[0])
							got = append(idsOf(nodes), got...)
						} else {
							got = append(got, idsOf(nodes)...)
						}
						next = &cursor
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%q by %v, backward %t (-want +got):\n%s", text, orderBy, backward, diff)
					}
				}
			}
		}
		text := "hobit"
		page := searchPage(t, "Book", text)
		genres := must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.Page(t.Context(), searchPage(t, "Genre", "fantsy")))
		of := must[map[model.ID][]*model.Book](t)(s.Unchecked(t.Context()).BooksOfGenre.Pages(t.Context(), idsOf(genres), page))
		if diff := cmp.Diff(foundBooks(t, s, text), namesOf(of[genres[0].ID])); diff != "" {
			t.Errorf("%q in the genre of all books (-want +got):\n%s", text, diff)
		}
		counts := must[map[model.ID]int](t)(s.Unchecked(t.Context()).BooksOfGenre.Counts(t.Context(), idsOf(genres), page.Selection))
		if counts[genres[0].ID] != len(of[genres[0].ID]) {
			t.Errorf("%q has %d books in its genre and counts %d", text, len(of[genres[0].ID]), counts[genres[0].ID])
		}
	})
}

func namesOf(books []*model.Book) []string {
	names := []string{}
	for _, b := range books {
		names = append(names, b.Name)
	}
	return names
}

// TestSearchMistyped looks what is forgiven, and what is not.
func TestSearchMistyped(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s) // The Hobbit by J. R. R. Tolkien
		program := other(t, url)
		// Words that are nearer than Tolkien's, but went with their last row.
		exec(t, program, `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id) VALUES ('Tolkeen Tolkeim', 'Tolkhein', 1, '2000-01-01', 0, $1)`, home.genre.ID)
		exec(t, program, `DELETE FROM books WHERE name = 'Tolkeen Tolkeim'`)
		exec(t, program, `UPDATE books SET description = 'Published 1937 in Dune, Łódź' WHERE id = $1`, home.book.ID)
		for text, want := range map[string]int{
			"tolkein":         1, // changed places
			"tolkin":          1, // missing
			"tolkienn":        1, // too much
			"tolkiem":         1, // another
			"dolkein":         1, // two, and the first letter
			"tlkenn":          0, // three
			"hobit":           1, // five letters: one
			"hobbt":           1,
			"hopit":           0, // two
			"dnue":            1,
			"dun":             1, // a beginning
			"dnu":             0,
			"teh hobbit":      1, // three letters: one
			"publishd hobbit": 1,
			"ldoz":            1,
			"1973":            0, // another year
			"tolkein 1937":    1,
			"tolkein 1938":    0,
			"jrr tolkien":     1,
			"jrt tolkien":     0,
		} {
			if n := len(foundBooks(t, s, text)); n != want {
				t.Errorf("%q finds %d books, want %d", text, n, want)
			}
		}
		// What is there as it is typed is not corrected.
		exec(t, program, `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id) VALUES ('Hobbits', 'Tolkein', 1, '2000-01-01', 0, $1)`, home.genre.ID)
		if diff := cmp.Diff([]string{"Hobbits"}, foundBooks(t, s, "tolkein")); diff != "" {
			t.Errorf("tolkein finds (-want +got):\n%s", diff)
		}
	})
}
