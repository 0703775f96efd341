package resolvers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// importing gives a catalogue over an empty database, and a context that may write.
func importing(t *testing.T, url string) (*resolvers.Resolver, context.Context) {
	t.Helper()
	store := catalogtest.Open(t, url)
	catalogue := resolvers.New(store)
	return catalogue, catalogue.WithSnapshot(model.WithCaller(t.Context(), model.Caller{Subject: "import"}))
}

var cellFields = []string{"name", "description", "pages", "published_at", "author", "price", "genre", "category", "isbn", "publisher", "language", "shelf_mark", "subtitle"}

// bookRow makes a row of a text "name|description|pages|published_at|author|price|genre|category".
// A cell "-" is not there.
func bookRow(text string) model.Form {
	form := model.Form{}
	for i, cell := range strings.Split(text, "|") {
		if cell != "-" {
			form[cellFields[i]] = model.Text(cell)
		}
	}
	return form
}

func bookRows(texts ...string) []model.Form {
	forms := make([]model.Form, len(texts))
	for i, text := range texts {
		forms[i] = bookRow(text)
	}
	return forms
}

// imported imports rows and gives what became of them: "1 0 2" is one created,
// none updated, two unchanged; then the bad ones.
func imported(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver, texts ...string) string {
	t.Helper()
	return importedBy(t, ctx, catalogue.ImportBooks, texts...)
}

// importedBy is imported by another import.
func importedBy(t *testing.T, ctx context.Context, importBooks func(context.Context, []model.Form) (*model.ImportResult, error), texts ...string) string {
	t.Helper()
	result, err := importBooks(ctx, bookRows(texts...))
	must(t, err)
	out := fmt.Sprint(result.Created, result.Updated, result.Unchanged)
	for _, rejected := range result.Rejected {
		out += fmt.Sprintf("\n%d:", rejected.Index)
		for _, p := range rejected.Problems {
			out += " " + p.Message
		}
	}
	return out
}

// contents lists all books as "version name|description|pages|…", in order of id,
// and gives the catalogue's revision.
func contents(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) (books []string, revision int64) {
	t.Helper()
	err := catalogue.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, at int64) error {
		revision = at
		size := model.MaxPageSize
		page, err := catalogue.Query().Books(ctx, &size, nil, nil, nil, nil, nil, nil, nil)
		if err != nil {
			return err
		}
		nodes, err := page.Nodes(ctx)
		if err != nil {
			return err
		}
		for _, b := range nodes {
			genre, err := catalogue.Book().Genre(ctx, b)
			if err != nil {
				return err
			}
			category, err := catalogue.Genre().Category(ctx, genre)
			if err != nil {
				return err
			}
			description := ""
			if b.Description != nil {
				description = *b.Description
			}
			books = append(books, fmt.Sprintf("%d %s|%s|%d|%v|%s|%v|%s|%s", b.Version,
				b.Name, description, b.Pages, b.PublishedAt, b.Author, b.Price, genre.Name, category.Name))
		}
		return nil
	})
	must(t, err)
	return books, revision
}

