package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/goccy/go-yaml"
	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model/marc"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server/imports"
)

// described is what openapi.yaml says, more strictly: an answer has no fields
// but those that are there.
var described = sync.OnceValues(func() (*openapi3.T, error) {
	openapi3filter.RegisterBodyDecoder("application/x-bibtex", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder(marc.ContentType, openapi3filter.FileBodyDecoder)
	doc, err := openapi3.NewLoader().LoadFromData(rest.OpenAPI)
	if err != nil {
		return nil, err
	}
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Properties != nil && !strings.HasSuffix(name, "Input") {
			schema.Value.AdditionalProperties.Has = new(bool)
		}
	}
	return doc, doc.Validate(context.Background())
})

// people are accounts of which the routes alone count.
type people struct{ rest.Accounts }

// router finds the operations of openapi.yaml.
var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := described()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// TestOpenAPIRoutes wants each route and each parameter to be described, and
// each that is described to be there.
func TestOpenAPIRoutes(t *testing.T) {
	t.Parallel()
	doc, err := described()
	must(t, err)
	s := serve(t, catalogtest.SQLite(t), rest.Options{})
	h := rest.New(resolvers.New(s.store), rest.Options{Lookup: true, Accounts: people{}, Routes: imports.New(imports.Config{}).Routes()})
	routes := rest.Routes(h)
	paths := doc.Paths.Map()
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(routes)), slices.Sorted(maps.Keys(paths))); diff != "" {
		t.Errorf("paths (-routes +openapi.yaml):\n%s", diff)
	}
	for path, methods := range routes {
		operations := paths[path].Operations()
		slices.Sort(methods)
		if diff := gocmp.Diff(methods, slices.Sorted(maps.Keys(operations))); diff != "" {
			t.Errorf("%s (-routes +openapi.yaml):\n%s", path, diff)
		}
		if strings.HasSuffix(path, "}") || strings.HasPrefix(path, "/api/imports") || strings.HasPrefix(path, "/api/log") ||
			path == "/api/lookup" {
			continue
		}
		names, sorts := rest.ListParameters(h, strings.TrimPrefix(path, "/api/"))
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			var given, sorted []string
			for _, p := range operations[method].Parameters {
				if p.Value.In != openapi3.ParameterInQuery {
					continue
				}
				given = append(given, p.Value.Name)
				if p.Value.Name == "sort" {
					for _, name := range p.Value.Schema.Value.Items.Value.Enum {
						sorted = append(sorted, name.(string))
					}
				}
			}
			if diff := gocmp.Diff(names, given); diff != "" {
				t.Errorf("%s %s (-taken +openapi.yaml):\n%s", method, path, diff)
			}
			want := slices.Clone(sorts)
			for _, name := range sorts {
				want = append(want, "-"+name)
			}
			if diff := gocmp.Diff(want, sorted); diff != "" {
				t.Errorf("%s %s?sort (-taken +openapi.yaml):\n%s", method, path, diff)
			}
		}
	}
}

// TestOpenAPIJSON compares openapi.json with openapi.yaml.
func TestOpenAPIJSON(t *testing.T) {
	t.Parallel()
	described := withFields(string(rest.OpenAPI))
	dbtest.Golden(t, "openapi.yaml", described)
	text, err := yaml.YAMLToJSON([]byte(described))
	must(t, err)
	var lines bytes.Buffer
	must(t, json.Indent(&lines, text, "", ""))
	dbtest.Golden(t, "openapi.json", lines.String())
}

// TestOpenAPIIsServed reads the document as a client does.
func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	s := serve(t, catalogtest.SQLite(t), rest.Options{})
	a := s.want(http.StatusOK, "GET", "/openapi.yaml", "", noAuth)
	if a.body != string(rest.OpenAPI) || a.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%s: %s", a.header.Get("Content-Type"), clip(a.body))
	}
	if head := s.want(http.StatusOK, "HEAD", "/openapi.yaml", ""); head.body != "" || head.header.Get("ETag") != a.header.Get("ETag") {
		t.Errorf("HEAD: %v", head)
	}
	s.want(http.StatusNotModified, "GET", "/openapi.yaml", "", "If-None-Match: "+a.header.Get("ETag"))
}

// toldHeaders are the headers that an answer has only where openapi.yaml says so.
var toldHeaders = []string{"Location", "ETag", "Link", "X-Total-Count", "Idempotency-Replayed", "WWW-Authenticate", "Retry-After", "RateLimit", "RateLimit-Policy"}

// asDescribed demands that a request and its answer are as openapi.yaml says. A
// request that is refused need not be; nor has what is at no path, or a method
// too many, an operation.
func (s *service) asDescribed(step step, a answer) {
	s.Helper()
	operations, err := router()
	if err != nil {
		s.Fatal(err)
	}
	request, err := s.request(s.Context(), step.method, step.target, step.body, step.headers...)
	if err != nil {
		s.Fatal(err)
	}
	// One path may be spelled in several ways, which OpenAPI has no words for.
	request.URL.Path, request.URL.RawPath = strings.TrimSuffix(request.URL.Path, "/"), ""
	route, params, err := operations.FindRoute(request)
	if err != nil {
		if a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
			s.Errorf("%s %s: %v", step.method, step.target, err)
		}
		return
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, ExcludeResponseBody: step.method == http.MethodHead,
		AuthenticationFunc: func(_ context.Context, input *openapi3filter.AuthenticationInput) error {
			if !strings.HasPrefix(input.RequestValidationInput.Request.Header.Get("Authorization"), "Bearer ") {
				return errors.New("no token")
			}
			return nil
		},
	}
	asked := &openapi3filter.RequestValidationInput{Request: request, PathParams: params, Route: route, Options: options}
	if a.status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(s.Context(), asked); err != nil {
			s.Errorf("%s %s %s: %v", step.method, step.target, clip(step.body), err)
		}
	}
	err = openapi3filter.ValidateResponse(s.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader([]byte(a.body))), Options: options,
	})
	if err != nil {
		s.Errorf("%s %s: %v", step.method, step.target, err)
	}
	told := route.Operation.Responses.Status(a.status)
	for _, name := range toldHeaders {
		if told != nil && a.header.Get(name) != "" && told.Value.Headers[name] == nil {
			s.Errorf("%s %s %d: openapi.yaml has no header %s", step.method, step.target, a.status, name)
		}
	}
}
