package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// member is a member of an archive.
type member struct{ name, text string }

// pack makes an archive of members.
func pack(t *testing.T, members []member) []byte {
	t.Helper()
	var out bytes.Buffer
	packed, err := zstd.NewWriter(&out)
	must(t, err)
	w := tar.NewWriter(packed)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Size: int64(len(m.text)), Mode: 0o644}
		if strings.HasSuffix(m.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		must(t, w.WriteHeader(header))
		if _, err := io.WriteString(w, m.text); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Close())
	must(t, packed.Close())
	return out.Bytes()
}

// unpack returns the members of an archive.
func unpack(t *testing.T, data []byte) (members []member) {
	t.Helper()
	packed, err := zstd.NewReader(bytes.NewReader(data))
	must(t, err)
	defer packed.Close()
	for r := tar.NewReader(packed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return members
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		must(t, err)
		members = append(members, member{header.Name, string(text)})
	}
}

// changed returns members in which old is new in the member with a name.
func changed(t *testing.T, members []member, name, old, new string) []member {
	t.Helper()
	members = slices.Clone(members)
	for i, m := range members {
		if m.name == name {
			if !strings.Contains(m.text, old) {
				t.Fatalf("%s has no %s: %s", name, old, m.text)
			}
			members[i].text = strings.ReplaceAll(m.text, old, new)
			return members
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// sealed returns members with the manifest that belongs to them.
func sealed(t *testing.T, members []member) []member {
	t.Helper()
	manifest := archive.Manifest{}
	for _, table := range []string{"categories", "genres", "books"} {
		var all string
		for _, m := range members {
			if strings.HasPrefix(m.name, table+"/") {
				all += m.text
			}
		}
		manifest[table] = archive.Content{Rows: strings.Count(all, "\n"), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(all)))}
	}
	text, err := json.Marshal(manifest)
	must(t, err)
	members = slices.Clone(members)
	members[len(members)-1] = member{"manifest.json", string(text) + "\n"}
	return members
}

// smallCatalogue makes a catalogue of a category, a genre and two books.
func smallCatalogue(t *testing.T, s *db.Store) {
	t.Helper()
	at := model.Timestamp(0)
	description := "of a book"
	day := model.Date{Year: 2001, Month: 2, Day: 3}
	err := s.Restore(t.Context(), func(ctx context.Context) error {
		if err := s.Categories.Restore(ctx, model.CategoryFields, []*model.Category{{ID: 3, Version: 1, Name: "category", CreatedAt: at, UpdatedAt: at}}); err != nil {
			return err
		}
		if err := s.Genres.Restore(ctx, model.GenreFields, []*model.Genre{{ID: 4, Version: 1, Name: "genre", CategoryID: 3, CreatedAt: at, UpdatedAt: at}}); err != nil {
			return err
		}
		return s.Books.Restore(ctx, model.BookFields, []*model.Book{
			{ID: 5, Version: 6, Name: "first", Description: &description, Pages: 7, PublishedAt: day, Author: "author", Price: 899, GenreID: 4, CreatedAt: at, UpdatedAt: at},
			{ID: 8, Version: 9, Name: "second", Pages: 7, PublishedAt: day, Author: "author", Price: 899, GenreID: 4, CreatedAt: at, UpdatedAt: at},
		})
	})
	must(t, err)
}

const (
	categoriesPart = "categories/000001.jsonl"
	genresPart     = "genres/000001.jsonl"
	booksPart      = "books/000001.jsonl"
)

// TestFormat holds the format to what docs/archive.md says: programs of others read it,
// and archives are kept for years.
func TestFormat(t *testing.T) {
	t.Parallel()
	s := catalogtest.Open(t, catalogtest.SQLite(t))
	smallCatalogue(t, s)
	members := unpack(t, export(t, s))
	var text strings.Builder
	for _, m := range members[:len(members)-1] {
		fmt.Fprintf(&text, "%s\n%s", m.name, m.text)
	}
	dbtest.Golden(t, "testdata/format.golden", text.String())
	if want := sealed(t, members); !slices.Equal(members, want) {
		t.Errorf("the members are %q, want %q", members, want)
	}
}

// TestRefused: what is no whole archive is refused with a sentence, and nothing of it is
// stored.
func TestRefused(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		none := export(t, s)
		source := catalogtest.Open(t, catalogtest.SQLite(t))
		smallCatalogue(t, source)
		whole := export(t, source)
		members := unpack(t, whole)
		refused := func(name string, data []byte, want string) {
			t.Helper()
			_, err := archive.Restore(t.Context(), s, bytes.NewReader(data))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%s: the error is %v, want %q", name, err, want)
			}
			if !bytes.Equal(export(t, s), none) {
				t.Fatalf("%s: something was stored", name)
			}
		}
		refused("nothing", nil, "this is not a catalogue archive")
		refused("text", []byte("name,author\nDune,Frank Herbert\n"), "this is not a catalogue archive")
		refused("another tar", pack(t, []member{{"readme.txt", "hello"}}), "this is not a catalogue archive")
		refused("another format", pack(t, changed(t, members, "format.json", "library-catalogue", "library")), "this is not a catalogue archive")
		refused("newer", pack(t, changed(t, members, "format.json", `"format":1`, `"fields":7,"format":2`)),
			"the archive has format 2, and this program reads up to 1: use a newer program")

		for _, test := range []struct {
			name    string
			members []member
			want    string
		}{
			{"no manifest", members[:4], "the archive is incomplete"},
			{"no books", slices.Delete(slices.Clone(members), 3, 4), "the archive is damaged: it has 0 books, expected 2"},
			{"another text", changed(t, members, booksPart, "first", "other"), "the archive is damaged: it has books with SHA-256"},
			{"another manifest", changed(t, members, "manifest.json", `"rows":2`, `"rows":3`), "the archive is damaged: it has 2 books, expected 3"},
			{"a manifest of nothing", changed(t, members, "manifest.json", "categories", "shelves"), "the archive is damaged: it has 1 categories, expected 0"},
			{"an order of its own", append(slices.Clone(members[:1]), members[2], members[1], members[3], members[4]), "genres 4 to 4: "},
			{"a part is missing", append(slices.Clone(members[:3]), member{"books/000002.jsonl", members[3].text}, members[4]), `the member "books/000002.jsonl" is out of order`},
			{"a stranger", slices.Insert(slices.Clone(members), 1, member{"notes.txt", "hello"}), `the archive is damaged: the member "notes.txt" is out of order`},
			{"a folder", slices.Insert(slices.Clone(members), 1, member{"books/", ""}), `the archive is damaged: the member "books/" is not a file`},
			{"more at the end", append(slices.Clone(members), member{"notes.txt", "hello"}), "the archive is damaged: data follows the manifest"},
			{"an unfinished line", sealed(t, changed(t, members, booksPart, "\"}\n", "\"}")), "the archive is incomplete"},
			{"no JSON", sealed(t, changed(t, members, booksPart, `{"id":8`, `{"id"`)), "books/000001.jsonl, line 2: "},
			{"space", sealed(t, changed(t, members, booksPart, `"id":8,`, `"id":8, `)), "books/000001.jsonl, line 2: the row is not in the form of archive create"},
			{"another field", sealed(t, changed(t, members, booksPart, `"id":8,`, `"id":8,"isbn":1,`)), "books/000001.jsonl, line 2: the row is not in the form of archive create"},
			{"a field is missing", sealed(t, changed(t, members, booksPart, `"pages":7,`, ``)), "books/000001.jsonl, line 1: The pages field must be an integer."},
			{"a wrong moment", sealed(t, changed(t, members, genresPart, "1970-01-01T00", "1970-01-01T24")), "genres/000001.jsonl, line 1: The created_at field must be a moment like 2006-01-02T15:04:05.000000Z."},
			{"no order", sealed(t, changed(t, members, booksPart, `"id":8`, `"id":5`)), "books/000001.jsonl, line 2: the id 5 does not come after 5"},
			{"a long line", sealed(t, changed(t, members, booksPart, `"second"`, `"`+strings.Repeat("x", 1<<20)+`"`)), "books/000001.jsonl, line 2: longer than 1048576 bytes"},
			{"an unknown field", changed(t, members, "format.json", `"pages"`, `"isbn"`), `the archive has the unknown or repeated field "isbn" of books: use a newer program`},
			{"a field twice", changed(t, members, "format.json", `"pages"`, `"name"`), `the archive has the unknown or repeated field "name" of books`},
			{"no ids", changed(t, members, "format.json", `"id",`, ``), "the categories of the archive lack the field id"},
			{"no genre", sealed(t, changed(t, members, booksPart, `"genre_id":4`, `"genre_id":5`)), "books 5 to 8: "},
			{"a negative price", sealed(t, changed(t, members, booksPart, `"8.99"`, `"-8.99"`)), "books 5 to 8: "},
		} {
			refused(test.name, pack(t, test.members), test.want)
		}
		for n := range len(whole) {
			if n%7 == 0 {
				refused(fmt.Sprintf("%d of %d bytes", n, len(whole)), whole[:n], "archive")
			}
		}
		if _, err := archive.Restore(t.Context(), s, bytes.NewReader(whole)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(export(t, s), whole) {
			t.Error("the whole archive is not restored")
		}
	})
}