func expect[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestImportCreatesUpdatesAndLeavesAlone(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		dune := "Dune|Sand.|412|1965-08-01|Frank Herbert|9.99|Science Fiction|Fiction"
		emma := "Emma||474|1815-12-23|Jane Austen|7|Romance|Fiction"
		expect(t, "first", "2 0 0", imported(t, ctx, catalogue, dune, emma))
		_, revision := contents(t, ctx, catalogue)

		expect(t, "again", "0 0 2", imported(t, ctx, catalogue, dune, emma))
		books, same := contents(t, ctx, catalogue)
		expect(t, "books", []string{
			"1 Dune|Sand.|412|1965-08-01|Frank Herbert|9.99|Science Fiction|Fiction",
			"1 Emma||474|1815-12-23|Jane Austen|7.00|Romance|Fiction",
		}, books)
		expect(t, "revision", revision, same)

		expect(t, "changes", "1 2 1", imported(t, ctx, catalogue,
			"Dune|-|412|1965-08-01|Frank Herbert|10.99|Science Fiction|Classics", // a genre of that name in another category
			"Dune||1|2000-01-01|Another|1|Romance|Fiction",                       // the author is another
			" Emma |-|474|1815-12-23|\tJane Austen|7.00|Romance|-",               // spaces around are nothing
			"Emma|Matchmaking.|475|1815-12-24|Jane Austen|7.005|Drama|Poetry & Drama",
		))
		books, moved := contents(t, ctx, catalogue)
		expect(t, "books", []string{
			"2 Dune|Sand.|412|1965-08-01|Frank Herbert|10.99|Science Fiction|Classics",
			"2 Emma|Matchmaking.|475|1815-12-24|Jane Austen|7.01|Drama|Poetry & Drama",
			"1 Dune||1|2000-01-01|Another|1.00|Romance|Fiction",
		}, books)
		if moved <= revision {
			t.Errorf("the revision went from %d to %d", revision, moved)
		}

		expect(t, "an empty cell clears", "0 1 0", imported(t, ctx, catalogue, "Dune||412|1965-08-01|Frank Herbert|10.99|Science Fiction|Classics"))
		books, _ = contents(t, ctx, catalogue)
		expect(t, "Dune", "3 Dune||412|1965-08-01|Frank Herbert|10.99|Science Fiction|Classics", books[0])
	})
}

func TestImportOfTheSameBookTwice(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		first := "Dune|Sand.|412|1965-08-01|Frank Herbert|9.99|Science Fiction|Fiction"
		last := "Dune|-|500|1965-08-01|Frank Herbert|9.99|Science Fiction|Fiction"
		expect(t, "in one batch", "1 1 1", imported(t, ctx, catalogue, first, last, last))
		stored := []string{"1 Dune|Sand.|500|1965-08-01|Frank Herbert|9.99|Science Fiction|Fiction"}
		books, revision := contents(t, ctx, catalogue)
		expect(t, "books", stored, books)

		expect(t, "there and back", "0 2 0", imported(t, ctx, catalogue, first, last))
		books, same := contents(t, ctx, catalogue)
		expect(t, "books", stored, books)
		expect(t, "revision", revision, same)
	})
}

// TestImportOfDifferentBooks creates a book beside one of its name and author, and meets it again by its values.
func TestImportOfDifferentBooks(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		rows := bookRows("Emma|-|474|2000-01-01|Jane Austen|1|Novel|Fiction", "Emma|-|500|2010-01-01|Jane Austen|2|Novel|Fiction")
		rows[1][model.Apart] = model.Text("true")
		for _, want := range []model.ImportResult{{Created: 2}, {Unchanged: 2}} {
			for _, importBooks := range []func(context.Context, []model.Form) (*model.ImportResult, error){catalogue.PreviewImport(), catalogue.ImportBooks} {
				got, err := importBooks(ctx, rows)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(&want, got); diff != "" {
					t.Error(diff)
				}
			}
		}
	})
}

// TestImportOfAKeyStoredTwice: no rule keeps two books from having the same name
// and author. An import does not guess which one a row means.
func TestImportOfAKeyStoredTwice(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		imported(t, ctx, catalogue, "Poems||10|1900-01-01|Anon|1|Poetry|Fiction")
		if _, err := catalogue.Mutation().CreateBook(ctx, model.CreateBookInput{
			Name: "Poems", Author: "Anon", Pages: 20, PublishedAt: model.Date{Year: 1900, Month: 1, Day: 1}, GenreID: 1,
		}); err != nil {
			t.Fatal(err)
		}
		expect(t, "update", "0 0 0\n0: 2 books match: give the ISBN or the shelf mark that tells them apart.", imported(t, ctx, catalogue, "Poems||11|1900-01-01|Anon|1|Poetry|Fiction"))
		expect(t, "as they are", "0 0 2", imported(t, ctx, catalogue, "Poems||20|1900-01-01|Anon|0|Poetry|Fiction", "Poems||10|1900-01-01|Anon|1|Poetry|Fiction"))
		books, _ := contents(t, ctx, catalogue)
		expect(t, "books", []string{"1 Poems||10|1900-01-01|Anon|1.00|Poetry|Fiction", "1 Poems||20|1900-01-01|Anon|0.00|Poetry|Fiction"}, books)
	})
}

