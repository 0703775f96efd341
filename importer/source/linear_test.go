package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
)

// allocated returns the bytes that the process has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Bounds of the work for a text. Work by the square of the length exceeds them soon.
const (
	maxBytesEach = 5000    // allocated for each byte
	maxBytesMore = 8 << 20 // allocated for each file
)

// readBounded reads all records of a text in a format. It fails if the reader returns more records than the text has bytes,
// or allocates too much.
func readBounded(t *testing.T, f Format, text string) (records int) {
	t.Helper()
	before := allocated()
	most := uint64(maxBytesMore + maxBytesEach*len(text))
	r, _, err := newRecordReader(strings.NewReader(text), f)
	for err == nil {
		if records%1000 == 0 && allocated()-before > most {
			break
		}
		if _, err = r.Next(); err == nil {
			records++
		}
	}
	if used := allocated() - before; used > most || records > len(text) {
		t.Errorf("%s: a text of %d bytes, %.80q: %d records, %d bytes allocated", f.Name, len(text), text, records, used)
	}
	return records
}

// TestLinear reads long files in which each line could make the reader go through all others again.
func TestLinear(t *testing.T) {
	many := func(line string) string { return strings.Repeat(line, 100_000) }
	comma := Format{Name: CSV, Delimiter: ','}
	for name, test := range map[string]struct {
		format Format
		text   string
		rows   int
	}{
		"a quote that is not closed":    {comma, "name\n\"\n" + strings.Repeat("x\n", 500_000), 500_001},
		"one in each line":              {comma, "name,author\n" + many("x\",\"y\n"), 100_000},
		"one in each other line":        {comma, "name\n" + many("\"\nx\n"), 100_000},
		"with lone carriage returns":    {comma, "name,b\n\"\n" + many("x\r"), 100_001},
		"apostrophes and backslashes":   {Format{Name: CSV, Delimiter: '\\', Quote: '\'', Backslash: true}, "name\\b\n" + many("a\\'b\n"), 100_000},
		"empty lines":                   {comma, "name\n\"\n" + many("\n"), 1},
		"an entry that is not closed":   {Format{Name: BibTeX}, many("@book{a,\n"), 100_000},
		"lines without an end of entry": {Format{Name: BibTeX}, "@book{a,\n" + many("x = {\n"), 1},
		"a record that does not end":    {Format{Name: RIS}, "TY  - BOOK\n" + many("x\n"), 1},
		"starts of records":             {Format{Name: RIS}, many("TY  - BOOK\n"), 100_000},
		"elements":                      {Format{Name: JSONArray}, "[" + many("1,\n") + "1]", 100_001},
		"objects after each other":      {Format{Name: JSONArray, IsStream: true}, many("{}\n"), 100_000},
		"braces":                        {Format{Name: JSONLines}, many("{\n"), 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			if rows := readBounded(t, test.format, test.text); rows != test.rows {
				t.Errorf("%d rows, want %d", rows, test.rows)
			}
		})
	}
}

// TestRecordsEndWithContext reads records that are in memory, after the end of the context.
func TestRecordsEndWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	text := "name\n\"\n" + strings.Repeat("x\n", 1000)
	in := &Text{source: &Source{bytes: strings.NewReader(text), size: int64(len(text))}}
	r, _, err := in.Records(ctx, Format{Name: CSV, Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := r.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("the next record: %v", err)
	}
}

