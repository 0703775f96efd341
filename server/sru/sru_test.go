package sru

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConditions translates queries of CQL to a search and a filter.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, search, filter string }{
		{`cat`, "cat", `{}`},
		{`"blue cat"`, "blue cat", `{}`},
		{`any all "blue cat" and cql.keywords = hat`, "blue cat hat", `{"and":[{},{}]}`},
		{`dc.title = "Blue Cat"`, "Blue Cat", `{"and":[{"or":[{"name":{"icontains":"blue"}}]},{"or":[{"name":{"icontains":"cat"}}]}]}`},
		{`Title ANY "blue cat"`, "", `{"or":[{"or":[{"name":{"icontains":"blue"}}]},{"or":[{"name":{"icontains":"cat"}}]}]}`},
		{`title adj "blue cat"`, "", `{"or":[{"name":{"icontains":"blue cat"}}]}`},
		{`title exact "Blue"`, "", `{"or":[{"name":{"eq":"Blue"}}]}`},
		{`title == "^Blue^"`, "", `{"or":[{"name":{"eq":"Blue"}}]}`},
		{`title = "^Blue cat"`, "", `{"or":[{"name":{"istartsWith":"Blue cat"}}]}`},
		{`title = "cat^"`, "", `{"or":[{"name":{"iendsWith":"cat"}}]}`},
		{`title <> cat`, "", `{"not":{"or":[{"name":{"eq":"cat"}}]}}`},
		{`title = comput*`, "", `{"and":[{"or":[{"name":{"icontains":"comput"}}]}]}`},
		{`title = "\"a\*"`, "", `{"and":[{"or":[{"name":{"icontains":"a"}}]}]}`},
		{`any = cat*`, "", `{"and":[{"or":[{"name":{"icontains":"cat"}},{"author":{"icontains":"cat"}},{"description":{"icontains":"cat"}}]}]}`},
		{`title=a or title=b`, "", `{"or":[{"and":[{"or":[{"name":{"icontains":"a"}}]}]},{"and":[{"or":[{"name":{"icontains":"b"}}]}]}]}`},
		{`a not b not c`, "a", `{"and":[{},{"not":{"and":[{"or":[{"name":{"icontains":"b"}},{"author":{"icontains":"b"}},{"description":{"icontains":"b"}}]}]}},` +
			`{"not":{"and":[{"or":[{"name":{"icontains":"c"}},{"author":{"icontains":"c"}},{"description":{"icontains":"c"}}]}]}}]}`},
		{`(a and id=1) or id=2`, "", `{"or":[{"and":[{"and":[{"or":[{"name":{"icontains":"a"}},{"author":{"icontains":"a"}},{"description":{"icontains":"a"}}]}]},{"id":{"in":["1"]}}]},{"id":{"in":["2"]}}]}`},
		{`bath.isbn = 3-16-148410-X`, "", `{"isbn":{"in":["9783161484100"]}}`},
		{`isbn any "3-16-148410-X 0306406152 1"`, "", `{"isbn":{"in":["9783161484100","9780306406157"]}}`},
		{`isbn = 1`, "", `{"isbn":{"in":[]}}`},
		{`rec.id = 12`, "", `{"id":{"in":["12"]}}`},
		{`dc.language = ger`, "", `{"language":{"in":["de"]}}`},
		{`dc.subject = novels`, "", `{"and":[{"or":[{"genre":{"name":{"icontains":"novels"}}},{"genre":{"category":{"name":{"icontains":"novels"}}}}]}]}`},
		{`date = 1999`, "", `{"publishedAt":{"gte":"1999-01-01","lte":"1999-12-31"}}`},
		{`date = 2000-02`, "", `{"publishedAt":{"gte":"2000-02-01","lte":"2000-02-29"}}`},
		{`date > 1999`, "", `{"publishedAt":{"gt":"1999-12-31"}}`},
		{`date < 1999`, "", `{"publishedAt":{"lt":"1999-01-01"}}`},
		{`date <= 1999`, "", `{"publishedAt":{"lte":"1999-12-31"}}`},
		{`date >= 1999-03-04`, "", `{"publishedAt":{"gte":"1999-03-04"}}`},
		{`date <> 1999`, "", `{"not":{"publishedAt":{"gte":"1999-01-01","lte":"1999-12-31"}}}`},
		{`date within "1990 1999"`, "", `{"publishedAt":{"gte":"1990-01-01","lte":"1999-12-31"}}`},
		{`cql.allRecords = 1`, "", `{}`},
	} {
		query, _, err := parseCQL(test.query)
		if err != nil {
			t.Errorf("%s: %v", test.query, err)
			continue
		}
		c, err := conditionsOf(query)
		filter, _ := json.Marshal(c.filter)
		if diff := cmp.Diff([]string{test.search, test.filter}, []string{c.search, string(filter)}); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", test.query, err, diff)
		}
	}
}

