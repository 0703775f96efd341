package db_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/doctor"
	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

// documentedRoles makes the roles of docs/postgres.md, and returns the URLs of a fresh
// database for each.
func documentedRoles(t *testing.T) (owner, server string) {
	t.Helper()
	address := dbtest.Postgres(t)
	admin := other(t, address)
	u := must[*url.URL](t)(url.Parse(address))
	unique := strings.TrimPrefix(u.Path, "/catalogue_test_") // a server's roles are for all its databases
	roles := strings.NewReplacer("catalogue_owner", "owner_"+unique, "catalogue_server", "server_"+unique, "DATABASE catalogue ", "DATABASE "+strings.TrimPrefix(u.Path, "/")+" ")
	_, text, found := strings.Cut(string(must[[]byte](t)(os.ReadFile("../docs/postgres.md"))), "```sql\nCREATE ROLE")
	statements, _, ended := strings.Cut("CREATE ROLE"+text, "```")
	if !found || !ended {
		t.Fatal("docs/postgres.md has no statements that make the roles")
	}
	exec(t, admin, roles.Replace(statements))
	t.Cleanup(func() {
		drop := `DROP OWNED BY catalogue_server, catalogue_owner CASCADE; DROP ROLE catalogue_server, catalogue_owner`
		if _, err := admin.Exec(roles.Replace(drop)); err != nil {
			t.Error(err)
		}
	})
	as := func(role, password string) string {
		query := u.Query()
		query.Set("user", roles.Replace(role))
		query.Set("password", password)
		return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: query.Encode()}).String()
	}
	return as("catalogue_owner", "one secret"), as("catalogue_server", "another secret")
}

// started starts a store at url, as serve does.
func started(t *testing.T, url string, options db.Options) (*db.Store, error) {
	t.Helper()
	s := must[*db.Store](t)(db.New(t.Context(), url, options))
	t.Cleanup(func() { _ = s.Close() })
	return s, s.Start(t.Context())
}

