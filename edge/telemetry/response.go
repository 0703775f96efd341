package telemetry

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"library-catalogue/db/stats"
)

// requestID returns the client's id if it is short and printable, else a new id.
func requestID(id string) string {
	if id == "" || len(id) > 64 {
		return newRequestID()
	}
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return newRequestID()
		}
	}
	return id
}

// newRequestID returns an id of 128 random bits. It is not a secret.
func newRequestID() string {
	id := binary.BigEndian.AppendUint64(make([]byte, 0, 16), rand.Uint64())
	id = binary.BigEndian.AppendUint64(id, rand.Uint64())
	return string(hex.AppendEncode(make([]byte, 0, 32), id))
}

// sourceHeader says which server a response was read from: primary, replica or cache.
const sourceHeader = "X-Catalogue-Source"

// recorder records the status of a response and adds the headers Server-Timing and, if there are replicas,
// sourceHeader.
type recorder struct {
	http.ResponseWriter
	request    *Request
	statements *stats.Record
	headers    func(status int) // sets the headers of every response
	status     int
	sources    bool // add sourceHeader
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status == http.StatusSwitchingProtocols {
		w.status = status
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.headers(status)
		w.Header()["Server-Timing"] = []string{string(w.appendTiming(make([]byte, 0, 64)))}
		switch {
		case !w.sources:
		case w.request.Cached.Load():
			w.Header().Set(sourceHeader, "cache")
		case w.statements.Replica():
			w.Header().Set(sourceHeader, "replica"+lagParameter(w.statements.Lag()))
		case w.statements.Statements() > 0:
			w.Header().Set(sourceHeader, "primary")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// lagParameter returns the parameter for reads that may lack commits younger than lag, in seconds, rounded up.
func lagParameter(lag time.Duration) string {
	if lag == 0 {
		return ""
	}
	return "; lag=" + strconv.FormatFloat(math.Ceil(lag.Seconds()*1000)/1000, 'f', 3, 64)
}

// appendTiming appends the value of the Server-Timing header (www.w3.org/TR/server-timing).
func (w *recorder) appendTiming(dst []byte) []byte {
	statements := w.statements.Statements()
	dst = strconv.AppendInt(append(dst, `db;desc="`...), int64(statements), 10)
	dst = append(dst, ` statement`...)
	if statements != 1 {
		dst = append(dst, 's')
	}
	dst = strconv.AppendFloat(append(dst, `";dur=`...), float64(w.statements.DatabaseTime().Microseconds())/1000, 'f',
		2, 64)
	if w.request.Planned.Load() {
		dst = append(dst, `, plan`...)
	}
	if w.request.Cached.Load() {
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

// FlushError lets http.ResponseController flush, and write the header before.
func (w *recorder) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}
