package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// foldName returns a column's name without case, accents, spaces and punctuation.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, collate.Fold(name))
}

// columns maps fields to the indexes of their columns in a header. In each row the first column with a value counts.
type columns map[string][]int

// otherThing matches a part of a dotted name that is not the book: its title or year is not the book's.
var otherThing = regexp.MustCompile(`(?i)publisher|series|genre|categor`)

// findColumns finds the columns of each field: by the name in asked, else by the field's own name, and if a required
// field is missing, also by other usual names. A field with the asked name "" has no column.
func findColumns(header []string, o Options) (found columns, err error) {
	asked := o.Columns
	found = columns{}
	folded, last := make([]string, len(header)), make([]string, len(header))
	for i, name := range header {
		folded[i] = foldName(name)
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && !otherThing.MatchString(name[:dot]) { // volumeInfo.title
			if last[i] = foldName(name[dot:]); last[i] == "name" {
				last[i] = "" // also of persons and shops
			}
		}
	}
	find := func(field, name string) {
		i := slices.Index(header, name)
		in, sought := header, name
		if i < 0 {
			in, sought = folded, foldName(name)
			i = slices.Index(in, sought)
		}
		switch {
		case i < 0 || sought == "":
		case slices.Contains(in[i+1:], sought):
			err = fmt.Errorf("there are two columns %q", Printable(header[i]))
		default:
			found[field] = []int{i}
		}
	}
	isGuessed := func(field string) bool { _, isAsked := asked[field]; return !isAsked }
	complete := true
	for _, field := range model.ImportFields {
		name := field
		if !isGuessed(field) {
			name = asked[field]
		}
		if find(field, name); err != nil {
			return nil, err
		}
		complete = complete && (found[field] != nil || !isGuessed(field) || model.ImportField(field).Nullable)
	}
	if !complete {
		found.guess(folded, last, isGuessed, o.Defaults)
	}
	return found, nil
}

// isRequired reports whether a field needs a column.
func isRequired(field string, defaults map[string]string) bool {
	_, hasDefault := defaults[field]
	return !hasDefault && !model.ImportField(field).Nullable
}

// guess adds the columns with other usual names of the fields, best first. The names in the lists count in turn, and
// last parts of names only for a field without a column. The category's columns are the genre's if it has none.
func (c columns) guess(folded, last []string, isGuessed func(field string) bool, defaults map[string]string) {
	used := map[int]bool{}
	for _, of := range c {
		used[of[0]] = true
	}
	add := func(names []string, field string, spellings []string) {
		for _, spelling := range spellings {
			if i := slices.Index(names, spelling); i >= 0 && !used[i] {
				c[field], used[i] = append(c[field], i), true
			}
		}
	}
	guessed := slices.DeleteFunc(slices.Clone(model.ImportFields), func(field string) bool { return !isGuessed(field) })
	for pass, names := range [][]string{folded, last} {
		for _, field := range guessed {
			if pass == 0 || c[field] == nil {
				add(names, field, append([]string{foldName(field)}, model.ImportField(field).Spellings...))
			}
		}
	}
	_, hasGenre := defaults[genre]
	_, hasCategory := defaults[category]
	if isGuessed(genre) && isGuessed(category) && c[genre] == nil && c[category] != nil && (hasCategory || !hasGenre) {
		c[genre] = c[category]
		delete(c, category)
	}
	for _, field := range guessed {
		for _, names := range [][]string{folded, last} {
			if c[field] == nil || field == genre { // a price paid is no list price
				add(names, field, model.ImportField(field).Fallbacks)
			}
		}
	}
}

// unused returns the names of the columns without a field.
func (c columns) unused(header []string) (names []string) {
	used := map[int]bool{}
	for _, of := range c {
		for _, i := range of {
			used[i] = true
		}
	}
	for i, name := range header {
		if !used[i] {
			names = append(names, name)
		}
	}
	return names
}

// missingField is a required or asked field without a column.
type missingField struct {
	field, asked string
	isEmpty      bool // it has a column, which is empty in all rows
}

// category is the field that may be missing unless a genre is new.
const category, genre = "category", "genre"

// fillable are the fields with a sensible value for empty cells.
var fillable = []string{"pages", "price", genre, category}