// TestDocumentedRoles has the owner migrate and the server do all that it does, which
// is no change of the schema.
func TestDocumentedRoles(t *testing.T) {
	t.Parallel()
	owner, server := documentedRoles(t)
	early, err := started(t, server, db.Options{})
	if fault.IsAway(err) || err == nil || !strings.Contains(err.Error(), "run catalogue db migrate up as the owner of the tables") {
		t.Errorf("before the owner has migrated: %v", err)
	}
	if err := second(early.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); !model.IsCode(err, model.Unavailable) {
		t.Errorf("a store that has not started: %v", err)
	}
	s := migrated(t, owner)
	exec(t, other(t, owner), `INSERT INTO passes VALUES (8, 'books', 0)`)
	if _, err := started(t, server, db.Options{}); err == nil || !strings.Contains(err.Error(), "rows of the catalogue are not changed to schema") {
		t.Errorf("before the owner has completed a pass: %v", err)
	}
	check(t, s.Migrate(t.Context()))

	var log bytes.Buffer
	s, err = started(t, server, db.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil || log.Len() > 0 {
		t.Fatalf("%v\n%s", err, &log)
	}
	home := newShelf(t, s)
	for _, call := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			return second(s.Books.Update(ctx, home.book.ID, rename("Another"), nil))
		},
		func(ctx context.Context) error {
			return s.Genres.Insert(ctx, []*model.Genre{{Name: "Poetry", CategoryID: home.category.ID}})
		},
		func(ctx context.Context) error { return s.AnalyzeGrown(ctx, 1_000_000) },
		func(ctx context.Context) error {
			_, _, err := s.Idempotent(ctx, "me", "key", "print", answering("done"))
			return err
		},
		func(ctx context.Context) error { // as the sender does
			addWebhook(t, s)
			w, err := s.Webhooks.Lease(ctx, "me", time.Hour)
			if err == nil {
				err = s.Webhooks.Failed(ctx, w, "me", "no route", 0, "")
			}
			return errors.Join(err, s.Webhooks.Release(ctx, w.ID, "me"), second(s.Webhooks.Remove(ctx, w.ID)))
		},
		s.ForgetAnswers,
		s.CountSizes,
		s.MeasureChanges,
		func(ctx context.Context) error { return second(s.Changes(ctx, model.ChangeArgs{First: 9})) },
		func(ctx context.Context) error {
			err := s.Follow(ctx, model.ChangeArgs{}, nil, func(context.Context, *model.ChangePage) error { return errCut })
			if errors.Is(err, errCut) {
				return nil
			}
			return err
		},
		func(ctx context.Context) error { return s.ForgetChanges(ctx, 1) },
		func(ctx context.Context) error { return second(s.PurgeRow(ctx, model.TypeBook, home.book.ID)) },
		func(ctx context.Context) error { foundBooks(t, s, "hobit"); return nil },
		func(ctx context.Context) error { return s.Categories.Delete(ctx, home.category.ID, nil, model.Cascade) },
		func(ctx context.Context) error { return second(s.Migrations(ctx)) },
		func(ctx context.Context) error { return second(doctor.Examine(ctx, owner, false)) },
		func(ctx context.Context) error { return second(started(t, server, db.Options{})) },
	} {
		if err := call(t.Context()); err != nil {
			t.Error(err)
		}
	}
	wantChecks(t, s, map[string]string{})
	program := other(t, server)
	for _, statement := range []string{`CREATE TABLE theirs (id int)`, `CREATE INDEX theirs ON books (pages)`, `ALTER TABLE books ADD theirs int`, `TRUNCATE books`, `DROP TABLE genres`} {
		if _, err := program.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("the server may: %s", statement)
		}
	}

	exec(t, other(t, owner), `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
	if _, err := started(t, server, db.Options{}); fault.IsAway(err) || err == nil || !strings.Contains(err.Error(), "run catalogue db migrate up as the owner of the tables") {
		t.Errorf("with a schema that is behind: %v", err)
	}
	exec(t, other(t, owner), `REVOKE SELECT ON goose_db_version FROM PUBLIC, "`+ask[string](t, program, `SELECT current_user`)+`"`)
	if _, err := started(t, server, db.Options{}); fault.IsAway(err) || err == nil || !strings.Contains(err.Error(), "docs/postgres.md") {
		t.Errorf("with a schema that it may not read: %v", err)
	}
}

// writesOf returns calls that write, each another kind, for which the shelf is there.
func writesOf(s *db.Store, home shelf) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a statement":   func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("New", home.genre.ID))) },
		"a transaction": func(ctx context.Context) error { return second(s.Books.Update(ctx, home.book.ID, rename("New"), nil)) },
		"under a key": func(ctx context.Context) error {
			_, _, err := s.Idempotent(ctx, "me", "key", "print", answering("done"))
			return err
		},
		"deleting":   func(ctx context.Context) error { return s.Categories.Delete(ctx, home.category.ID, nil, model.Cascade) },
		"forgetting": s.ForgetAnswers,
	}
}

// TestReadOnly starts on databases that take no changes: reads go on, and changes are
// told why they are not made, until the database takes them.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	primary := cluster.Database(t)
	home := newShelf(t, migrated(t, primary))
	copied := cluster.Standby(t)
	standby := copied.On(t, primary)
	program := other(t, primary)
	set := func(value string) func() {
		return func() {
			exec(t, program, `ALTER SYSTEM SET default_transaction_read_only = `+value)
			exec(t, program, `SELECT pg_reload_conf()`)
			for other := must[*sql.Conn](t)(program.Conn(t.Context())); ; {
				var now string
				check(t, other.QueryRowContext(t.Context(), `SHOW default_transaction_read_only`).Scan(&now))
				if now == value {
					other.Close()
					return
				}
			}
		}
	}
	for i, tt := range []struct {
		name, url string
		set, end  func()
	}{
		{"set so", primary, set("on"), set("off")},
		{"a standby", standby, func() {}, func() { copied.Promote(t) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.set()
			s, err := started(t, tt.url, db.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1+i {
				t.Errorf("there are %d books", n)
			}
			for name, write := range writesOf(s, home) {
				err := write(t.Context())
				wantCode(t, err, model.Unavailable, "The database is read-only or a standby and refuses changes.")
				if model.IsInDoubt(err) {
					t.Errorf("%s: nothing is stored: %v", name, err)
				}
			}
			wantChecks(t, s, map[string]string{"database": "warn: The database is read-only or a standby"})
			tt.end()
			if _, err := s.Books.Create(t.Context(), newBook("New", home.genre.ID)); err != nil {
				t.Error(err)
			}
		})
	}
}
