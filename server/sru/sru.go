// Package sru serves SRU 1.2 (loc.gov/standards/sru): other libraries and their programs search the catalogue by CQL
// and get records of MARCXML or Dublin Core.
package sru

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Path is the path of the service.
const Path = "/sru"

// Handler answers the requests of SRU by GET and POST.
type Handler struct {
	// Query runs a GraphQL query, which is priced and queued like others.
	Query     func(ctx context.Context, document string, variables []byte) (data []byte, err error)
	PublicURL string // origin of the service; empty: explain names no host
}

// MaxBodyBytes is the maximum size of a form.
const MaxBodyBytes = 16 << 10

// Bounds of a response.
const defaultRecords, maxRecords = 10, 100

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	var body []byte
	err := r.ParseForm()
	if err != nil {
		err = diagnosticError{unsupportedParameterValue, "the request must be a form of at most 16384 bytes"}
	} else {
		err = checkParameters(r.Form)
	}
	operation := r.Form.Get("operation")
	switch {
	case err != nil:
	case operation == "searchRetrieve" || operation == "" && r.Form.Has("query"):
		body, err = h.searchRetrieve(r.Context(), r.Form)
	case operation == "explain" || operation == "":
		body, err = h.explain()
	default:
		err = diagnosticError{unsupportedOperation, operation}
	}
	if err != nil {
		fail(w, operation, err)
		return
	}
	respond(w, http.StatusOK, body)
}

// parameters are the known ones of SRU 1.1 and 1.2. The service ignores resultSetTTL and extensions.
var parameters = []string{
	"operation", "version", "query", "startRecord", "maximumRecords", "recordPacking", "recordSchema", "sortKeys",
	"resultSetTTL", "stylesheet",
}

func checkParameters(given url.Values) error {
	for name := range given {
		if !slices.Contains(parameters, name) && !strings.HasPrefix(name, "x-") {
			return diagnosticError{unsupportedParameter, name}
		}
	}
	if version := given.Get("version"); version != "" && version != "1.1" && version != "1.2" {
		return diagnosticError{unsupportedVersion, "1.2"}
	}
	if given.Get("stylesheet") != "" {
		return diagnosticError{code: noStylesheets}
	}
	return nil
}

// searchRetrieve answers a search.
func (h Handler) searchRetrieve(ctx context.Context, p url.Values) ([]byte, error) {
	if p.Get("query") == "" {
		return nil, diagnosticError{missingParameter, "query"}
	}
	schema, err := schemaOf(p.Get("recordSchema"))
	if err != nil {
		return nil, err
	}
	packing := cmp.Or(p.Get("recordPacking"), "xml")
	if packing != "xml" && packing != "string" {
		return nil, diagnosticError{unsupportedPacking, packing}
	}
	start, err := number(p, "startRecord", 1)
	if err != nil {
		return nil, err
	}
	maximum, err := number(p, "maximumRecords", defaultRecords)
	if err != nil {
		return nil, err
	}
	variables, err := variablesOf(p)
	if err != nil {
		return nil, err
	}
	variables["offset"], variables["first"] = max(start, 1)-1, min(maximum, maxRecords)
	found, err := h.find(ctx, variables)
	if err != nil {
		return nil, err
	}
	books := found.Books
	if books.Correction != nil { // the books have other words than the query
		books.TotalCount, books.Nodes = 0, nil
	}
	if start < 1 || start > max(books.TotalCount, 1) {
		return nil, diagnosticError{outOfRange, strconv.Itoa(start)}
	}
	return searchResponse(p, schema, packing, start, books.TotalCount, books.Nodes)
}

// variablesOf returns the conditions and the order that a request asks for.
func variablesOf(p url.Values) (map[string]any, error) {
	query, keys, err := parseCQL(p.Get("query"))
	if err != nil {
		return nil, err
	}
	asked, err := conditionsOf(query)
	if err != nil {
		return nil, err
	}
	variables := map[string]any{"filter": asked.filter}
	if asked.search != "" {
		variables["search"] = asked.search
	}
	for _, key := range strings.Fields(p.Get("sortKeys")) { // SRU 1.1: path, schema, ascending; 0 means descending
		path, rest, _ := strings.Cut(key, ",")
		_, ascending, _ := strings.Cut(rest, ",")
		keys = append(keys, sortKey{strings.ToLower(path), strings.HasPrefix(ascending, "0")})
	}
	if len(keys) > len(indexes) { // more keys than indexes, so one repeats
		return nil, diagnosticError{unsupportedSort, "use each index once"}
	}
	var orderBy []map[string]any
	for _, key := range keys {
		i, err := indexOf(key.index)
		if err != nil || i.Sort == "" {
			return nil, diagnosticError{unsupportedSort, key.index}
		}
		direction := "ASC"
		if key.descending {
			direction = "DESC"
		}
		orderBy = append(orderBy, map[string]any{"field": i.Sort, "direction": direction})
	}
	if orderBy != nil {
		variables["orderBy"] = orderBy
	}
	return variables, nil
}

// number returns the value of a parameter, or a default.
func number(p url.Values, name string, byDefault int) (int, error) {
	text := p.Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, diagnosticError{unsupportedParameterValue, name}
	}
	return int(n), nil
}