// TestFlippedBits: a byte that is not what it was is found, unless it changes nothing.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	source := catalogtest.Open(t, catalogtest.SQLite(t))
	smallCatalogue(t, source)
	whole := export(t, source)
	want, err := archive.Check(t.Context(), bytes.NewReader(whole))
	must(t, err)
	for i := range whole {
		for _, bit := range []byte{1, 16, 128} {
			spoilt := slices.Clone(whole)
			spoilt[i] ^= bit
			if got, err := archive.Check(t.Context(), bytes.NewReader(spoilt)); err == nil && got.String() != want.String() {
				t.Errorf("byte %d is another, and the archive is read as %v", i, got)
			}
		}
	}
}

// TestOlder: an archive of a program that knew fewer fields is restored; the database
// sets the others.
func TestOlder(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		source := catalogtest.Open(t, catalogtest.SQLite(t))
		smallCatalogue(t, source)
		members := unpack(t, export(t, source))
		members = changed(t, members, "format.json", `"version",`, "")
		members = changed(t, members, "format.json", `"description",`, "")
		for _, name := range []string{categoriesPart, genresPart} {
			members = changed(t, members, name, `"version":1,`, "")
			members = changed(t, members, name, `"description":null,`, "")
		}
		members = changed(t, members, booksPart, `"version":6,`, "")
		members = changed(t, members, booksPart, `"version":9,`, "")
		members = changed(t, members, booksPart, `"description":"of a book",`, "")
		members = changed(t, members, booksPart, `"description":null,`, "")
		if _, err := archive.Restore(t.Context(), s, bytes.NewReader(pack(t, sealed(t, members)))); err != nil {
			t.Fatal(err)
		}
		books, err := s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{5})
		if err != nil || len(books) != 1 || books[0].Name != "first" || books[0].Version != 1 || books[0].Description != nil {
			t.Errorf("restored %+v, %v", books, err)
		}
		if n, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Search: "first"}); n != 1 || err != nil {
			t.Errorf("a search finds %d, %v", n, err)
		}
	})
}
