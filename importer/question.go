package importer

import (
	"strings"

	"library-catalogue/graph/model"
)

// Questions is an error of Survey: the file is ambiguous, and options decide.
type Questions []*Question

// Question is what one option decides.
type Question struct {
	Option   string   // that decides: map, dates or duplicates
	Text     string   // a sentence without its end
	Examples []string // lines about rows of the file
	Fields   []string // for map: the fields without a column or with empty cells, and the category, which new genres need
	Answers  []Answer // the values to choose from; for map those that nearly match
}

// Answer is a value of an option.
type Answer struct {
	Value   string
	Meaning string // its effect, as the end of a sentence
	Label   string // its effect, as the label of a button
}

// String returns the text with the examples.
func (q *Question) String() string {
	if len(q.Examples) == 0 {
		return q.Text
	}
	return q.Text + ":\n  " + strings.Join(q.Examples, "\n  ")
}

// Error returns the questions without their answers, which each caller offers in its own way.
func (q Questions) Error() string {
	texts := make([]string, len(q))
	for i, question := range q {
		texts[i] = question.String()
	}
	return strings.Join(texts, ". ")
}

// StandIn returns a default for a field without a column.
func StandIn(field string) string {
	switch model.ImportField(field).Kind {
	case model.KindDate:
		return "1900-01-01"
	case model.KindCents:
		return "0"
	case model.KindInt:
		return "1"
	}
	return "Unknown"
}