// TestImportMeetsAgain: one book, genre or category in other spellings is the same one, and takes the file's spelling if
// it is a book. Of several stored ones the row means that of its own spelling.
func TestImportMeetsAgain(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		expect(t, "first", "3 0 0", imported(t, ctx, catalogue,
			"Café Society||10|2000-01-01|Zoë Reed|1|Poésie|Fiction",
			"The Hobbit||310|1937-09-21|Tolkien, J. R. R.|1|Fantasy|Fiction",
			"Öl||10|2000-01-01|X|1|Poésie|Fiction",
		))
		expect(t, "again", "1 2 0", imported(t, ctx, catalogue,
			"Cafe\u0301\u00a0society||12|2000-01-01|Zoe\u0308 REED|1|POÉSIE|fiction",
			"THE HOBBIT||310|1937-09-21|J. R. R. Tolkien|1|fantasy |-",
			"Ol||10|2000-01-01|X|1|Poe\u0301sie|Fiction",
		))
		books, _ := contents(t, ctx, catalogue)
		expect(t, "books", []string{
			"2 Café\u00a0society||12|2000-01-01|Zoë REED|1.00|Poésie|Fiction",
			"2 THE HOBBIT||310|1937-09-21|J. R. R. Tolkien|1.00|Fantasy|Fiction",
			"1 Öl||10|2000-01-01|X|1.00|Poésie|Fiction",
			"1 Ol||10|2000-01-01|X|1.00|Poésie|Fiction",
		}, books)
		for _, input := range []model.CreateCategoryInput{{Name: "FICTION"}, {Name: "Press"}} {
			_, err := catalogue.Mutation().CreateCategory(ctx, input)
			must(t, err)
		}
		for _, input := range []model.CreateGenreInput{{Name: "FANTASY", CategoryID: 1}, {Name: "fantasy", CategoryID: 2}} {
			_, err := catalogue.Mutation().CreateGenre(ctx, input)
			must(t, err)
		}
		_, err := catalogue.Mutation().CreateBook(ctx, model.CreateBookInput{
			Name: "The hobbit", Author: "J. R. R. Tolkien", Pages: 20, PublishedAt: model.Date{Year: 1900, Month: 1, Day: 1}, GenreID: 4,
		})
		must(t, err)
		expect(t, "each by its spelling", "1 1 1\n2: 2 books match: give the ISBN or the shelf mark that tells them apart.", imported(t, ctx, catalogue,
			"The hobbit||21|1900-01-01|J. R. R. Tolkien|0|fantasy|FICTION",
			"THE HOBBIT||310|1937-09-21|J. R. R. Tolkien|1|Fantasy|Fiction",
			"the hobbit||311|1937-09-21|Tolkien, J. R. R.|1|Fantasy|Fiction", // which?
			"New||1|2000-01-01|X|1|FANTASY|Fiction",
		))
		books, _ = contents(t, ctx, catalogue)
		expect(t, "books", []string{
			"2 THE HOBBIT||310|1937-09-21|J. R. R. Tolkien|1.00|Fantasy|Fiction",
			"2 The hobbit||21|1900-01-01|J. R. R. Tolkien|0.00|fantasy|FICTION",
			"1 New||1|2000-01-01|X|1.00|FANTASY|Fiction",
		}, slices.Concat(books[1:2], books[4:]))
	})
}

