package sru

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/template"

	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/marc"
)

//go:embed response.xml
var responses string

// templates has the responses and their parts. They escape all texts of clients and books by the function xml.
var templates = template.Must(template.New("").Funcs(template.FuncMap{"xml": escape}).Parse(responses))

// escape escapes a text. Characters that XML 1.0 does not have become U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // to memory
	return b.String()
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// schema is a format of records.
type schema struct {
	Name, Title, Identifier string
	write                   func(*book) ([]byte, error)
}

// schemas are the formats, the default first.
var schemas = []schema{
	{"marcxml", "MARCXML", "info:srw/schema/1/marcxml-v1.1", writeMARC},
	{"dc", "Dublin Core", "info:srw/schema/1/dc-v1.1", func(b *book) ([]byte, error) { return render("dc", b) }},
}

func writeMARC(b *book) ([]byte, error) {
	return marc.AppendBook(nil, &b.Book, &b.Genre, &b.Category), nil
}

// schemaOf returns the format with a name or an identifier.
func schemaOf(name string) (schema, error) {
	for _, s := range schemas {
		if name == "" || name == s.Name || name == s.Identifier {
			return s, nil
		}
	}
	return schema{}, diagnosticError{unknownSchema, name}
}

// record is a record of a response.
type record struct {
	Schema, Packing, Data string
	Position              int // 0: none
}

// parameter is a parameter of a request.
type parameter struct{ Name, Value string }

// searchResponse returns the response to a search with a page of its total records, from number start on.
func searchResponse(request url.Values, s schema, packing string, start, total int, page []book) ([]byte, error) {
	response := struct {
		Total   int
		Records []record
		Next    int // number of the record after the page; 0: none
		Echoed  []parameter
	}{Total: total}
	for i := range page {
		data, err := s.write(&page[i])
		if err != nil {
			return nil, err
		}
		response.Records = append(response.Records, record{s.Identifier, packing, string(data), start + i})
	}
	if next := start + len(page); next <= total {
		response.Next = next
	}
	for _, name := range parameters[1:] {
		if request.Has(name) {
			response.Echoed = append(response.Echoed, parameter{name, request.Get(name)})
		}
	}
	return render("searchRetrieveResponse", response)
}

// Refuse writes the response to a request that another part of the server refuses.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	fail(w, r.URL.Query().Get("operation"), err)
}

func respond(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	envelope.WriteBody(w, status, body)
}

// fail writes the response to a request that failed. Its status is 200 if the request is at fault.
func fail(w http.ResponseWriter, operation string, err error) {
	d, ok := errors.AsType[diagnosticError](err)
	status := http.StatusOK
	if !ok {
		e := model.AsError(err)
		d = diagnosticError{generalError, e.Message}
		switch status = envelope.StatusOf(err); e.Code {
		case model.BadUserInput:
			d.code, status = badSyntax, http.StatusOK
		case model.CostLimitExceeded, model.DepthLimitExceeded:
			d.code, status = tooManyBooleans, http.StatusOK
		case model.Unavailable, model.RateLimited:
			d.code = temporarilyUnavailable
			w.Header().Set("Retry-After", strconv.Itoa(model.RetryAfter(err)))
		}
	}
	response := "searchRetrieveResponse"
	if operation == "explain" {
		response = "explainResponse"
	}
	// it writes to memory, so it does not fail
	body, _ := render("failure", map[string]any{"Response": response, "Code": d.code, "Details": d.details})
	respond(w, status, body)
}
