package db_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// hosts returns the URL of a database on several servers.
func hosts(t *testing.T, urls ...string) string {
	t.Helper()
	var hosts, ports []string
	for _, text := range urls {
		u, err := url.Parse(text)
		check(t, err)
		hosts, ports = append(hosts, u.Query().Get("host")), append(ports, u.Query().Get("port"))
	}
	u, err := url.Parse(urls[0])
	check(t, err)
	query := u.Query()
	query.Set("host", strings.Join(hosts, ","))
	query.Set("port", strings.Join(ports, ","))
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	return u.String()
}

// TestFrozenHost freezes the primary of a URL with two hosts and promotes the standby. The deadline of the
// calls is far later, so only closed connections end them: reads run again on the new primary, and
// writes may be stored or not.
func TestFrozenHost(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	standby := cluster.Standby(t)
	var log bytes.Buffer
	s := openWith(t, hosts(t, direct, standby.On(t, direct)), db.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	useAll(t, s)
	reader, _ := db.Pools(s)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	write := func() error { return second(s.Books.Create(ctx, newBook("New", home.genre.ID))) }

	cluster.Freeze(t)
	pending := make(chan error)
	go func() {
		pending <- together(times(reader.Stats().MaxOpenConnections, func() error {
			return second(s.Unchecked(ctx).Books.Count(ctx, model.Selection{}))
		})...)
	}()
	written := make(chan error)
	go func() { written <- write() }()
	for s.Waiting() == 0 {
		failOn(t, pending)
		failOn(t, written)
	}
	standby.Promote(t)
	check(t, <-pending)
	if err := <-written; err != nil {
		wantCode(t, err, model.Unavailable, "")
	}
	check(t, together(times(40, write)...))
	check(t, s.Close())
	if !strings.Contains(log.String(), "closed the connections to a database host that does not answer") {
		t.Errorf("the log does not say that connections were closed:\n%s", &log)
	}
}

// failOn fails the test if a call has ended that must still wait.
func failOn(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		t.Fatalf("the call ended early: %v", err)
	default:
	}
}