// TestColumns bounds the columns of a header. A row that only another delimiter splits into so many is none.
func TestColumns(t *testing.T) {
	t.Parallel()
	matched := Header{Matched: func(names []string) int {
		if len(names) > maxColumns {
			t.Errorf("%d names are compared", len(names))
		}
		return 0
	}}
	wide := strings.Repeat("x,", maxColumns)
	for text, want := range map[string]string{
		wide[2:] + "x\n":                       "",
		wide + "x\n":                           "line 1 has more than 16384 columns",
		"name,note\na,\"" + wide + "\"\nb,c\n": "",
		"name,note\na," + wide + "\nb,c\n":     "",
	} {
		f, err := findFormat(strings.NewReader(text), "", ',', matched)
		if err == nil {
			_, _, err = newRecordReader(strings.NewReader(text), f)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// fuzzReader reads texts that begin with head and repeat a line. A reader that does work by the square of the length
// exceeds the bounds.
func fuzzReader(f *testing.F, format Format, seeds ...[2]string) {
	f.Helper()
	const length = 64 << 10
	for _, seed := range seeds {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, head, line string) {
		readBounded(t, format, head+strings.Repeat(line, min(length/max(len(line), 1), length)))
	})
}

func FuzzCSV(f *testing.F) {
	fuzzReader(f, Format{Name: CSV, Delimiter: ','}, [2]string{"name\n\"\n", "x\n"}, [2]string{"name,author\n", "x\",\"y\n"}, [2]string{"name\n", "x\r"})
}

func FuzzCSVWithBackslashes(f *testing.F) {
	fuzzReader(f, Format{Name: CSV, Delimiter: '\\', Quote: '\'', Backslash: true}, [2]string{"name\\b\n", "a\\'b\n"}, [2]string{"a\\b\n'", "\\'\r"})
}

func FuzzJSONLines(f *testing.F) {
	fuzzReader(f, Format{Name: JSONLines}, [2]string{"", "{\"a\":[1]}\n"}, [2]string{"", "/type/\t{\n"})
}

func FuzzJSONArray(f *testing.F) {
	fuzzReader(f, Format{Name: JSONArray}, [2]string{"[", "{\"a\":[[1]]},"}, [2]string{"[{", "\"a\":{"}, [2]string{"[", "1,\n"})
}

func FuzzJSONStream(f *testing.F) {
	fuzzReader(f, Format{Name: JSONArray, IsStream: true}, [2]string{"", "{}\n"}, [2]string{"{\"a\":", "["})
}

func FuzzMARC(f *testing.F) {
	fuzzReader(f, Format{Name: ISO2709}, [2]string{"", "00026cam a2200025 a 4500\x1e\x1d"}, [2]string{"", "99999"}, [2]string{"00042cam a2200037 a 4500", "245000400000\x1eab\x1e\x1d"})
}

func FuzzMARCXML(f *testing.F) {
	fuzzReader(f, Format{Name: MARCXML}, [2]string{"<collection>", "<record><datafield tag=\"245\"><subfield code=\"a\">x</subfield></datafield></record>"}, [2]string{"", "<record>"})
}

func FuzzMARCMaker(f *testing.F) {
	fuzzReader(f, Format{Name: MARCMaker}, [2]string{"=LDR  00026cam\n", "=245  10$ax\n"}, [2]string{"", "=LDR  00026cam\n\n"})
}

func FuzzBibTeX(f *testing.F) {
	fuzzReader(f, Format{Name: BibTeX}, [2]string{"", "@book{a, title={x}}\n"}, [2]string{"@string{a=\"x\"}@book{b, title=a", " # a"}, [2]string{"@book{a, title={", "{\\\"o}"})
}

func FuzzRIS(f *testing.F) {
	fuzzReader(f, Format{Name: RIS}, [2]string{"TY  - BOOK\n", "AU  - x\n"}, [2]string{"", "TY  - BOOK\nER  - \n"})
}

// FuzzDetection detects the encoding and the format of a text, which reads its beginning several times.
func FuzzDetection(f *testing.F) {
	for _, seed := range [][2]string{{"", "{\"a\":{\"b\":1},"}, {"{", "\"a\":[{\"b\":1}],"}, {"", "a\",\"b\xe9\n"}, {"", "A\xe9"}, {"<?xml ", "x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, head, line string) {
		const length = 64 << 10
		text := []byte(head + strings.Repeat(line, min(length/max(len(line), 1), length)))
		before, compared := allocated(), 0
		_, _, err := findCharset(bytes.NewReader(text))
		if err == nil {
			_, err = findFormat(bytes.NewReader(text), "", 0, Header{Matched: func(names []string) int { compared += 1 + len(names); return len(names) % 3 }})
		}
		if used := allocated() - before; used > uint64(maxBytesMore+maxBytesEach*len(text)) || compared > 20*len(text)+1000 || errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a text of %d bytes: %d bytes allocated, %d names compared", len(text), used, compared)
		}
	})
}

// TestLongNames reads an object with a long name around many names, which must not be repeated before each of them. It runs
// alone, because it counts what the process allocates.
func TestLongNames(t *testing.T) {
	const most = 64 << 20
	long := `"` + strings.Repeat("k", 20_000) + `":`
	var inner strings.Builder
	for i := range 20_000 {
		inner.WriteString(`"` + strconv.Itoa(i) + `":1,`)
	}
	object := "{" + strings.TrimSuffix(inner.String(), ",") + "}"
	lists := "{" + strings.Repeat(`"a":[{}],`, 20_000) + `"b":1}`
	for name, text := range map[string]string{
		"of an object":  `{"name":"x",` + long + object + "}",
		"of three":      `{"name":"x",` + long + "{" + long + "{" + long + object + "}}}",
		"of a list":     `{"name":"x",` + long + "[" + object + "]}",
		"of many lists": `{` + long + lists + "}",
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			if _, err := findFormat(strings.NewReader(text), "", 0, Header{Matched: func([]string) int { return 0 }}); err != nil {
				t.Error(err)
			}
			if used := allocated() - before; used > most {
				t.Errorf("detecting the format of %d bytes allocates %d", len(text), used)
			}
			before = allocated()
			new(Record).ParseJSON([]byte(text), "line")
			if used := allocated() - before; used > most {
				t.Errorf("reading %d bytes allocates %d", len(text), used)
			}
		})
	}
}

// TestAbbreviations reads entries that are short and have a long text by @string.
func TestAbbreviations(t *testing.T) {
	t.Parallel()
	text := `@string{a = "` + strings.Repeat("x", 500_000) + `"}` + strings.Repeat("\n@book{k, title = a # a}", 1000)
	r, _, err := newRecordReader(strings.NewReader(text), Format{Name: BibTeX})
	size := 0
	for err == nil {
		var out Record
		if out, err = r.Next(); err == nil {
			size += len(out.Cells[0])
		}
	}
	if size > 100*len(text) || !strings.Contains(err.Error(), "more than 100 times") {
		t.Errorf("%d bytes of %d, %v", size, len(text), err)
	}
}