// TestImportMeetsSubtitles: a book is the same one with its subtitle in the name, apart, or left out. It keeps a name and a
// subtitle that a row joins.
func TestImportMeetsSubtitles(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		row := func(name, subtitle, pages string) string {
			return name + "||" + pages + "|2000-01-01|X|1|G|C|-|-|-|-|" + subtitle
		}
		expect(t, "first", "3 0 0", imported(t, ctx, catalogue, row("A: B: C", "-", "1"), row("D", "E", "1"), row("D", "F", "1")))
		for _, again := range [][]string{
			{"apart", "0 1 0", row("a", "B: C", "2")}, {"joined", "0 1 0", row("A: b: C", "-", "3")}, {"the same", "0 0 1", row("a", "B: C", "3")},
			{"left out", "0 1 0", row("A", "-", "4")}, {"cleared", "0 1 0", row("A: B: C", "", "4")}, {"at the last colon", "0 1 0", row("A: B", "C", "4")},
			{"another", "1 0 0", row("A", "D", "4")}, {"one of two", "0 1 0", row("D: F", "-", "5")}, {"which", "0 0 0\n0: 2 books match: give the ISBN or the shelf mark that tells them apart.", row("D", "-", "5")},
			{"in one import", "1 1 0", row("G: H", "-", "1"), row("G", "H", "2")},
		} {
			expect(t, again[0], again[1], imported(t, ctx, catalogue, again[2:]...))
		}
		var got []string
		must(t, catalogue.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, _ int64) error {
			page, err := catalogue.Query().Books(ctx, nil, nil, nil, nil, nil, nil, nil, nil)
			must(t, err)
			nodes, err := page.Nodes(ctx)
			for _, b := range nodes {
				got = append(got, fmt.Sprint(b.Name, "|", *b.Subtitle, "|", b.Pages))
			}
			return err
		}))
		expect(t, "books", []string{"A: B|C|4", "D|E|1", "D|F|5", "A|D|4", "G|H|2"}, got)

		in := model.CreateBookInput{Name: "D: e", Author: "X", Pages: 9, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, GenreID: 1}
		payload, err := catalogue.Mutation().UpsertBook(ctx, model.UpsertBookInput{CreateBookInput: in})
		must(t, err)
		if b := payload.Row; b.ID != 2 || b.Name != "D" || *b.Subtitle != "E" || b.Pages != 9 {
			t.Errorf("upsertBook changed %+v", b)
		}
	})
}

// TestImportKeepsStored: a default does not replace a value of a stored book, and a default category is for new genres.
func TestImportKeepsStored(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		expect(t, "stored", "1 0 0", imported(t, ctx, catalogue, "Emma||100|1815-12-23|Jane Austen|7|Novel|Fiction"))
		withDefaults := func(fields string, texts ...string) string {
			return importedBy(t, ctx, func(ctx context.Context, forms []model.Form) (*model.ImportResult, error) {
				for _, form := range forms {
					form[model.StandIns] = model.Text(fields)
				}
				return catalogue.ImportBooks(ctx, forms)
			}, texts...)
		}
		expect(t, "all defaults", "0 0 1", withDefaults("pages price genre category", "Emma||1|1815-12-23|Jane Austen|0|Unsorted|Unknown"))
		expect(t, "a known genre", "1 1 0", withDefaults("price category", "Emma||99|1815-12-23|Jane Austen|0|Novel|Unknown", "New||1|2000-01-01|X|0|Novel|Unknown"))
		books, _ := contents(t, ctx, catalogue)
		expect(t, "books", []string{"2 Emma||99|1815-12-23|Jane Austen|7.00|Novel|Fiction", "1 New||1|2000-01-01|X|0.00|Novel|Fiction"}, books)
	})
}