// missingQuestion returns the question about missing fields. It asks for the category too.
func (f *File) missingQuestion(missing []missingField) *Question {
	q := &Question{Option: "map"}
	var absent, texts []string
	for _, m := range missing {
		q.Fields = append(q.Fields, m.field)
		name := Printable(cmp.Or(m.asked, m.field))
		near := f.near[m.field]
		if near == "" {
			near = f.nearMiss(m)
		}
		if near != "" {
			q.Answers = append(q.Answers, Answer{
				m.field + "=" + near, "reads " + m.field + " from that column", fmt.Sprintf("Use %s for %s", Printable(near), model.ImportField(m.field).Label)})
			near = fmt.Sprintf(" (did you mean %s?)", Printable(near))
		}
		if m.isEmpty {
			empty := "is empty in all rows"
			if f.isJSON() {
				empty = "has no text or number in any row"
			}
			texts = append(texts, fmt.Sprintf("the column %s %s%s", Printable(f.columnOf(m.field)), empty, near))
		} else {
			absent = append(absent, name+near)
		}
	}
	if len(absent) > 0 {
		texts = append(texts, fmt.Sprintf("the header has no column %s. It has: %s", strings.Join(absent, ", "), List(f.Header)))
	}
	for _, field := range f.Unfilled() {
		if !slices.Contains(q.Fields, field) {
			q.Fields = append(q.Fields, field)
		}
		if f.holes[field] > 0 {
			texts = append(texts, fmt.Sprintf("the column %s is empty in %s", Printable(f.columnOf(field)), CountRows(f.holes[field])))
		}
	}
	q.Text = strings.Join(texts, ". ")
	return q
}

// HasColumn reports whether a field has a column.
func (f *File) HasColumn(field string) bool { return f.columns[field] != nil }

// Unfilled returns the fields with empty cells that a default can fill. It includes a category without a column, because
// new genres need one.
func (f *File) Unfilled() (fields []string) {
	for _, field := range fillable {
		_, hasDefault := f.options.Defaults[field]
		if f.holes[field] > 0 || field == category && !hasDefault && f.columns[field] == nil {
			fields = append(fields, field)
		}
	}
	return fields
}

// findNearMisses gives missing fields the columns that were probably meant, so that all questions are asked at once.
func (f *File) findNearMisses() {
	for _, field := range model.ImportFields {
		m := missingField{field: field, asked: f.options.Columns[field]}
		if f.columns[field] != nil || m.asked == "" && !isRequired(field, f.options.Defaults) {
			continue
		}
		if near := f.nearMiss(m); near != "" {
			f.near[field], f.columns[field] = near, []int{slices.Index(f.Header, near)}
		}
	}
}

// Limits of the search for nearly equal names, because each name is compared with all spellings.
const (
	maxNearColumns = 1000
	maxNearName    = 64 // bytes
)

// nearMiss returns an unused column with nearly the name of a missing one, or "".
func (f *File) nearMiss(m missingField) string {
	if _, isAsked := f.options.Columns[m.field]; isAsked && m.asked == "" {
		return "" // left out
	}
	sought := append([]string{foldName(m.field)}, model.ImportField(m.field).Spellings...)
	if m.field == genre {
		sought = append(append(sought, category), model.ImportField(category).Spellings...)
	}
	if m.asked != "" {
		sought = append([]string{foldName(m.asked)}, sought...)
	}
	unused := f.columns.unused(f.Header)
	for _, name := range unused[:min(len(unused), maxNearColumns)] {
		if len(name) > maxNearName {
			continue
		}
		folded := foldName(name)
		for _, s := range sought {
			if strings.HasPrefix(folded, "publisher") || len(s) < 5 {
				continue // a publisher is nearly "published"
			}
			longer := utf8.RuneCountInString(folded) - utf8.RuneCountInString(s)
			if strings.Contains(folded, s) || max(longer, -longer) <= len(s)/5 && levenshtein.ComputeDistance(folded, s) <= len(s)/5 ||
				longer == 0 && sortedLetters(folded) == sortedLetters(s) {
				return name
			}
		}
	}
	return ""
}

// sortedLetters returns the letters of a name in order, which are the same for "titel" and "title".
func sortedLetters(name string) string { return string(slices.Sorted(slices.Values([]rune(name)))) }
