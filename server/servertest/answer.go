package servertest

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"library-catalogue/graph"
)

// FromCache reports whether a response came from the cache.
func FromCache(w *httptest.ResponseRecorder) bool {
	return strings.HasSuffix(w.Header().Get("Server-Timing"), "cache")
}

// Answer is a GraphQL response.
type Answer struct {
	Data   json.RawMessage
	Errors []Failure
}

// Failure is an error of an Answer.
type Failure struct {
	Message    string
	Path       []any
	Extensions struct {
		Code           string
		CurrentVersion int64
		Outcome        string
		RequestID      string
		Fields         []struct{ Field, Message string }
	}
}

// Parse reads an Answer. Numbers keep their digits. Codes of errors must be in the enum ErrorCode.
func Parse(t testing.TB, w *httptest.ResponseRecorder) (a Answer) {
	t.Helper()
	decoder := json.NewDecoder(w.Body)
	decoder.UseNumber()
	Must(t, decoder.Decode(&a))
	codes := graph.NewExecutableSchema(graph.Config{}).Schema().Types["ErrorCode"].EnumValues
	for _, failure := range a.Errors {
		if codes.ForName(failure.Extensions.Code) == nil {
			t.Errorf("the enum ErrorCode has no value %q, the code of %q", failure.Extensions.Code, failure.Message)
		}
	}
	return a
}

var moment = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z`)

// Timeless replaces each time in a response by "(time)".
func Timeless(text string) string { return moment.ReplaceAllString(text, "(time)") }

// Indented formats JSON, so that a difference is one line.
func Indented(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

// Encode returns v as JSON.
func Encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	Must(t, err)
	return string(text)
}

// Unmarshal reads JSON, or ends the test.
func Unmarshal(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// Must ends the test if err is not nil.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// StatementCount returns the number of statements in a response's Server-Timing.
func StatementCount(t *testing.T, w *httptest.ResponseRecorder) int {
	t.Helper()
	timing := w.Header().Get("Server-Timing")
	_, rest, _ := strings.Cut(timing, `db;desc="`)
	count, _, _ := strings.Cut(rest, " statement")
	n, err := strconv.Atoi(count)
	if err != nil {
		t.Fatalf("Server-Timing: %q", timing)
	}
	return n
}
