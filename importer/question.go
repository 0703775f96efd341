package importer

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/value"
)

// Questions is an error of Survey, and of Import if the first batch lacks categories: the file is ambiguous, and
// options decide. Nothing is stored.
type Questions []*Question

// Question is what one option decides.
type Question struct {
	Rows     int             // for dates and duplicates: rows that it holds back
	Option   string          // encoding, map, dates, decimal, no_header or duplicates
	Text     model.Message   // a sentence without its end
	Examples []model.Message // lines about rows of the file
	// for map: fields without a column or with empty cells, and the category, which new genres need
	Fields  []string
	Answers []Answer // the values to choose from; for map those that nearly match

	Candidates []Candidate // for map: columns that may be the fields, best first
}

// Candidate is a column that may be a field.
type Candidate struct {
	Field  string   `json:"field"`
	Column string   `json:"column"`
	First  []string `json:"first"` // values
}

// Answer is a value of an option, mostly of the question's.
type Answer struct {
	Option  string        `json:"parameter"`
	Value   string        `json:"value"`
	Meaning string        `json:"meaning"` // its effect, as the end of a sentence
	Label   model.Message `json:"label"`   // its effect, as the label of a button
}

// String returns the text with the examples.
func (q *Question) String() string {
	if len(q.Examples) == 0 {
		return q.Text.String()
	}
	var b strings.Builder
	b.WriteString(q.Text.String() + ":")
	for _, example := range q.Examples {
		b.WriteString("\n  " + example.String())
	}
	return b.String()
}

// Error returns the questions without their answers, which each caller offers in its own way.
func (q Questions) Error() string {
	texts := make([]string, len(q))
	for i, question := range q {
		texts[i] = question.String()
	}
	return strings.Join(texts, ". ")
}

// dateQuestion returns the question about the order of day and month in a column.
func (f *File) dateQuestion(column string, s *value.DateSurvey) *Question {
	q := &Question{Option: "dates", Rows: s.Either.Cells}
	if s.MDY.Cells > 0 {
		mdy, dmy := Printable(s.MDY.Text), Printable(s.DMY.Text)
		q.Rows = s.MDY.Cells + s.DMY.Cells
		q.Text = model.Messagef("the column %s mixes two orders: %s (%s) must be month, day, year, as in %s, and "+
			"%s (%s) must be day, month, year, as in %s",
			Printable(column), mdy, f.place(s.MDY.Row), CountRows(s.MDY.Cells), dmy,
			f.place(s.DMY.Row), CountRows(s.DMY.Cells))
		q.Answers = []Answer{
			{"dates", value.DatesMDY, "rejects the second", model.Messagef("Month first; reject dates like %s", dmy)},
			{"dates", value.DatesDMY, "rejects the first", model.Messagef("Day first; reject dates like %s", mdy)},
		}
		return q
	}
	mdy, _, _ := value.ParseDate(s.Either.Text, value.DatesMDY, f.options.LastYear)
	dmy, _, _ := value.ParseDate(s.Either.Text, value.DatesDMY, f.options.LastYear)
	q.Text = model.Messagef(inTwoWays, Printable(column), Printable(s.Either.Text), f.place(s.Either.Row))
	q.Answers = []Answer{
		{"dates", value.DatesMDY, "makes that " + mdy.String(), model.Messagef("Month first: %s", mdy.String())},
		{"dates", value.DatesDMY, "makes that " + dmy.String(), model.Messagef("Day first: %s", dmy.String())},
	}
	return q
}

// inTwoWays is the question about a column with a cell of two meanings.
const inTwoWays = "the column %s can be read in two ways, as %s (%s)"

// decimalQuestion returns the question about the decimal separator of a column.
func (f *File) decimalQuestion(column string, s *value.AmountSurvey) *Question {
	thousands, _ := value.ParseAmount(s.Ambiguous, true, value.AnyCurrency)
	decimals, _ := value.ParseAmount(s.Ambiguous, false, value.AnyCurrency)
	return &Question{Option: "decimal",
		Text: model.Messagef(inTwoWays, Printable(column), Printable(s.Ambiguous), f.place(s.Row)),
		Answers: []Answer{
			{"decimal", decimalComma, "makes that " + thousands, model.Messagef("Thousands: %s", thousands)},
			{"decimal", decimalPoint, "makes that " + decimals, model.Messagef("Decimals: %s", decimals)},
		},
	}
}

