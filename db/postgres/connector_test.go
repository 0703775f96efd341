package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/postgres"
)

func connector(t *testing.T, url string) *postgres.Connector {
	t.Helper()
	c, err := postgres.NewConnector(url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	database := sql.OpenDB(connector(t, url))
	t.Cleanup(func() { database.Close() })
	return database
}

// TestOpenError says for each error of a first connection what to do.
func TestOpenError(t *testing.T) {
	t.Parallel()
	c := connector(t, "postgres://me:secret@db.example:5432/books")
	for _, test := range []struct {
		err  error
		says string
	}{
		{pq.ErrSSLNotSupported, "add ?sslmode=disable to the database URL"},
		{&pq.Error{Message: "no such role"}, "PostgreSQL at db.example:5432 refuses the connection: pq: no such role"},
		{errors.New("timeout"), "PostgreSQL at db.example:5432 does not answer: timeout"},
	} {
		if got := c.OpenError(test.err).Error(); !strings.Contains(got, test.says) || strings.Contains(got, "secret") {
			t.Errorf("%q, want %q", got, test.says)
		}
	}
	if _, err := postgres.NewConnector("postgres://localhost/books?sslmode=maybe"); err == nil || !strings.Contains(err.Error(), "the database URL is not valid") {
		t.Errorf("an unknown sslmode: %v", err)
	}
}

// TestPlannerSettings reads the settings of a connection. Those of the database's own
// configuration stay.
func TestPlannerSettings(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	read := func() (settings string) {
		if err := open(t, url).QueryRow(`SELECT string_agg(name || ' ' || setting, ', ' ORDER BY name) FROM pg_settings
WHERE name IN ('random_page_cost', 'jit', 'enable_material', 'max_parallel_workers_per_gather')`).Scan(&settings); err != nil {
			t.Fatal(err)
		}
		return settings
	}
	if got := read(); got != "enable_material off, jit off, max_parallel_workers_per_gather 0, random_page_cost 1.1" {
		t.Error(got)
	}
	var made bool
	if err := open(t, url+"&pooler=transaction").QueryRow(`SELECT current_setting('jit') = 'off'`).Scan(&made); err != nil || made {
		t.Errorf("settings in a session of a pooler: %t, %v", made, err)
	}
	if _, err := open(t, url).Exec(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET random_page_cost = 3', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != "enable_material off, jit off, max_parallel_workers_per_gather 0, random_page_cost 3" {
		t.Errorf("with a setting of the database: %s", got)
	}
}

// TestFrozenHosts names two hosts that accept connections and say nothing before one that
// answers, with a connect_timeout and without: none delays the connection for long.
func TestFrozenHosts(t *testing.T) {
	t.Parallel()
	const frozen = 2
	u, err := url.Parse(dbtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	hosts, ports := query.Get("host"), query.Get("port")
	for range frozen {
		listener, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts connections for it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		host, port, _ := net.SplitHostPort(listener.Addr().String())
		hosts, ports = host+","+hosts, port+","+ports
	}
	query.Set("host", hosts)
	query.Set("port", ports)
	for parameter, patience := range map[string]time.Duration{"": 40 * time.Second, "&connect_timeout=1": 9 * time.Second} {
		t.Run(parameter, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := open(t, u.Scheme+"://"+u.Host+u.Path+"?"+query.Encode()+parameter).PingContext(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBrokenLogin connects to a server that answers the login with a message that ends early, on which lib/pq panics.
// database/sql connects in a goroutine of its own, so that the panic would end the process.
func TestBrokenLogin(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<10))
			_, _ = conn.Write([]byte("R\x00\x00\x00\x04"))
		}
	}()
	c := connector(t, "postgres://me@"+listener.Addr().String()+"/x?sslmode=disable")
	if _, err := c.Connect(t.Context()); !errors.Is(err, postgres.ErrConnect) {
		t.Errorf("%v, want %v", err, postgres.ErrConnect)
	}
}