// TestImportOfEditions: an ISBN tells editions apart and a shelf mark copies, and a row without one means the book that has
// its name and author, if there is one.
func TestImportOfEditions(t *testing.T) {
	rest := "|1|2000-01-01|Jane Austen|1|Novel|Fiction"
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		const first, second = "978-0-306-40615-7", "316148410X"
		expect(t, "two editions, two copies", "4 0 0", imported(t, ctx, catalogue,
			"Emma|"+rest+"|"+first, "Emma|"+rest+"|"+second+"|||A 1", "Emma|"+rest+"|"+second+"|||A 2", "Emma|"+"|1|2000-01-01|Another|1|Novel|Fiction"))
		expect(t, "again", "0 0 4", imported(t, ctx, catalogue,
			"Emma|"+rest+"|0306406152", "Emma|"+rest+"|"+second+"|||A 2", "Emma|"+rest+"|"+second+"|||A 1", "Emma|"+"|1|2000-01-01|Another|1|Novel|Fiction"))
		expect(t, "by ISBN, whoever the author is", "0 1 0", imported(t, ctx, catalogue, "Emma|d|1|2000-01-01|Austen (ed. Smith)|1|Novel|Fiction|"+first))
		expect(t, "no ISBN", "0 0 0\n0: 2 books match: give the ISBN or the shelf mark that tells them apart.", imported(t, ctx, catalogue, "Emma|d|2|2000-01-01|Jane Austen|1|Novel|Fiction"))
		expect(t, "a shelf mark", "0 1 0", imported(t, ctx, catalogue, "Emma|d|2|2000-01-01|Jane Austen|1|Novel|Fiction||||A 2"))
		expect(t, "an ISBN for a book without one", "0 1 0", imported(t, ctx, catalogue, "Emma|d|1|2000-01-01|Another|1|Novel|Fiction|9791090636071"))
		expect(t, "one ISBN, another name", "1 0 0", imported(t, ctx, catalogue, "Persuasion|"+rest+"|"+first))
	})
}

func TestImportFindsGenresByName(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		expect(t, "first", "2 0 0", imported(t, ctx, catalogue,
			"A||1|2000-01-01|X|1|Humour|Fiction",
			"B||1|2000-01-01|X|1|Humour|Non-fiction",
		))
		expect(t, "without a category", "1 0 2", imported(t, ctx, catalogue,
			"A||1|2000-01-01|X|1|Humour|-",
			"B||1|2000-01-01|X|1|Humour|", // stays where it is
			"C||1|2000-01-01|X|1|Humour|", // goes to the first
		))
		expect(t, "unknown without a category", "1 0 0\n0: The category field is required to create the genre 100%s.", imported(t, ctx, catalogue,
			"D||1|2000-01-01|X|1|100%s|",
			"D||1|2000-01-01|X|1|100%s|Fiction",
		))
		expect(t, "known by now", "1 0 0", imported(t, ctx, catalogue, "E||1|2000-01-01|X|1|100%s|"))
		books, _ := contents(t, ctx, catalogue)
		expect(t, "books", []string{
			"1 A||1|2000-01-01|X|1.00|Humour|Fiction",
			"1 B||1|2000-01-01|X|1.00|Humour|Non-fiction",
			"1 C||1|2000-01-01|X|1.00|Humour|Fiction",
			"1 D||1|2000-01-01|X|1.00|100%s|Fiction",
			"1 E||1|2000-01-01|X|1.00|100%s|Fiction",
		}, books)
		categories, err := catalogue.Query().Categories(ctx, nil, nil, nil, nil, nil, nil, nil, nil)
		must(t, err)
		total, err := categories.TotalCount(ctx)
		must(t, err)
		expect(t, "categories", 2, total)
	})
}

func TestImportLeavesBadRowsOut(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		expect(t, "result", "2 0 0"+
			"\n0: The name field is required. The price field must be a number."+
			"\n2: The genre field is required."+
			"\n3: The published at field must be a valid date. The author field must be valid UTF-8 without NUL characters."+
			"\n4: The category field must not be greater than 1000 characters.",
			imported(t, ctx, catalogue,
				" ||1|2000-01-01|X|Free|Made for nothing|Fiction",
				"Good||1|2000-01-01|X|1|Humour|Fiction",
				"No genre||1|2000-01-01|X|1||Fiction",
				"No day||1|2000-11-31|\xff|1|Humour|Fiction",
				"Long||1|2000-01-01|X|1|Humour|"+strings.Repeat("é", 1001),
				"Good too||1|2000-01-01|X|1|Humour|Fiction",
			))
		books, _ := contents(t, ctx, catalogue)
		expect(t, "books", []string{"1 Good||1|2000-01-01|X|1.00|Humour|Fiction", "1 Good too||1|2000-01-01|X|1.00|Humour|Fiction"}, books)
		genres, err := catalogue.Query().Genres(ctx, nil, nil, nil, nil, nil, nil, nil, nil)
		must(t, err)
		nodes, err := genres.Nodes(ctx)
		must(t, err)
		expect(t, "genres: none for a bad row", 1, len(nodes))
	})
}

