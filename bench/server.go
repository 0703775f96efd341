package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// service is a build that serves a database of its own.
type service struct {
	url, token string
	pid        int
	postgres   int // first process of the database server, 0 where none is known
	client     http.Client
	cursors    []string // before the pages of all books
}

// serve fills an empty database by a build and starts it as one of processes. Its settings are known to old
// builds too. It limits no rate and logs no requests.
func serve(ctx context.Context, processes *errgroup.Group, program, database string) (*service, error) {
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, arguments...)
		cmd.Env = []string{"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_RATE=0", "CATALOGUE_LOG_LEVEL=error",
			"CATALOGUE_LOG_FORMAT=json", "CATALOGUE_JWT_SECRET=only for this run, on the loopback"}
		cmd.Stderr = os.Stderr
		return cmd
	}
	load := command("import", "-")
	load.Stdin, load.Stderr = books(), nil
	if err := load.Run(); err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	postgres, err := analyze(ctx, database)
	if err != nil {
		return nil, err
	}
	token, err := command("token").Output()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String() // free once the listener is closed
	if err := listener.Close(); err != nil {
		return nil, err
	}
	cmd := command("serve", "--addr="+address)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	processes.Go(func() error { return fmt.Errorf("%s ended: %w", program, cmd.Wait()) })
	s := &service{url: "http://" + address, token: strings.TrimSpace(string(token)), pid: cmd.Process.Pid,
		postgres: postgres}
	s.client.Transport = &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}
	return s, s.readCursors(ctx)
}

var cursor = regexp.MustCompile(`"cursor":"([^"]+)"`)

// readCursors asks the server, once it listens, for the cursors before its pages of books.
func (s *service) readCursors(ctx context.Context) error {
	for _, err := s.client.Get(s.url); err != nil && ctx.Err() == nil; _, err = s.client.Get(s.url) {
		time.Sleep(50 * time.Millisecond)
	}
	for offset := 0; offset < allBooks; offset += 1000 {
		w := workload{query: fmt.Sprintf(`{ books(first: 1000, offset: %d) { edges { cursor } } }`, offset)}
		var answer bytes.Buffer
		if err := s.ask(ctx, w, "", w.body(), &answer); err != nil {
			return err
		}
		all := cursor.FindAllSubmatch(answer.Bytes(), -1)
		for i := pageSize - 1; i < len(all); i += pageSize {
			s.cursors = append(s.cursors, string(all[i][1]))
		}
	}
	s.cursors = s.cursors[:len(s.cursors)-1] // nothing follows the last book
	return nil
}
