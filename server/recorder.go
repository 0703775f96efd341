package server

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// requestID takes the client's id where it is short and printable, else makes one.
func requestID(given string) string {
	if given == "" || len(given) > 64 {
		return newRequestID()
	}
	for _, c := range []byte(given) {
		if c <= ' ' || c > '~' {
			return newRequestID()
		}
	}
	return given
}

// newRequestID makes an id of 128 random bits. It is no secret.
func newRequestID() string {
	id := binary.BigEndian.AppendUint64(make([]byte, 0, 16), rand.Uint64())
	id = binary.BigEndian.AppendUint64(id, rand.Uint64())
	return string(hex.AppendEncode(make([]byte, 0, 32), id))
}

// recorder notes the status of an answer and sends what it cost with it.
type recorder struct {
	http.ResponseWriter
	stats      *model.Stats
	statements *stats.Record
	request    *http.Request
	status     int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status == http.StatusSwitchingProtocols {
		w.status = status
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.Header()["Server-Timing"] = []string{string(appendTiming(make([]byte, 0, 64), w.stats, w.statements))}
		protect(w.Header(), w.request.Method, status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// appendTiming appends what a request cost, as a Server-Timing header says it
// (www.w3.org/TR/server-timing).
func appendTiming(dst []byte, request *model.Stats, record *stats.Record) []byte {
	statements := record.Statements()
	dst = strconv.AppendInt(append(dst, `db;desc="`...), int64(statements), 10)
	dst = append(dst, ` statement`...)
	if statements != 1 {
		dst = append(dst, 's')
	}
	dst = strconv.AppendFloat(append(dst, `";dur=`...), float64(record.DatabaseTime().Microseconds())/1000, 'f', 2, 64)
	if request.Planned() {
		dst = append(dst, `, plan`...)
	}
	if request.Cached() {
		dst = append(dst, `, cache`...)
	}
	return dst
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
