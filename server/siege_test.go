package server_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
)

// TestSiege lets clients hold back headers and bodies, read no answers, and send
// bodies that are large to parse and tokens that are none, all at once. Plain
// queries beside them are all answered, and the memory in use stays bounded.
func TestSiege(t *testing.T) {
	const most = 100 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(72 << 20)) // as serve does
	listen(t)
	store := migrated(t, dbtest.SQLite(t))
	booksInGenres(t, store, 10, 200)
	srv := server.New(server.Config{
		Catalogue: resolvers.New(store),
		Authenticate: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(model.WithPrincipal(r.Context(), model.Principal{})))
			})
		},
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(listener)
	defer srv.Close()

	var attackers sync.WaitGroup
	enough := make(chan struct{})
	besiege := func(clients int, request string, answers bool) {
		for range clients {
			attackers.Go(func() {
				for {
					conn, err := net.Dial("tcp", listener.Addr().String())
					if err != nil {
						select {
						case <-enough: // and the server is closed
						default:
							t.Error(err)
						}
						return
					}
					_, _ = io.WriteString(conn, request) // the server may refuse the rest of it
					if answers {
						_, _ = io.Copy(io.Discard, conn)
					} else {
						<-enough
					}
					conn.Close()
					select {
					case <-enough:
						return
					default:
					}
				}
			})
		}
	}
	blank := strings.Repeat(" ", 1<<20-1)
	wide := `{"query":"{ __typename }","variables":{"v":[` + strings.Repeat("[],", 300_000) + `[]]}}`
	post := func(target, header, body string, length int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", target, header, length, body)
	}
	besiege(150, "GET /api/books HTTP/1.1\r\nX-A: "+strings.Repeat("a", 60_000), false)
	besiege(50, post("/graphql", "", blank, 1<<20), false)
	besiege(50, post("/api/books", "", blank, 1<<20), false)
	besiege(50, "GET /api/books?per_page=1000 HTTP/1.1\r\nHost: x\r\n\r\n", false)
	besiege(10, "GET /api/books HTTP/1.1\r\nHost: x\r\n\r\n", false)
	besiege(5, post("/graphql", "", wide, len(wide)), true)
	besiege(5, post("/api/books", "", wide, len(wide)), true)
	besiege(5, post("/api/books", "Authorization: Bearer "+strings.Repeat("e", 8_000)+"\r\n", "{}", 2), true)

	inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	highest := uint64(0)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n := range 300 {
		response, err := client.Post("http://"+listener.Addr().String()+"/graphql", "application/json",
			strings.NewReader(`{"query":"{ books(first: 20) { nodes { id name genre { name category { name } } } } }"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), `{"data":{"books":`) {
			t.Fatalf("query %d: status %d, %v: %s", n, response.StatusCode, err, body)
		}
		metrics.Read(inUse)
		highest = max(highest, inUse[0].Value.Uint64()+inUse[1].Value.Uint64())
	}
	close(enough)
	srv.Close()
	attackers.Wait()
	t.Logf("%.0f MB were in use at most", float64(highest)/math.Exp2(20))
	if highest > most {
		t.Errorf("more than %d MB were in use", most>>20)
	}
}