// encodingQuestion returns the question about the encoding of the file.
func (f *File) encodingQuestion() *Question {
	q := &Question{Option: "encoding", Text: model.Messagef("the encoding of the file is not clear")}
	seen := map[string]bool{}
	for _, guess := range f.Unsure {
		if text := escape(guess.Text, maxExample); !seen[text] && len(q.Answers) < maxEncodings {
			seen[text] = true
			q.Answers = append(q.Answers,
				Answer{"encoding", guess.Encoding, "reads " + text, model.Messagef("%s: %s", guess.Encoding, text)})
		}
	}
	return q
}

// maxEncodings is the maximum number of encodings in a question.
const maxEncodings = 4

// categoryQuestion returns the question about the category of new genres, if nothing was stored because it is missing,
// or if a dry run shows that at least half of the rows lack it. Options that leave the category out answer it.
func (f *File) categoryQuestion(result *model.ImportResult, isDryRun bool) *Question {
	stored, lack := result.Created+result.Updated+result.Unchanged, 0
	for _, row := range result.Rejected {
		if len(row.Problems) == 1 && row.Problems[0].Field == category {
			lack++
		}
	}
	q := &Question{Option: "map", Fields: f.Unfilled(),
		Text: model.Messagef("the genres are new, and the file has no column for their category")}
	switch {
	case f.options.Lookups, !f.lacksCategory(), lack == 0, stored > 0 && !isDryRun, stored > lack:
		return nil
	case stored > 0:
		q.Text = model.Messagef("%s have a new genre, and the file has no column for its category", CountRows(lack))
	}
	return q
}

// lacksCategory reports whether new genres have no category: no column, and no option about one.
func (f *File) lacksCategory() bool {
	return !f.options.hasDefault(category) && !f.options.isGiven(category) && f.columns[category] == nil
}

// standIn returns a default for a field.
func standIn(field string) Answer {
	return Answer{Option: "default", Value: field + "=" + model.ImportField(field).StandIn()}
}

// FirstAnswers returns options that answer questions: the first answer to each, and defaults for empty cells. It
// returns nil if no column can be the name, which has no default.
func (f *File) FirstAnswers(questions Questions) (answers []Answer) {
	for _, q := range questions {
		if slices.Contains(q.Fields, "name") && q.answer("name") < 0 {
			return nil
		}
		if q.Option == "map" {
			answers = append(answers, f.columnAnswers(q)...)
		} else {
			answers = append(answers, q.Answers[0])
		}
	}
	for _, field := range f.Unfilled() {
		answers = append(answers, standIn(field))
	}
	return answers
}

// answer returns the index of the first answer about a field, or -1.
func (q *Question) answer(field string) int {
	return slices.IndexFunc(q.Answers, func(a Answer) bool { return strings.HasPrefix(a.Value, field+"=") })
}

// hasNoText reports whether the column of a field in JSON has neither texts nor numbers in the first rows.
func (f *File) hasNoText(field string) bool {
	of := f.columns[field]
	if !f.isJSON() || len(of) != 1 {
		return false
	}
	i := of[0].columns[0]
	return i < len(f.profiles) && f.profiles[i].Filled == 0
}

// columnAnswers returns the options for fields without a column: the first column that may be it, or a default.
func (f *File) columnAnswers(q *Question) (answers []Answer) {
	for _, field := range q.Fields {
		if near := q.answer(field); near >= 0 {
			answers = append(answers, q.Answers[near])
			continue
		}
		if f.options.isGiven(field) && !f.HasColumn(field) || f.hasNoText(field) {
			answers = append(answers, Answer{Option: "map", Value: field + "="}) // no default replaces a list
		}
		if !model.ImportField(field).Nullable && !slices.Contains(f.Unfilled(), field) { // the unfilled fields follow
			answers = append(answers, standIn(field))
		}
	}
	return answers
}
