package source

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model/textline"
)

// readRecords reads all records of a CSV text. A malformed one is what is wrong
// with it and its first line.
func readRecords(t *testing.T, text string) (records [][]string) {
	t.Helper()
	lines := &csvReader{Reader: textline.NewReader(strings.NewReader(text)), Format: Format{Delimiter: ','}}
	for {
		first, err := lines.NextFull()
		if errors.Is(err, io.EOF) {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		cells, _, err := lines.record(first)
		if err != nil {
			cells = append([]string{err.Error()}, cells...)
		}
		records = append(records, cells)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxRow+1)
	for _, test := range []struct {
		name, text string
		want       [][]string
	}{
		{"plain", "a,b\nc,\n", [][]string{{"a", "b"}, {"c", ""}}},
		{"no end", "a,b\nc,d", [][]string{{"a", "b"}, {"c", "d"}}},
		{"CRLF, empty lines", "a,b\r\n\r\n\nc,\"d\"\r\n", [][]string{{"a", "b"}, {"c", "d"}}},
		{"LF, CRLF and CR", "a,b\nc,d\r\ne,f\rg,h\r\r\n\ni,\"j\"\r", [][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}, {"i", "j"}}},
		{"byte order mark", "\uFEFFa,b\n", [][]string{{"a", "b"}}},
		{"line ends in cells stay", "\"a\r\nb\",\"c\n\r\n\rd\"\n", [][]string{{"a\r\nb", "c\n\r\n\rd"}}},
		{"quotes", `"a ""b""",""` + "\n" + `"""",","`, [][]string{{`a "b"`, ""}, {`"`, ","}}},
		{"a quote inside a plain cell", `5" disk,a"b"` + "\nc,d", [][]string{{`5" disk`, `a"b"`}, {"c", "d"}}},
		{"text after a quoted cell", "a,b\n\"c\" d,e\nf,g", [][]string{{"a", "b"}, {errQuotes.Error(), `"c" d,e`}, {"f", "g"}}},
		{"a quote that nobody closes", "a,\"b\nc,d\ne,f", [][]string{{errQuotes.Error(), `a,"b`}, {"c", "d"}, {"e", "f"}}},
		{"one that ends amid a good row", "a,\"b\nc,d\n\"e\",f\ng,h",
			[][]string{{errQuotes.Error(), `a,"b`}, {"c", "d"}, {"e", "f"}, {"g", "h"}}},
		{"long line", "a,b\n" + long + "\nc,d", [][]string{{"a", "b"}, {errTooLong.Error(), long[:maxRow]}, {"c", "d"}}},
		{"long record", "a,\"b\n" + long[2:] + "\nc,d",
			[][]string{{errTooLong.Error(), `a,"b`}, {long[2:]}, {"c", "d"}}},
		{"long line in a record", "a,\"b\n" + long + "\nc,d",
			[][]string{{errTooLong.Error(), `a,"b`}, {errTooLong.Error(), long[:maxRow]}, {"c", "d"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, readRecords(t, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLineNumbers(t *testing.T) {
	t.Parallel()
	lines := &csvReader{Reader: textline.NewReader(strings.NewReader("a\n\"b\nc\nd")), Format: Format{Delimiter: ','}}
	var numbers []int
	for {
		first, err := lines.NextFull()
		if errors.Is(err, io.EOF) {
			break
		}
		numbers = append(numbers, first.Number)
		lines.record(first)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4}, numbers); diff != "" {
		t.Error(diff)
	}
}

// TestReadError: what is wrong with the file is not wrong with a row.
func TestReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	lines := &csvReader{Reader: textline.NewReader(io.MultiReader(strings.NewReader("a,\"b\n"), errReader{broken})), Format: Format{Delimiter: ','}}
	first, err := lines.NextFull()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := lines.record(first); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// FuzzRecords holds the reader to encoding/csv wherever that reads a text
// without complaint, and to keeping what its Writer wrote, line ends too.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		"a,b\n\"c\nd\",\"\"\"\"\n", "a\"b,c\n", "\"a\"b,c\n\"\n", ",,\n\n\"\",\r\n", "\"a\r\nb\",\" c\"", "\uFEFFx", `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours := readRecords(t, text)
		if !strings.ContainsAny(text, "\r\uFEFF") {
			reader := csv.NewReader(strings.NewReader(text))
			reader.FieldsPerRecord = -1
			if theirs, err := reader.ReadAll(); err == nil {
				if diff := cmp.Diff(theirs, ours); diff != "" {
					t.Errorf("%q (-encoding/csv +ours):\n%s", text, diff)
				}
			}
		}

		cells := append(strings.Split(text, ","), text, "end")
		var written strings.Builder
		writer := csv.NewWriter(&written)
		if err := writer.Write(cells); err != nil {
			t.Fatal(err)
		}
		writer.Flush()
		if strings.HasPrefix(written.String(), "\uFEFF") {
			return // a mark, not a part of the first cell
		}
		if diff := cmp.Diff([][]string{cells}, readRecords(t, written.String())); diff != "" {
			t.Errorf("%q (-written +read):\n%s", written.String(), diff)
		}
	})
}