func TestImportNeedsACaller(t *testing.T) {
	t.Parallel()
	catalogue, _ := importing(t, catalogtest.SQLite(t))
	ctx := catalogue.WithSnapshot(t.Context())
	if _, err := catalogue.ImportBooks(ctx, nil); !model.IsCode(err, model.Unauthenticated) {
		t.Errorf("ImportBooks: %v", err)
	}
	if err := catalogue.Atomically(ctx, func(context.Context) error { return nil }); !model.IsCode(err, model.Unauthenticated) {
		t.Errorf("Atomically: %v", err)
	}
}

// TestPreviewImport: a preview says of each part of a file what an import then does, and
// stores nothing.
func TestPreviewImport(t *testing.T) {
	t.Parallel()
	parts := [][]string{
		{"A||2|2000-01-01|X|1|Humour|Fiction", "B||1|2000-01-01|X|1|Drama|Theatre", "B||1|2000-01-01|X|1|Drama|Theatre"},
		{"B||1|2000-01-01|X|1|Drama|Theatre", "C||1|2000-01-01|X|1|Drama|-", "D||1|2000-01-01|X|1|Satire|Theatre", "E||1|2000-01-01|X|1|Other|-", "F||0|2000-01-01|X|1|Drama|-"},
		{"D||1|2000-01-01|X|1|Satire|-"},
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		catalogue, ctx := importing(t, url)
		imported(t, ctx, catalogue, "A||1|2000-01-01|X|1|Humour|Fiction")
		before, revision := contents(t, ctx, catalogue)
		preview := catalogue.PreviewImport()
		var previewed []string
		for _, part := range parts {
			previewed = append(previewed, importedBy(t, ctx, preview, part...))
		}
		after, same := contents(t, ctx, catalogue)
		expect(t, "books", before, after)
		expect(t, "revision", revision, same)
		for i, part := range parts {
			expect(t, fmt.Sprintf("part %d", i), imported(t, ctx, catalogue, part...), previewed[i])
		}
		expect(t, "part 0", "1 1 1", previewed[0])
	})
	catalogue, _ := importing(t, dbtest.SQLite(t))
	if _, err := catalogue.PreviewImport()(t.Context(), nil); !model.IsCode(err, model.Unauthenticated) {
		t.Errorf("without a token: %v", err)
	}
}

// TestPreviewChanges: a preview has the old and the new values of each stored book that a row would change, also of one that an
// earlier part would change, and counts new books whose name is stored with other authors only.
func TestPreviewChanges(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		imported(t, ctx, catalogue, "A|Old text|1|2000-01-01|X|1|Humour|Fiction|9780192553355", "B||1|2000-01-01|X|1|Drama|Theatre", "Plays||1|2000-01-01|Jane Doe|1|Drama|Theatre")
		preview := catalogue.PreviewImport()
		const rows = "A|New text|2|2000-01-01|X|1|Satire|Fiction|-;B||1|2000-01-01|X|1|Drama|Theatre;Plays||1|2000-01-01|Roe, Richard|1|Drama|Theatre;" +
			"plays||1|2000-01-01|Doe, Jane|2|Drama|Theatre;New||1|2000-01-01|X|1|Drama|Theatre"
		field := func(name, before, after string) model.FieldChange {
			return model.FieldChange{Field: name, Old: before, New: after}
		}
		for i, part := range []struct {
			rows      string
			namesakes int
			want      []model.BookChange
		}{
			{rows, 1, []model.BookChange{
				{Index: 0, ID: 1, Name: "A", Fields: []model.FieldChange{field("description", "Old text", "New text"), field("pages", "1", "2"), field("genre", "Humour", "Satire")}},
				{Index: 3, ID: 3, Name: "Plays", Fields: []model.FieldChange{field("name", "Plays", "plays"), field("author", "Jane Doe", "Doe, Jane"), field("price", "1.00", "2.00")}},
			}},
			{"A|Old text|1|2000-01-01|X|3|Humour|Fiction|-", 0, []model.BookChange{{Index: 0, ID: 1, Name: "A", Fields: []model.FieldChange{field("price", "1.00", "3.00")}}}},
		} {
			result, err := preview(ctx, bookRows(strings.Split(part.rows, ";")...))
			must(t, err)
			expect(t, fmt.Sprintf("part %d", i), result.Changes, part.want)
			expect(t, fmt.Sprintf("namesakes of part %d", i), result.Namesakes, part.namesakes)
		}
	})
}

