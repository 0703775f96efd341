package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/graph/model/marc"
)

// libraryFields are the fields of the books of another library, by ISBN.
var libraryFields = map[string][]marc.DataField{
	"9783161484100": {
		field("100", "a", "One, Ann"), field("245", "a", "Rivers"), field("264", "b", "North Press", "c", "1998"),
		field("300", "a", "304 p."), field("650", "a", "Rivers"),
	},
	"9780306406157": {field("100", "a", "Two, Bob"), field("245", "a", "Lakes"), field("264", "c", "[s.d.]")},
	"9783550081507": {
		field("100", "a", "Three, Cy"), field("245", "a", "Seas", "b", "a tale"), field("264", "b", "South Press", "c", "2001"), field("300", "a", "99 p."),
		field("041", "a", "ger"), field("520", "a", "Theirs"), field("490", "a", "Waters", "v", "2"), field("655", "a", "Sagas"), field("852", "h", "T 1"),
	},
	"9788806219451": {
		field("100", "a", "Four, Di"), field("245", "a", "Hills"), field("264", "b", "South Press", "c", "2002"), field("300", "a", "98 p."),
		field("041", "a", "ger"), field("520", "a", "Theirs"), field("490", "a", "Heights", "v", "3"), field("655", "a", "Sagas"),
	},
	"9791090636071": {field("245", "a", "The Hobbit"), field("100", "a", "Tolkien, J. R. R."), field("300", "a", "1 p."), field("264", "c", "2001")},
}

func field(tag string, codesAndTexts ...string) marc.DataField {
	f := marc.DataField{Tag: tag, Indicators: [2]byte{'1', ' '}}
	for i := 0; i < len(codesAndTexts); i += 2 {
		f.Subfields = append(f.Subfields, marc.Subfield{Code: codesAndTexts[i][0], Text: codesAndTexts[i+1]})
	}
	return f
}

// newLibrary returns the setting of another library with SRU. It calls asked for each request.
func newLibrary(t *testing.T, asked ...func(isbn string)) (setting string) {
	t.Helper()
	library := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isbn, records := strings.TrimPrefix(r.URL.Query().Get("query"), "isbn="), ""
		for _, tell := range asked {
			tell(isbn)
		}
		if fields, ok := libraryFields[isbn]; ok {
			record := marc.Record{Leader: "00000nam a2200000 c 4500", Data: append(fields, field("020", "a", isbn))}
			records = "<records><record><recordData>" + string(marc.AppendXML(nil, record)) + "</recordData></record></records>"
		}
		fmt.Fprintf(w, `<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>%s</searchRetrieveResponse>`, records)
	}))
	t.Cleanup(library.Close)
	return "--lookup=" + library.URL + "/?query=isbn%3D{isbn}"
}

// TestLookupPrints prints what a library has, and says what it has not.
func TestLookupPrints(t *testing.T) {
	t.Parallel()
	setting := newLibrary(t)
	out := catalogue(t, 1, "", "lookup", setting, "3-16-148410-X", "9788804668237")
	for _, part := range []string{"9783161484100  127.0.0.1:", "Rivers  Ann One  1998-01-01  304    North Press", "9788804668237: 127.0.0.1:", ": It does not have the book."} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
	var all []map[string]any
	must(t, json.Unmarshal([]byte(catalogue(t, 0, "", "lookup", setting, "--json", "9780306406157")), &all))
	book := all[0]["books"].([]any)[0].(map[string]any)
	if all[0]["isbn"] != "9780306406157" || book["name"] != "Lakes" || book["pages"] != nil || book["published_at"] != nil || book["price"] != nil || book["genre"] != nil {
		t.Errorf("%v", all)
	}
}

// TestLookupAdds adds books. It asks for what their records lack, and changes no book of the catalogue.
func TestLookupAdds(t *testing.T) {
	t.Parallel()
	setting, database := newLibrary(t), "--database-url=sqlite:"+t.TempDir()+"/a.db"
	const stored = "name,author,pages,published_at,price,genre,category,isbn,description\n" +
		"The Hobbit,J. R. R. Tolkien,310,1937-09-21,19.99,Fantasy,Fiction,,Mine\n" +
		"Mine,Me,7,2000-01-01,1.00,Fantasy,Fiction,9780306406157,Mine too\n"
	catalogue(t, 0, stored, "import", "-", database)
	add := func(code int, args ...string) string {
		return catalogue(t, code, "", append([]string{"lookup", setting, database, "--add"}, args...)...)
	}
	out := add(1, "9783161484100")
	if !strings.Contains(out, "9783161484100: The price field is required. Set it with --default price=VALUE.") {
		t.Errorf("%s", out)
	}
	out = add(0, "--default=price=9.50;category=Nature;genre=Fantasy", "9783161484100", "9780306406157", "9791090636071")
	for _, line := range []string{"9783161484100: added", "9780306406157: not added, the catalogue has it", "9791090636071: added"} {
		if !strings.Contains(out, line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	if out = add(0, "--default=price=1", "9783161484100"); !strings.Contains(out, "9783161484100: not added, the catalogue has it") {
		t.Error(out)
	}
	got := catalogue(t, 0, "", "export", "-", database)
	for _, row := range []string{
		"The Hobbit,Mine,310,1937-09-21,J. R. R. Tolkien,19.99,Fantasy,Fiction,", "Mine,Mine too,7,2000-01-01,Me,1.00,Fantasy,Fiction,9780306406157",
		"Rivers,,304,1998-01-01,Ann One,9.50,Rivers,Nature,9783161484100,North Press", "The Hobbit,,1,2001-01-01,J. R. R. Tolkien,9.50,Fantasy,",
	} {
		if !strings.Contains(got, row) {
			t.Errorf("no %q in\n%s", row, got)
		}
	}
	if rows := strings.Count(got, "\n"); rows != 5 {
		t.Errorf("%d lines:\n%s", rows, got)
	}
}

// TestLookupRefuses refuses what it cannot do, and says how look-ups are turned on.
func TestLookupRefuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"look-ups are off: set CATALOGUE_LOOKUP to sources, such as dnb,openlibrary": {"9783161484100"},
		"--lookup or CATALOGUE_LOOKUP: source 1: write one of dnb":                   {"--lookup=amazon", "9783161484100"},
		"1 is not a valid ISBN":           {"--lookup=dnb", "1"},
		"--default applies to --add only": {"--lookup=dnb", "--default=price=1", "9783161484100"},
		"--default must be FIELD=VALUE":   {"--lookup=dnb", "--add", "--default=cost=1", "9783161484100"},
	} {
		var stdout, stderr strings.Builder
		err := run(t.Context(), append([]string{"lookup"}, args...), noEnv, strings.NewReader(""), &stdout, &stderr)
		if code := report(err, &stderr); code != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: %d %s", args, code, &stderr)
		}
	}
}
