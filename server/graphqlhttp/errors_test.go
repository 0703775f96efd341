package graphqlhttp

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// TestErrorCodeEnum compares the constants of model.Code with model.Codes and with the values of the enum ErrorCode.
// It wants withCode alone to set an extensions.code, so that no other code gets into a response.
func TestErrorCodeEnum(t *testing.T) {
	t.Parallel()
	find := func(pattern, file string) (all []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all = append(all, found[1])
		}
		return all
	}
	constants := find(`(?m)^\t\w+ +Code += "(\w+)"`, "../../graph/model/error.go")
	var listed, inGraphQL, values []string
	for _, code := range model.Codes {
		listed = append(listed, string(code))
		inGraphQL = append(inGraphQL, string(code.InGraphQL()))
	}
	for _, value := range graph.NewExecutableSchema(graph.Config{}).Schema().Types["ErrorCode"].EnumValues {
		values = append(values, value.Name)
	}
	for _, list := range []*[]string{&constants, &listed, &inGraphQL, &values} {
		slices.Sort(*list)
	}
	if diff := cmp.Diff(constants, listed); diff != "" {
		t.Errorf("model.Codes (-constants +listed):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Compact(inGraphQL), values); diff != "" {
		t.Errorf("ErrorCode (-model.Codes +values):\n%s", diff)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if set := find(`(errcode\.\w+|"code":)`, file); len(set) > 0 && !strings.HasSuffix(file, "_test.go") &&
			!slices.Equal(set, []string{"errcode.Set"}) {
			t.Errorf("%s sets codes by %q, not by withCode", file, set)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for snake, name := range map[string]string{"": "", "name": "name", "published_at": "publishedAt", "genre_id": "genreId", "nodeIds": "nodeIds", "a__b": "aB"} {
		if got := model.Camel(snake); got != name {
			t.Errorf("Camel(%q) is %q, want %q", snake, got, name)
		}
	}
	for name, snake := range map[string]string{"": "", "name": "name", "publishedAt": "published_at", "genreId": "genre_id"} {
		if got := model.Snake(name); got != snake {
			t.Errorf("Snake(%q) is %q, want %q", name, got, snake)
		}
	}
}

// TestRetryAfter writes a response with several delays: the header has the longest.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	p := presenter{slog.New(slog.DiscardHandler)}
	response := &graphql.Response{Data: []byte("null")}
	for _, err := range []error{
		model.Errorf(model.Conflict, "a"), &model.Error{Code: model.RateLimited, Message: "b", Err: &model.RetryError{After: 2_100 * time.Millisecond}},
		model.Errorf(model.Unavailable, "c"), &model.RetryError{After: time.Minute},
	} {
		response.Errors = append(response.Errors, p.presentError(t.Context(), err))
	}
	w := httptest.NewRecorder()
	writeResponse(w, httptest.NewRequest(http.MethodPost, "/graphql", nil), plainJSON, http.StatusOK, response)
	const want = `{"data":null,"errors":[{"message":"a","extensions":{"code":"CONFLICT","requestId":""}},` +
		`{"message":"b","extensions":{"code":"RATE_LIMITED","requestId":"","retryAfter":3}},` +
		`{"message":"c","extensions":{"code":"UNAVAILABLE","requestId":"","retryAfter":1}},` +
		`{"message":"Internal server error","extensions":{"code":"INTERNAL","requestId":""}}]}`
	if header := w.Header().Get("Retry-After"); header != "3" || w.Body.String() != want {
		t.Errorf("Retry-After %q: %s", header, w.Body)
	}
}

// TestLoggedErrors logs a failure, but not a refusal for a time.
func TestLoggedErrors(t *testing.T) {
	t.Parallel()
	for message, err := range map[string]error{
		"busy": &model.Error{Code: model.Unavailable, Message: "busy", Err: &model.RetryError{After: time.Second}},
		"down": model.Errorf(model.Unavailable, "down"),
	} {
		var log bytes.Buffer
		p := presenter{slog.New(slog.NewTextHandler(&log, nil))}
		if presented := p.presentError(t.Context(), err); presented.Message != message || presented.Extensions["code"] != "UNAVAILABLE" {
			t.Errorf("%s: %v %v", message, presented, presented.Extensions)
		}
		if logged := log.Len() > 0; logged != (message == "down") {
			t.Errorf("%s: the log says %q", message, log.String())
		}
	}
}