func TestImportAtomically(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		_, revision := contents(t, ctx, catalogue)
		enough := fmt.Errorf("enough")
		err := catalogue.Atomically(ctx, func(ctx context.Context) error {
			expect(t, "first", "1 0 0", imported(t, ctx, catalogue, "A||1|2000-01-01|X|1|Humour|Fiction"))
			expect(t, "second sees the first", "1 0 1", imported(t, ctx, catalogue,
				"A||1|2000-01-01|X|1|Humour|Fiction", "B||1|2000-01-01|X|1|Drama|Fiction"))
			return enough
		})
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
		books, same := contents(t, ctx, catalogue)
		expect(t, "books", nil, books)
		expect(t, "revision", revision, same)
	})
}

// TestImportCostsFewStatements: what an import costs grows with its batches, not
// with its rows.
func TestImportCostsFewStatements(t *testing.T) {
	onImporting(t, func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver) {
		for pages := range 3 { // creates, changes, and finds the same
			var texts []string
			for n := range 500 {
				texts = append(texts, fmt.Sprintf("Book %d||%d|2000-01-01|X|1|Genre|Fiction", n, min(pages, 1)+1))
			}
			counted, stats := stats.With(ctx)
			imported(t, counted, catalogue, texts...)
			if got := stats.Statements(); got > 20 {
				t.Errorf("import %d: %d statements", pages, got)
			}
		}
	})
}

// TestImportsAtOnce imports files with the same books at once, over two stores as
// two processes have them, while others write descriptions through the API.
func TestImportsAtOnce(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		const books, batch, described = 300, 50, 60
		first, ctx := importing(t, url)
		second, _ := importing(t, url)
		text := func(n, pages int) string {
			return fmt.Sprintf("Book %03d|-|%d|2000-01-01|X|1|Genre %d|Fiction", n, pages, n%7)
		}
		var wanted []string
		for n := range books {
			description := ""
			if n < described {
				imported(t, ctx, first, text(n, 1))
				description = "Kept."
			}
			wanted = append(wanted, fmt.Sprintf("Book %03d|%s|2|2000-01-01|X|1.00|Genre %d|Fiction", n, description, n%7))
		}
		var group sync.WaitGroup
		for file := range 4 {
			group.Go(func() {
				catalogue := []*resolvers.Resolver{first, second}[file%2]
				ctx := catalogue.WithSnapshot(ctx)
				for start := range books / batch {
					var texts []string
					for n := range batch {
						texts = append(texts, text((start*batch+n+file*75)%books, 2))
					}
					if file > 1 {
						slices.Reverse(texts)
					}
					if _, err := catalogue.ImportBooks(ctx, bookRows(texts...)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Go(func() {
			ctx := second.WithSnapshot(ctx)
			for id := model.ID(1); id <= described; id++ {
				patch := &model.BookPatch{Description: graphql.OmittableOf(new("Kept."))}
				if _, err := second.Mutation().UpdateBook(ctx, model.UpdateBookInput{ID: id, Patch: patch}); err != nil {
					t.Error(err)
				}
			}
		})
		group.Wait()
		listed, _ := contents(t, ctx, first)
		for i, book := range listed {
			_, listed[i], _ = strings.Cut(book, " ") // without the version
		}
		slices.Sort(listed)
		expect(t, "each book once, with what each wrote", wanted, listed)
	})
}

// onImporting runs a parallel test on each engine, with what importing returns.
func onImporting(t *testing.T, run func(t *testing.T, ctx context.Context, catalogue *resolvers.Resolver)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		catalogue, ctx := importing(t, url)
		run(t, ctx, catalogue)
	})
}
