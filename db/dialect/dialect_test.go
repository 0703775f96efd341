package dialect_test

import (
	"database/sql"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// each runs a test on each engine, with a table of one book.
func each(t *testing.T, run func(t *testing.T, d *dialect.Dialect, holds func(condition string, args ...any) bool)) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		d, driver := dialect.Postgres, "postgres"
		if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
			d, driver, url = dialect.SQLite, "sqlite", path
		}
		database, err := sql.Open(driver, url)
		if err != nil {
			t.Fatal(err)
		}
		defer database.Close()
		if _, err := database.Exec(`CREATE TABLE book (id bigint, name text, day date); INSERT INTO book VALUES (7, '50%_off\now', '1937-09-21')`); err != nil {
			t.Fatal(err)
		}
		run(t, d, func(condition string, args ...any) (ok bool) {
			t.Helper()
			if err := database.QueryRow(`SELECT count(*) > 0 FROM book r WHERE `+condition, args...).Scan(&ok); err != nil {
				t.Fatalf("%s: %v", condition, err)
			}
			return ok
		})
	})
}

// TestExpressions evaluates the expressions of each dialect on its engine.
func TestExpressions(t *testing.T) {
	each(t, func(t *testing.T, d *dialect.Dialect, holds func(string, ...any) bool) {
		ids := d.Array([]model.ID{5, 7})
		for _, c := range []struct {
			condition string
			args      []any
			want      bool
		}{
			{d.In("id", "$1"), []any{ids}, true},
			{d.In("name", "$1"), []any{d.Array([]string{"a", "b"})}, false},
			{"EXISTS (SELECT r.id FROM " + d.ByIDs("book") + ")", []any{ids}, true},
			{d.Year("day") + " = 1937", nil, true},
			{d.SortKey("'"+strings.Repeat("é", 101)+"'") + " = '" + strings.Repeat("é", 100) + "'", nil, true},
			{d.HoursAgo(1) + " < " + d.Now, nil, true},
			{d.InSeconds("$1") + " > " + d.Now, []any{"0.500"}, true},
			{d.InSeconds("$1") + " > " + d.Now, []any{"0.000"}, false},
			{"(" + d.TableExists("book") + ")", nil, true},
			{"(" + d.TableExists("none") + ")", nil, false},
			{"(SELECT read_only FROM (" + d.Session + ") AS s)", nil, false},
			{"(" + d.MayMigrate + ")", nil, true},
			{"'book.day' IN (" + d.SchemaNames + ")", nil, true},
		} {
			if got := holds(c.condition, c.args...); got != c.want {
				t.Errorf("%s is %t", c.condition, got)
			}
		}
		if call := d.LockTimeout(time.Second); d == dialect.Postgres && !holds(call+" = '1s'") || d == dialect.SQLite && call != "" {
			t.Errorf("the lock timeout is %q", call)
		}
	})
}

// TestMatch matches operands that contain wildcards.
func TestMatch(t *testing.T) {
	each(t, func(t *testing.T, d *dialect.Dialect, holds func(string, ...any) bool) {
		for _, c := range []struct {
			op      model.Op
			operand string
			want    bool
		}{
			{model.ContainsFolded, "%_off", true}, {model.ContainsFolded, `f\n`, true}, {model.ContainsFolded, "0_", false},
			{model.StartsWithFolded, "50%", true}, {model.StartsWithFolded, "5%_", false}, {model.StartsWithFolded, "off", false},
			{model.EndsWithFolded, `\now`, true}, {model.EndsWithFolded, "_ow", false}, {model.EndsWithFolded, "off", false},
			{model.EndsWithFolded, strings.Repeat("x", 50) + "now", false},
		} {
			var args []any
			condition := d.Match(c.op, "name", c.operand, func(arg any) string {
				args = append(args, arg)
				return "$" + strconv.Itoa(len(args))
			})
			if got := holds(condition, args...); got != c.want {
				t.Errorf("%v %q is %t", c.op, c.operand, got)
			}
		}
	})
}
