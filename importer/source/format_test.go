package source

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// knownNames counts cells that begin with the word of a header.
var knownNames = Header{Matched: func(names []string) (n int) {
	for _, name := range names {
		if first, _, _ := strings.Cut(strings.ToLower(name), " "); slices.Contains([]string{"languages", "title", "year", "author", "genre", "name", "auteurs", "editeurs"}, strings.TrimSpace(first)) {
			n++
		}
	}
	return n
}}

// TestTitlesAreNoHeaders reads lists without a header, in which a title with a comma begins with the word of one.
func TestTitlesAreNoHeaders(t *testing.T) {
	t.Parallel()
	const books = "The red river;Ann One;1990\nAt home;Bob Two;1888\n"
	for _, title := range []string{"Languages and cultures, a meeting", "Year of the sea, and other tales", "Author, author", "Genre | an essay"} {
		f, err := findFormat(strings.NewReader(books+title+";Cy Three;1927\n"), "", 0, knownNames)
		if err != nil || f.Delimiter != ';' || f.Before != 0 {
			t.Errorf("%q: the delimiter is %q, %d lines stand before the header, %v", title, f.Delimiter, f.Before, err)
		}
	}
	f, err := findFormat(strings.NewReader("A list, of books\n\ntitle;author\n"+books), "", 0, knownNames)
	if err != nil || f.Delimiter != ';' || f.Before != 2 {
		t.Errorf("a header in line 3: the delimiter is %q, %d lines stand before it, %v", f.Delimiter, f.Before, err)
	}
}

// TestListsOfOtherThings finds the list of books beside lists of authors and publishers, whose names are those of fields.
func TestListsOfOtherThings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"liste": [{"title": "A", "author": "X"}], "auteurs": [{"author": "X"}], "editeurs": [{"name": "P"}]}`: {"liste"},
		`{"author": [{"id": 1, "name": "X"}], "genre": [{"name": "G"}], "data": [{"title": "A", "year": 1}]}`:   {"data"},
		`{"title": "A", "year": 1, "author": [{"name": "X"}]}`:                                                  nil,
		`{"title": "A", "author": [{"name": "X"}]}`:                                                             nil,
	} {
		f, err := findList([]byte(text), knownNames)
		if diff := cmp.Diff(want, f.Path); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// TestObjectsAreBounded compares only the first objects of a text with books, because each comparison takes long.
func TestObjectsAreBounded(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"a": [{"b": 1}], `, `"a": {"b": 1}, `} {
		compared := 0
		h := Header{Matched: func([]string) int { compared++; return 0 }}
		text := "{" + strings.Repeat(member, 5*maxObjects) + `"z": 1}`
		if _, err := findFormat(strings.NewReader(text), "", 0, h); compared > 2*maxObjects {
			t.Errorf("%d objects are compared, %v", compared, err)
		}
	}
}

// TestSequences reads JSON text sequences (RFC 7464). Their texts may have several lines.
func TestSequences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1e{\"name\":\"A\"}\n\x1e{\"name\":\"B\"}\n":         "1 A, 2 B",
		"\x1e{\n\"name\":\n\"A\"\n}\n\x1e\x1e{\"name\":\"B\"}": "1 A, 5 B",
		"\n\x1e{\"name\":\"A\"}\n\x1e\n":                       "2 A",
		"{\"name\":\"A\"}\n{\"name\":\"B\"}\n":                 "1 A, 2 B",
	} {
		for _, name := range []string{"", FormatJSON} {
			f, err := findFormat(strings.NewReader(text), name, 0, knownNames)
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := newRecordReader(strings.NewReader(text), f)
			var got []string
			for err == nil {
				var out Record
				if out, err = r.Next(); err == nil {
					got = append(got, fmt.Sprint(out.Line, " ", out.Values["name"].Written()))
				}
			}
			if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%q, format %q: %v (-want +got):\n%s", text, name, err, diff)
			}
		}
	}
}
