package citation

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/textline"
)

// RISReader reads the records of RIS.
type RISReader struct {
	in    *textline.Reader
	hasER bool // a record has ended with ER
}

// NewRISReader returns a reader of a text in UTF-8.
func NewRISReader(in io.Reader) *RISReader { return &RISReader{in: textline.NewReader(in)} }

var (
	risLine  = regexp.MustCompile(`^([A-Z][A-Z0-9]) {1,2}- ?(.*)$`)
	risStart = regexp.MustCompile(`(?m)^TY {1,2}- ?[A-Z]+\s*$`)
)

// IsRIS reports whether a text begins as RIS does. Programs write lines before the first record.
func IsRIS(start []byte) bool {
	return risStart.Match(bytes.ReplaceAll(start, []byte("\r"), []byte("\n")))
}

// Next returns the next record, or io.EOF. A record ends with ER, or before the next TY.
func (r *RISReader) Next() (Entry, error) {
	var e Entry
	fields, last := map[string][][]byte{}, ""
	for {
		next, err := r.in.Next()
		line := next.Content()
		switch {
		case errors.Is(err, io.EOF) && e.Line > 0:
			if r.hasER {
				e.Problem = cmp.Or(e.Problem, "the record has no end (ER), so the file may be cut off")
			}
			return e.ended(fields), nil
		case err != nil:
			return Entry{}, err
		}
		found := risLine.FindSubmatch(bytes.TrimPrefix(line, []byte("\uFEFF")))
		tag := ""
		if found != nil {
			tag = string(found[1])
		}
		switch {
		case tag == "TY" && e.Line > 0:
			r.in.Unread([]textline.Line{next})
			return e.ended(fields), nil
		case tag == "TY":
			e.Line = next.Number
		case e.Line == 0:
			continue // before the first record
		case tag == "ER":
			r.hasER = true
			return e.ended(fields), nil
		}
		if e.Size += len(line); e.Size > maxEntry {
			e.Problem = "the record is longer than 1 MiB"
			continue
		}
		switch text := strings.TrimSpace(string(line)); {
		case !utf8.ValidString(text):
			e.Problem = "the record is not UTF-8"
		case found != nil:
			last = tag
			fields[tag] = append(fields[tag], bytes.Clone(bytes.TrimSpace(found[2])))
		case text != "" && last != "": // the last text goes on
			of := fields[last]
			of[len(of)-1] = append(append(of[len(of)-1], ' '), text...)
		}
	}
}

// risSources are the tags of RIS. The first ones are of books alone.
var risSources = []source{
	{"series", "T2 T3"}, {"series_number", "VL"},
	{"name", "TI T1 BT CT"}, {"author", "AU A1 A2 ED"}, {"publisher", "PB"}, {"isbn", "SN"}, {"language", "LA"},
	{"shelf_mark", "CN"}, {"description", "AB N2"}, {"genre", "KW"},
}

// ended returns the entry with the values of its fields.
func (e Entry) ended(fields map[string][][]byte) Entry {
	if e.Problem != "" {
		return e
	}
	b := newBook(map[string]string{})
	for tag, texts := range fields {
		isEmpty := func(text []byte) bool { return len(text) == 0 }
		b.texts[tag] = string(bytes.Join(slices.DeleteFunc(slices.Clone(texts), isEmpty), []byte("; ")))
	}
	sources := risSources
	if b.texts["TY"] != "BOOK" {
		sources = sources[2:]
	}
	b.read(sources, func(key, tag, text string) string {
		if key == "author" && len(text) <= maxAuthor {
			return risNames(fields[tag])
		}
		return text
	})
	for _, tag := range []string{"PY", "Y1", "DA"} { // from the year to the day
		if date := risDate(b.texts[tag]); date != "" {
			b.used[tag] = true
			if text := b.values["published_at"]; text == "" || strings.Count(date, "-") > strings.Count(text, "-") {
				b.set("published_at", date)
			}
		}
	}
	if b.texts["EP"] == "" && !pageRange.MatchString(b.texts["SP"]) {
		b.set("pages", b.texts["SP"])
		b.used["SP"] = true
	}
	b.used["ID"], b.used["TY"] = true, b.texts["TY"] == "BOOK"
	e.Values = b.rest(func(tag string) string { return tag })
	return e
}

// risDate returns a date of RIS, YYYY/MM/DD/other, as YYYY-MM-DD, YYYY-MM or YYYY. A month may have a name. Other
// texts stay.
func risDate(text string) string {
	parts := strings.SplitN(text, "/", 4)
	if !digits.MatchString(parts[0]) {
		return text
	}
	parts = parts[:min(len(parts), 3)]
	if end := slices.IndexFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" }); end > 0 {
		parts = parts[:end]
	}
	return strings.Join(parts, "-")
}

// risNames returns the author of names: "Family, Given, Suffix".
func risNames(names [][]byte) string {
	var persons []author.Person
	for _, name := range names {
		if whole := author.Parse(string(name)); len(whole) == 1 && whole[0].Institution { // Random House, Inc.
			persons = append(persons, whole...)
			continue
		}
		parts := strings.SplitN(string(name), ",", 3)
		for i := range parts {
			parts[i] = oneLine(parts[i])
		}
		if len(parts) == 3 {
			parts[1], parts[2] = parts[2], parts[1]
		}
		persons = append(persons, personsOf(parts, false)...)
	}
	if len(persons) == 0 {
		return ""
	}
	return author.Join(persons)
}
