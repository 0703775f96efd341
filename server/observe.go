package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"library-catalogue/graph/model"
)

// around goes around every request: it gives it an id, notes what it is and what
// it costs, logs it, and answers 500 in place of a panic.
func (o *Observer) around(next http.Handler) http.Handler {
	observed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r.Header.Get("X-Request-Id"))
		ctx, stats := model.WithStats(context.WithValue(r.Context(), requestIDKey{}, id))
		w.Header().Set("X-Request-Id", id)
		out := &recorder{ResponseWriter: w, stats: stats, method: r.Method}
		o.metrics.inFlight.Inc()
		defer func() {
			failure := recover()
			if failure != nil && failure != http.ErrAbortHandler {
				stats.AddPanic()
				slog.ErrorContext(ctx, "panic", "value", failure, "stack", string(debug.Stack()), "request_id", id)
				if out.status == 0 {
					body := `{"success":false,"message":"Internal server error","data":null}`
					if r.URL.Path == graphQLPath {
						body = `{"errors":[{"message":"Internal server error","extensions":{"code":"INTERNAL","requestId":` + strconv.Quote(id) + `}}]}`
					}
					out.Header().Set("Content-Type", "application/json")
					out.Header().Del("Content-Length")
					out.WriteHeader(http.StatusInternalServerError)
					_, _ = out.Write([]byte(body))
					failure = nil
				} else {
					failure = http.ErrAbortHandler // half an answer must not look whole
				}
			}
			o.metrics.inFlight.Dec()
			o.answered(ctx, r, out, time.Since(start), id)
			if failure != nil {
				panic(failure)
			}
		}()
		next.ServeHTTP(out, r.WithContext(ctx))
		if out.status == 0 {
			out.WriteHeader(http.StatusOK) // as net/http would, but noted
		}
	})
	if o.tracing != nil {
		return o.tracing.requests(observed)
	}
	return observed
}

type requestIDKey struct{}

// requestID takes the client's id where it is short and printable, else makes one.
func requestID(given string) string {
	if given == "" || len(given) > 64 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		if c <= ' ' || c > '~' {
			return rand.Text()
		}
	}
	return given
}

func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// recorder notes the status of an answer and sends what it cost with it.
type recorder struct {
	http.ResponseWriter
	stats  *model.Stats
	method string
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status == http.StatusSwitchingProtocols {
		w.status = status
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		statements := w.stats.Statements()
		plural := "s"
		if statements == 1 {
			plural = ""
		}
		timing := fmt.Sprintf(`db;desc="%d statement%s";dur=%.2f`,
			statements, plural, float64(w.stats.DatabaseTime().Microseconds())/1000)
		if w.stats.Planned() {
			timing += `, plan`
		}
		if w.stats.Cached() {
			timing += `, cache`
		}
		w.Header().Set("Server-Timing", timing)
		protect(w.Header(), w.method, status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, which the compressing writer looks for.
func (w *recorder) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot has nothing to flush
}
