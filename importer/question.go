package importer

import "strings"

// Question is an error of Survey: the file is ambiguous, and an option decides.
type Question struct {
	Option   string   // that decides: dates, duplicates or map
	Text     string   // a sentence without its end
	Examples []string // lines about rows of the file
	Answers  []Answer // the values to choose from; none for map
}

// Answer is a value of an option.
type Answer struct {
	Value   string
	Meaning string // its effect, as the end of a sentence
	Label   string // its effect, as the label of a button
}

// Error returns the question without its answers, which each caller offers in its own way.
func (q *Question) Error() string {
	if len(q.Examples) == 0 {
		return q.Text
	}
	return q.Text + ":\n  " + strings.Join(q.Examples, "\n  ")
}
