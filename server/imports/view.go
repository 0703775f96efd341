package imports

import (
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

const (
	firstRows    = 5   // shown rows
	firstLookups = 20  // shown rows of a list with look-ups
	shownRejects = 20  // shown bad rows
	shownChanges = 100 // shown changed books
	maxNames     = 200 // shown columns
	maxText      = 200 // shown characters of a cell
)

type view struct {
	ID        string           `json:"id"`
	Status    string           `json:"status"`
	Message   *message         `json:"message"` // its end in words; null before the end, or until it is stopped
	FileName  *string          `json:"file_name"`
	DryRun    bool             `json:"dry_run"`
	CreatedAt model.Timestamp  `json:"created_at"`
	EndedAt   *model.Timestamp `json:"ended_at"`
	Format    *model.Message   `json:"format"`  // null until the file is read
	Columns   []columnView     `json:"columns"` // the fields and their columns
	Header    []string         `json:"header"`  // all columns of the file
	Unused    []string         `json:"unused"`  // columns without a field
	Sheets    sheetsView       `json:"sheets"`
	Rows      *int             `json:"rows"`      // rows of the file; null until it is read
	Counts    importer.Counts  `json:"counts"`    // rows done
	Lookups   bool             `json:"lookups"`   // look-ups can complete the file
	LookedUp  int              `json:"looked_up"` // rows done by look-ups
	FirstRows []rowView        `json:"first_rows"`
	Changes   []changeView     `json:"changes"` // the first books that a dry run would change
	Rejects   rejectsView      `json:"rejects"`
	Question  *question        `json:"question"` // the first of Questions
	Questions []question       `json:"questions"`
}

// question is an importer.Question in sentences.
type question struct {
	Parameter  string               `json:"parameter"`
	Text       message              `json:"text"`
	Examples   []message            `json:"examples"`
	Fields     []string             `json:"fields"`
	Answers    []importer.Answer    `json:"answers"`
	Candidates []importer.Candidate `json:"candidates"`
}

// message is one or more messages of the importer, which are sentences in English.
type message []model.Message

// MarshalText implements encoding.TextMarshaler.
func (m message) MarshalText() ([]byte, error) {
	var sentences []string
	for _, part := range m {
		sentences = append(sentences, sentence(part.String()))
	}
	return []byte(strings.Join(sentences, " ")), nil
}

// withParts has messages in JSON with their keys and arguments.
var withParts = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalFunc(func(m model.Message) ([]byte, error) { return json.Marshal(model.Parts(m)) }),
	json.MarshalFunc(func(m message) ([]byte, error) {
		parts := make([]model.Parts, len(m))
		for i, part := range m {
			parts[i] = model.Parts(part)
		}
		return json.Marshal(parts)
	}),
))

// sheetsView has the names of a spreadsheet's sheets.
type sheetsView struct {
	Read    []string `json:"read"`
	LeftOut []string `json:"left_out"`
}

type columnView struct {
	Field   string          `json:"field"`
	Column  *string         `json:"column"`
	Others  []string        `json:"others"` // columns for rows in which Column is empty
	Default *string         `json:"default"`
	Empty   int             `json:"empty_rows"`
	Forms   []importer.Form `json:"forms"`
}

type rowView struct {
	Row      int               `json:"row"`
	Line     *int              `json:"line"`
	Place    model.Message     `json:"place"`
	Values   map[string]string `json:"values"`
	Sources  map[string]string `json:"sources"` // by field: where a look-up has found its value
	Problems []problemView     `json:"problems"`
}

// changeView is a stored book that a row would change.
type changeView struct {
	Place  model.Message `json:"place"` // place of the row
	ID     model.ID      `json:"id"`
	Name   string        `json:"name"`
	Fields []fieldView   `json:"fields"`
}

type fieldView struct {
	Field string  `json:"field"`
	Old   *string `json:"old"`
	New   *string `json:"new"`
}

type problemView struct {
	Column  *string       `json:"column"`
	Value   string        `json:"value"`
	Message model.Message `json:"message"`
	Mend    model.Message `json:"mend"`
}

type rejectsView struct {
	First []rowView `json:"first"`
	URL   *string   `json:"url"`   // all as CSV; null before the end, and without bad rows
	Whole bool      `json:"whole"` // none is missing there
}

func newView(fileName string, dryRun bool) view {
	return view{
		Status: waiting, FileName: orNil(cut(fileName)), DryRun: dryRun, CreatedAt: now(),
		Columns: []columnView{}, Header: []string{}, Unused: []string{}, Sheets: sheetsView{[]string{}, []string{}},
		FirstRows: []rowView{}, Changes: []changeView{}, Questions: []question{},
		Rejects: rejectsView{First: []rowView{}},
	}
}

func now() model.Timestamp { return model.Timestamp(time.Now().UnixMicro()) }

// describe adds a file and its columns.
func (v *view) describe(file *importer.File) {
	v.Format, v.Rows = new(file.Kind()), new(file.Rows)
	v.Header, v.Unused = cutAll(file.OwnHeader()), cutAll(file.Unused())
	v.Sheets = sheetsView{cutAll(file.Names), cutAll(file.LeftOut)}
	for _, c := range file.Columns() {
		column := columnView{c.Field, orNil(cut(c.Name)), cutAll(c.Others), orNil(c.Default), c.Empty,
			append([]importer.Form{}, c.Forms...)}
		for i := range column.Forms {
			column.Forms[i].Text = cut(column.Forms[i].Text)
		}
		v.Columns = append(v.Columns, column)
	}
}

func rowViews(rows []*importer.Row) []rowView {
	views := []rowView{}
	for _, row := range rows {
		v := rowView{Row: row.Number, Place: row.Place(), Values: map[string]string{},
			Sources: map[string]string{}, Problems: []problemView{}}
		maps.Copy(v.Sources, row.Sources)
		if row.Line > 0 {
			v.Line = new(row.Line)
		}
		for _, field := range model.ImportFields {
			if text := row.Value(field); text != "" {
				v.Values[field] = cut(text)
			}
		}
		for _, p := range row.Problems {
			v.Problems = append(v.Problems, problemView{orNil(cut(p.Column)), cut(p.Value), p.Message, p.Mend})
		}
		views = append(views, v)
	}
	return views
}

func newChange(row *importer.Row, change model.BookChange) changeView {
	v := changeView{Place: row.Place(), ID: change.ID, Name: cut(change.Name)}
	for _, f := range change.Fields {
		v.Fields = append(v.Fields, fieldView{f.Field, orNil(cut(f.Old)), orNil(cut(f.New))})
	}
	return v
}

// newQuestion returns a question with sentences, and lists that are not null.
func newQuestion(q *importer.Question) question {
	v := question{q.Option, message{q.Text}, []message{}, append([]string{}, q.Fields...),
		append([]importer.Answer{}, q.Answers...), append([]importer.Candidate{}, q.Candidates...)}
	for _, example := range q.Examples {
		v.Examples = append(v.Examples, message{example})
	}
	return v
}

// cutAll shortens names from a file.
func cutAll(names []string) []string {
	shown := []string{}
	for _, name := range names[:min(len(names), maxNames)] {
		shown = append(shown, cut(name))
	}
	return shown
}

// cut shortens a text from a file.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	n := 0
	for i := range text {
		if n++; n > maxText {
			return text[:i] + "…"
		}
	}
	return text
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
