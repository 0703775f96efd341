package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// category is the field that may be missing unless a genre is new.
const category, genre, author, published = "category", "genre", "author", "published_at"

// fillable are the fields with a sensible value for empty cells.
var fillable = []string{"pages", "price", genre, category}

// missingQuestion returns the question about required or asked fields without a column, or with an empty one. It asks
// for the category too.
func (f *File) missingQuestion(missing []string) *Question {
	q := &Question{Option: "map", Fields: missing}
	var absent, texts []string
	for _, field := range missing {
		isAnswered, near := f.candidates.isAnswered(field), ""
		if isAnswered {
			near = fmt.Sprintf(" (did you mean %s?)", Printable(f.address(f.candidates[field][0].column)))
		}
		for _, c := range f.candidates[field] {
			f.propose(q, c)
		}
		if isAnswered || !f.HasColumn(field) {
			absent = append(absent, Printable(cmp.Or(f.options.Columns[field], field))+near)
			continue
		}
		empty := "is empty in all rows"
		if f.isJSON() {
			empty = "has no text or number in any row"
		}
		texts = append(texts, fmt.Sprintf("the column %s %s%s", Printable(f.columnOf(field)), empty, near))
	}
	if len(absent) > 0 {
		texts = append(texts,
			fmt.Sprintf("the header has no column %s. It has: %s", strings.Join(absent, ", "), List(f.Header)))
	}
	for _, field := range f.Unfilled() {
		if !slices.Contains(q.Fields, field) {
			q.Fields = append(q.Fields, field)
		}
		if f.holes[field] > 0 {
			verb := "have"
			if f.holes[field] == 1 {
				verb = "has"
			}
			texts = append(texts, fmt.Sprintf("%s %s no %s", CountRows(f.holes[field]), verb, field))
		}
	}
	q.Text.Key = strings.Join(texts, ". ") // the page asks for each field
	return q
}

// propose adds a candidate to the question about missing fields.
func (f *File) propose(q *Question, c rank) {
	column := f.address(c.column)
	values := f.firstOf(c.column)
	first := strings.Join(values, "; ")
	q.Candidates = append(q.Candidates, Candidate{c.field, column, values})
	if c.isAnswer {
		q.Answers = append(q.Answers, Answer{"map", c.field + "=" + column, "reads " + c.field + " from that column",
			model.Messagef("Use %s for %s: %s", Printable(column), model.ImportField(c.field).Label, first)})
	}
	if f.profiles[c.column].Points(c.field) < 0 {
		q.Examples = append(q.Examples,
			model.Messagef("the column %s is filled, but not readable as %s: %s", Printable(column), c.field, first))
	} else {
		q.Examples = append(q.Examples, model.Messagef("%s may be %s: %s", c.field, Printable(column), first))
	}
}

// address returns the name by which options name a column: #3 for one without a name of its own, and for one that a
// shell or a list of options would change.
func (f *File) address(i int) string {
	name := f.Header[i]
	if name == "" || strings.Contains(name, ";") || Printable(name) != name || slices.Index(f.Header, name) != i {
		return "#" + strconv.Itoa(i+1-addedColumns(f.Header))
	}
	return name
}

// firstOf returns the first values of a column.
func (f *File) firstOf(i int) []string {
	first := []string{}
	for _, text := range f.profiles[i].First {
		first = append(first, escape(text, maxExample))
	}
	return first
}

// maxExample is the maximum length of a value in a question.
const maxExample = 40

// HasColumn reports whether a field has a column.
func (f *File) HasColumn(field string) bool { return f.columns[field] != nil }

// Unfilled returns the fields with empty cells that a default can fill. It includes a category without a column,
// because new genres need one.
func (f *File) Unfilled() (fields []string) {
	for _, field := range fillable {
		if f.holes[field] > 0 || field == category && !f.options.hasDefault(field) && f.columns[field] == nil {
			fields = append(fields, field)
		}
	}
	return fields
}
