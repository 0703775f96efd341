package source

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlatten reads lists and objects of JSON as texts.
func TestFlatten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a": {"date-parts": [[2000, 5], [2001, 6]]}}`:                                                    "2000-5",
		`{"a": {"date-parts": [[1999], [2001]]}}`:                                                          "1999",
		`{"a": {"date-parts": [["2003", "7", "1"]]}}`:                                                      "2003-7-1",
		`{"a": {"date-parts": [[]]}}`:                                                                      "",
		`{"a": [{"key": "/languages/spa"}]}`:                                                               "spa",
		`{"a": {"key": "/languages/fre"}}`:                                                                 "fre",
		`{"a": [{"key": "/languages/eng"}, {"key": "/languages/ger"}]}`:                                    "eng, ger",
		`{"a": [{"key": "/authors/OL1A"}]}`:                                                                "",
		`{"a": [{"author": {"key": "/authors/OL1A"}, "type": "/type/author_role"}]}`:                       "",
		`{"a": [{"firstName": "Georg", "lastName": "Hof", "prefix": "von"}, {"name": "River Institute"}]}`: "Georg von Hof, River Institute",
		`{"a": [{"given": "Jan", "prefix": "van den", "family": "Berg", "suffix": "Jr."}]}`:                "Jan van den Berg Jr.",
		`{"a": {"first_name": "Ann", "middle_name": "B.", "last_name": "One"}}`:                            "Ann B. One",
		`{"a": [{"givenName": "Zoë", "familyName": "Two"}, {"First Name": "Cid", "Surname": "Three"}]}`:    "Zoë Two, Cid Three",
		`{"a": [{"family": "Beauvoir", "dropping-particle": "de", "given": "Simone"}]}`:                    "Simone de Beauvoir",
		`{"a": [{"prefix": "Dr.", "given": "Ann", "family": "One"}]}`:                                      "Dr. Ann One",
		`{"a": [{"lastName": "Plato", "firstName": null, "prefix": ""}]}`:                                  "Plato",
		`{"a": [{"prefix": "Dr."}, {"first": 1, "last": 9}]}`:                                              "",
		`{"a": [null]}`:            "",
		`{"a": [""]}`:              "",
		`{"a": [{}, {"b": null}]}`: "",
	} {
		var r Record
		r.ParseJSON([]byte(text), "line")
		if diff := cmp.Diff(want, r.Values["a"].Written()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