// TestDiagnostics: what cannot be answered has its number.
func TestDiagnostics(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]code{
		`title =`: badSyntax, `= cat`: badSyntax, `cat and`: badSyntax, `cat hat`: badSyntax, `(cat`: badSyntax, `cat)`: badSyntax, `"cat`: badSyntax,
		`"cat\`: badSyntax, `"title" = cat`: badSyntax, `cat sortBy`: badSyntax, ` `: badSyntax, `title = (cat)`: badSyntax,
		strings.Repeat("x", 4097): tooManyCharacters, strings.Repeat("(", 21) + "x" + strings.Repeat(")", 21): tooManyBooleans,
		`lccn = 1`: unsupportedIndex, `date encloses 1999`: unsupportedForIndex, `title > cat`: unsupportedForIndex, `isbn > 1`: unsupportedForIndex,
		`title =/stem cat`: unsupportedRelationModifier, `""`: emptyTerm, `*`: emptyTerm, `c?t`: unsupportedMask, `c*t`: unsupportedMask, `ca^t`: unsupportedAnchor,
		`date = then`: invalidTerm, `date = 0000`: invalidTerm, `date within 1999`: invalidTerm, `cat prox hat`: noProximity, `cat and/rel hat`: noBooleanModifier,
		`> dc = "info:srw" cat`: unsupportedFeature, `cat sortBy subject`: unsupportedSort, `cat sortBy title/locale=de`: unsupportedSort,
	} {
		_, err := variablesOf(map[string][]string{"query": {query}})
		if got, ok := errors.AsType[diagnosticError](err); !ok || got.code != want {
			t.Errorf("%.40s: %v, want %v", query, err, want)
		}
	}
}

// catalogue is a handler whose catalogue has so many books, and responds with as many of them as it is asked for. It counts
// the queries, and the bytes of their variables.
func catalogue(total int) (h Handler, queries, bytes *int) {
	queries, bytes = new(int), new(int)
	return Handler{Query: func(_ context.Context, _ string, variables []byte) ([]byte, error) {
		var page struct{ First, Offset int }
		err := json.Unmarshal(variables, &page)
		*queries, *bytes = *queries+1, *bytes+len(variables)
		const book = `{"id":"1","publishedAt":"2000-01-01","price":"1.00","createdAt":"2000-01-01T00:00:00Z","updatedAt":"2000-01-01T00:00:00Z"}`
		books := slices.Repeat([]string{book}, max(0, min(page.First, total-page.Offset)))
		return fmt.Appendf(nil, `{"books":{"totalCount":%d,"nodes":[%s]}}`, total, strings.Join(books, ",")), err
	}}, queries, bytes
}

// ask returns the response to a form.
func ask(h Handler, parameters url.Values) string {
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(parameters.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// TestWords bounds the words and clauses of a query. A query beyond the bound is refused before it becomes variables.
func TestWords(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		`any any "` + strings.Repeat("b ", 32) + `"`:                          1,
		`any any "` + strings.Repeat("b ", 33) + `"`:                          0,
		`subject all "` + strings.Repeat("b ", 2000) + `"`:                    0,
		strings.Repeat("publisher=b or ", 31) + "b":                           1,
		strings.Repeat("publisher=b or ", 32) + "b":                           0,
		`title = "` + strings.Repeat("b ", 30) + `" and year=2000 and id=1`:   1,
		`title = "` + strings.Repeat("b ", 31) + `" and year=2000 and id=1`:   0,
		`author any "` + strings.Repeat("木", 33) + `"`:                        0, // each is a word
		`subject exact "` + strings.Repeat("b ", 33) + `"`:                    0,
		`id any "` + strings.Repeat("1 ", 2000) + `"`:                         1, // one list
		`isbn any "` + strings.Repeat("978-3-16-148410-0 ", 200) + `" and b`:  1,
		strings.Repeat("id=1 or ", 32) + "id=2":                               0,
		strings.Repeat("(", 20) + strings.Repeat("* or ", 10) + "b":           0, // another error
		`"-" or ` + strings.Repeat(`publisher="-" or `, 31) + `publisher="-"`: 0,
	} {
		h, queries, bytes := catalogue(1)
		got := ask(h, url.Values{"query": {query}})
		if *queries != want || *bytes > 32<<10 {
			t.Errorf("%.40s: %d queries with %d bytes of variables, want %d: %s", query, *queries, *bytes, want, got)
		}
		if diagnosed := strings.Contains(got, "info:srw/diagnostic/1/38<"); diagnosed != (want == 0 && !strings.HasPrefix(query, "(")) {
			t.Errorf("%.40s: %s", query, got)
		}
	}
	h, queries, _ := catalogue(1)
	if got := ask(h, url.Values{"query": {"b"}, "sortKeys": {strings.Repeat("title ", 11)}}); *queries > 0 || !strings.Contains(got, "diagnostic/1/80<") {
		t.Errorf("11 keys to sort by: %d queries, %s", *queries, got)
	}
}

// TestFirstRecord asks for records from each number on. An empty result has a first position, and no record.
func TestFirstRecord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		total, records int
		start, want    string
	}{
		{0, 0, "", "numberOfRecords>0<"}, {0, 0, "1", "numberOfRecords>0<"}, {0, 0, "2", "diagnostic/1/61<"}, {0, 0, "0", "diagnostic/1/61<"},
		{3, 3, "1", "numberOfRecords>3<"}, {3, 1, "3", "numberOfRecords>3<"}, {3, 0, "4", "diagnostic/1/61<"},
	} {
		h, _, _ := catalogue(test.total)
		got := ask(h, url.Values{"query": {"b"}, "startRecord": {test.start}})
		if !strings.Contains(got, test.want) || strings.Count(got, "<zs:record>") != test.records || strings.Contains(got, "diagnostics>") != strings.HasPrefix(test.want, "diag") {
			t.Errorf("record %q of %d: %s", test.start, test.total, got)
		}
	}
}

// TestExplain describes the service with the host of its public URL, whatever the client sends as its host.
func TestExplain(t *testing.T) {
	t.Parallel()
	for publicURL, want := range map[string]string{
		"":                           "<host></host><port></port>",
		"https://books.example":      "<host>books.example</host><port>443</port>",
		"http://books.example":       "<host>books.example</host><port>80</port>",
		"https://books.example:8443": "<host>books.example</host><port>8443</port>",
		"http://[2001:db8::1]:81":    "<host>2001:db8::1</host><port>81</port>",
	} {
		r := httptest.NewRequest(http.MethodGet, Path+"?operation=explain", nil)
		r.Host = "evil.example:666"
		r.Header = http.Header{"X-Forwarded-Host": {"evil.example"}, "Forwarded": {"host=evil.example"}}
		w := httptest.NewRecorder()
		Handler{PublicURL: publicURL}.ServeHTTP(w, r)
		if got := w.Body.String(); !strings.Contains(got, want) || strings.Contains(got, "evil") {
			t.Errorf("%s: %s", publicURL, got)
		}
	}
}

// TestSort reads sortBy of CQL and sortKeys of SRU 1.1.
func TestSort(t *testing.T) {
	t.Parallel()
	v, err := variablesOf(map[string][]string{"query": {"cat sortBy dc.date/sort.descending title"}, "sortKeys": {"author,,1 isbn,,0"}})
	want := `[{"direction":"DESC","field":"PUBLISHED_AT"},{"direction":"ASC","field":"NAME"},{"direction":"ASC","field":"AUTHOR"},{"direction":"DESC","field":"ISBN"}]`
	if got, _ := json.Marshal(v["orderBy"]); string(got) != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzCQL: each query has conditions or a diagnostic.
func FuzzCQL(f *testing.F) {
	for _, seed := range []string{`a`, `dc.title = "a b" and (b or c) not d sortBy date/descending`, `"\"`, `a=/b/c=d e`, `^a* b^`, `date within "1 2"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if _, err := variablesOf(map[string][]string{"query": {query}}); err != nil {
			if _, ok := errors.AsType[diagnosticError](err); !ok {
				t.Errorf("%q: %v", query, err)
			}
		}
	})
}
