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

// service is a running build with its own database.
type service struct {
	url, token string
	pid        int
	postgres   int // first process of the database server, 0 if unknown
	client     http.Client
	cursors    []string // one before each page of all books
}

// serve imports books into an empty database and starts a build. Old builds must know its settings, which disable
// the rate limit and the request log.
func serve(
	ctx context.Context, processes *errgroup.Group, program, database string, settings ...string,
) (*service, error) {
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, arguments...)
		cmd.Env = append(environment(database), settings...)
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
	address, err := freeAddress()
	if err != nil {
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
	s.wait(ctx)
	if err := s.describeParents(ctx); err != nil {
		return nil, err
	}
	return s, s.readCursors(ctx)
}

// environment returns the settings of a build.
func environment(database string) []string {
	return []string{"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_RATE=0", "CATALOGUE_LOG_LEVEL=error",
		"CATALOGUE_LOG_FORMAT=json", "CATALOGUE_JWT_SECRET=only for this run, on the loopback"}
}

// freeAddress returns an address on the loopback that nothing listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// wait waits until the server listens.
func (s *service) wait(ctx context.Context) {
	for address := strings.TrimPrefix(s.url, "http://"); ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return
		}
	}
}

// describeParents gives the genres and categories a description, which an import of books cannot. Ids count from 1.
func (s *service) describeParents(ctx context.Context) error {
	for noun, count := range map[string]int{"Genre": allGenres, "Category": allCategories} {
		for id := 1; id <= count; id++ {
			text := strings.Repeat(fmt.Sprintf("%08x %s — ", uint32(id)*2_654_435_761, noun), 6)
			w := workload{query: fmt.Sprintf(
				`mutation ($text: String) { update%s(input: {id: %d, patch: {description: $text}}) { clientMutationId } }`, noun, id),
				variables: variables{"text": text}}
			var answer bytes.Buffer
			if err := s.ask(ctx, w, "", w.body(), &answer); err != nil {
				return err
			}
			if !strings.HasPrefix(answer.String(), `{"data":{"update`) {
				return fmt.Errorf("describe %s %d: %.300s", noun, id, &answer)
			}
		}
	}
	return nil
}

var cursor = regexp.MustCompile(`"cursor":"([^"]+)"`)

// readCursors reads the cursors before the pages of books.
func (s *service) readCursors(ctx context.Context) error {
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
	s.cursors = s.cursors[:len(s.cursors)-1] // no page follows the last book
	return nil
}
