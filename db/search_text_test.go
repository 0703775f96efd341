package db_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// TestSearchOddText searches for what is syntax somewhere: it stands for itself,
// or for nothing, or it is refused by name.
func TestSearchOddText(t *testing.T) {
	t.Parallel()
	odd := []string{
		`'; DROP TABLE books; --`, `%`, `_`, `\`, `"`, `*`, `hob*`, `"hobbit"`, `NEAR(hobbit tolkien)`, `hobbit AND tolkien`, `hobbit OR emma`, `NOT hobbit`,
		`name : hobbit`, `{name} : hobbit`, `^hobbit`, `hobbit + the`, `-hobbit`, `hobbit & !tolkien`, `hobbit | (tolkien`, `hobbit:*`, `hobbit:A`, `hobbit <-> the`,
		`'hobbit'`, `''`, `$1`, `$$`, `?`, `:x`, "a\tb\nc", "\u0085\u1680\u2028\uFEFF", "😀", "\uFFFD", "\U0010FFFF", "ﷺ", "\u0301", "İ", "9223372036854775808", "1e400", "NaN",
		strings.Repeat("a", 200), strings.Repeat("\U00020000", 32), strings.Repeat("é", 200), strings.Repeat("ab ", 32), strings.Repeat("abcdef ", 28),
	}
	for _, text := range []string{"a\x00b", "\xed\xa0\x80", "\xff", strings.Repeat("a", 201), strings.Repeat("a", 20_000), strings.Repeat("a ", 33), strings.Repeat("word ", 1000)} {
		_, err := model.PageArgs{Search: &text}.Page("Book")
		wantCode(t, err, model.BadUserInput, "The search argument must")
		if e, ok := errors.AsType[*model.Error](err); !ok || len(e.Fields) != 1 || e.Fields[0].Field != "search" {
			t.Errorf("the error is about %v, want search", e.Fields)
		}
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		newShelf(t, s)
		for _, text := range odd {
			page := searchPage(t, "Book", text)
			books, err := s.Unchecked(t.Context()).Books.Page(t.Context(), page)
			n, err2 := s.Unchecked(t.Context()).Books.Count(t.Context(), page.Selection)
			if err != nil || err2 != nil || n != len(books) {
				t.Errorf("%q finds %d books (%v), counted %d (%v)", text, len(books), err, n, err2)
			}
			if words := collate.Words(text); page.Search != "" && len(words) == 0 && n > 0 {
				t.Errorf("%q has no words and finds %d books", text, n)
			}
		}
		for text, want := range map[string]int{`hobbit AND tolkien`: 0, `hob*`: 1, `"hobbit"`: 1, `-hobbit`: 1, `NOT hobbit`: 0, " ": 1, "": 1} {
			if n := len(foundBooks(t, s, text)); n != want {
				t.Errorf("%q finds %d books, want %d", text, n, want)
			}
		}
		for _, text := range odd {
			in := newBook(text+"x", 1)
			in.Author = text + "y"
			in.Description = graphql.OmittableOf(&text)
			if _, err := s.Books.Create(t.Context(), in); err != nil {
				t.Errorf("a book named %q: %v", text, err)
			}
		}
		long := strings.Repeat("é", 20_000)
		in := newBook(strings.Repeat("n", 1000), 1)
		in.Description = graphql.OmittableOf(&long)
		must[*model.Book](t)(s.Books.Create(t.Context(), in))
		for text, want := range map[string]int{strings.Repeat("n", 200): 1, strings.Repeat("e", 200): 2} {
			if n := len(foundBooks(t, s, text)); n != want {
				t.Errorf("%d characters find %d books, want %d", len(text), n, want)
			}
		}
	})
}

// TestSearchWithoutTrigrams starts as a user of PostgreSQL who may not install
// pg_trgm: everything works but the correction of mistyped words, and the log
// says why. When somebody has installed it, the next migration puts that right.
func TestSearchWithoutTrigrams(t *testing.T) {
	t.Parallel()
	address := dbtest.Postgres(t)
	admin := other(t, address)
	u := must[*url.URL](t)(url.Parse(address))
	role := strings.TrimPrefix(u.Path, "/") + "_user"
	exec(t, admin, `CREATE ROLE `+role+` LOGIN PASSWORD 'limited'`)
	t.Cleanup(func() {
		if _, err := admin.Exec(`DROP OWNED BY ` + role + ` CASCADE; DROP ROLE ` + role); err != nil {
			t.Error(err)
		}
	})
	exec(t, admin, `GRANT USAGE, CREATE ON SCHEMA public TO `+role)
	query := u.Query()
	query.Set("user", role)
	query.Set("password", "limited")
	u.User, u.RawQuery = nil, query.Encode()

	var log bytes.Buffer
	openMigrated := func() *db.Store {
		s := openWith(t, u.String(), db.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		check(t, s.Migrate(t.Context()))
		return s
	}
	s := openMigrated()
	if n := strings.Count(log.String(), "pg_trgm"); n == 0 || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log says nothing of pg_trgm:\n%s", &log)
	}
	newShelf(t, s)
	for text, want := range map[string]int{"hobbit": 1, "tolk hob": 1, "hobit": 0} {
		if n := len(foundBooks(t, s, text)); n != want {
			t.Errorf("without pg_trgm %q finds %d books, want %d", text, n, want)
		}
	}

	exec(t, admin, `CREATE EXTENSION pg_trgm`)
	log.Reset()
	s = openMigrated()
	if log.Len() > 0 {
		t.Errorf("with pg_trgm the log says:\n%s", &log)
	}
	if n := len(foundBooks(t, s, "hobit")); n != 1 {
		t.Errorf("with pg_trgm hobit finds %d books, want 1", n)
	}
}
