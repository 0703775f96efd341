package importer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/survey"
	"library-catalogue/importer/value"
)

// File is a surveyed file of books. Survey has read it to its end; Open reads it again for its rows.
type File struct {
	*source.Text
	Header []string // names of the columns; for JSON the keys of the first rows
	Rows   int      // good and bad

	format          source.Format
	options         Options
	columns         columns
	candidates      candidates
	profiles        []*survey.Profile
	holes           map[string]int  // rows by field: they have a name and an empty cell that a default can fill
	gaps            map[string]bool // fields that bad rows need a default for
	unfilled        int             // rows that only need these defaults
	seen            int             // columns of Header that the first rows have
	isHeaderGiven   bool            // options.HeaderRow was given
	isHeaderGuessed bool            // options.NoHeader was not given
	unended         bool            // the last row has no line end
	rejects         bool            // the last column holds rejected JSON rows
	hasLookups      bool            // the rows have values of look-ups
	readings        map[string]*reading
	dropped         []duplicate // rows that are not imported, in order
}

// Limits of the search for JSON keys.
const (
	keyRows = 1000
	maxKeys = 1000
)

// Survey reads a file to its end and decides how its rows are read. The error is Questions if options can decide, the
// one that holds back most rows first; the returned file then has what is known.
func Survey(ctx context.Context, in *source.Source, o Options) (_ *File, err error) {
	o.Dates = cmp.Or(o.Dates, value.DatesAuto)
	f := &File{options: o, isHeaderGiven: o.HeaderRow > 0, readings: map[string]*reading{}, holes: map[string]int{},
		gaps: map[string]bool{}}
	for _, field := range model.ImportFields {
		f.readings[field] = &reading{FieldInfo: model.ImportField(field), order: o.Dates, lastYear: o.LastYear}
	}
	if f.Text, err = in.Text(ctx, f.header()); err != nil {
		return nil, err
	}
	s := &surveyor{File: f}
	for _, step := range []func(context.Context) error{
		s.findFormat, s.findColumns, s.surveyRows, s.decideReadings, s.decideDuplicates,
	} {
		if err := step(ctx); err != nil {
			return f, err
		}
	}
	if s.questions == nil {
		return f, nil
	}
	held := func(q *Question) int {
		if q.Option == "dates" || q.Option == "duplicates" {
			return q.Rows
		}
		return f.Rows + 1 // all that have the column
	}
	slices.SortStableFunc(s.questions, func(a, b *Question) int { return cmp.Compare(held(b), held(a)) })
	return f, s.questions
}

// surveyor surveys a file.
type surveyor struct {
	*File
	questions    Questions
	names        *names
	used, exists []bool // columns with a value, and columns that a row has
	good         int    // rows that can be read
}

// hasRejects reports whether the file has the columns of rejected rows. It is imported with the flags of the first
// file, but has our own form.
func (f *File) hasRejects(ctx context.Context) bool {
	_, header, err := f.Records(ctx, source.Format{Name: source.CSV, Delimiter: ','})
	return err == nil && isRejects(header)
}

// records returns a reader at the first record. It sets the header if that is not known.
func (f *File) records(ctx context.Context) (source.RecordReader, error) {
	records, header, err := f.Records(ctx, f.format)
	if f.Header == nil {
		f.Header = header
	}
	return records, err
}

// eachRecord calls fn with each record, until it returns io.EOF.
func (f *File) eachRecord(ctx context.Context, fn func(*source.Record) error) error {
	records, err := f.records(ctx)
	var r source.Record
	for err == nil {
		if r, err = records.Next(); err == nil {
			f.parseRejected(&r)
			err = fn(&r)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// parseRejected parses the last cell of a record in a file of rejected JSON rows.
func (f *File) parseRejected(r *source.Record) {
	if f.rejects && r.Problem == "" {
		r.ParseJSON([]byte(r.Cells[len(r.Cells)-1]), "cell "+jsonColumn)
	}
}

// surveyRows surveys the cells of all rows.
func (s *surveyor) surveyRows(ctx context.Context) error {
	isExport := s.isExport()
	for field, r := range s.readings {
		r.notation = s.notationOf(field, isExport)
	}
	s.names, s.used, s.exists = newNames(), make([]bool, len(s.Header)), make([]bool, len(s.Header))
	for i := range s.seen {
		s.exists[i] = true
	}
	return s.eachRecord(ctx, s.surveyRow)
}

func (s *surveyor) surveyRow(r *source.Record) error {
	if s.Rows++; s.options.MaxRows > 0 && s.Rows > s.options.MaxRows {
		return model.Messagef("the file has more than %d rows: send it in parts", s.options.MaxRows)
	}
	if s.unended = r.Unended; r.Problem != "" {
		return nil
	}
	s.good++
	row := r.Line
	if s.IsSpreadsheet() || s.format.IsMARC() {
		row = s.Rows
	}
	for i := s.seen; i < len(s.Header) && r.Values != nil; i++ {
		s.exists[i] = s.exists[i] || hasKey(r.Values, s.Header[i])
	}
	isNamed := false
	for _, field := range model.ImportFields {
		v, from := s.value(r, field)
		text, found := v.Written(), s.found(r, field)
		if from != nil && text != "" {
			for _, i := range from.columns {
				s.used[i] = true
			}
		}
		isNamed = isNamed || field == "name" && text+found != ""
		if isNamed && text+found == "" && (slices.Contains(fillable, field) || field == published) {
			s.holes[field]++
		}
		if from != nil || !s.isText(field) {
			s.readings[field].survey(row, text)
		}
		s.names.value(field, strings.TrimSpace(text))
	}
	s.names.add()
	return nil
}

// decideReadings decides how the cells are read, and asks what they do not show.
func (s *surveyor) decideReadings(context.Context) error {
	if s.isHeaderGuessed {
		s.questions = append(s.questions, s.headerQuestion())
	}
	if s.Unsure != nil {
		s.questions = append(s.questions, s.encodingQuestion())
	}
	if missing := s.keepUseful(); missing != nil {
		s.questions = append(s.questions, s.missingQuestion(missing))
	}
	for _, field := range model.ImportFields {
		if q := s.decide(field); q != nil {
			s.questions = append(s.questions, q)
		}
	}
	return nil
}

// keepUseful removes columns that no row has, and others of a field with values in another one. It returns the fields
// that then lack a column.
func (s *surveyor) keepUseful() (missing []string) {
	isList := (s.good > 1 || s.good == 1 && s.isJSON()) && !s.rejects // a single bad row is only rejected
	for _, field := range model.ImportFields {
		asked, isNeeded := s.options.Columns[field], s.options.needs(field)
		existing := among(s.columns[field], s.exists)
		useful := among(existing, s.used)
		isMissing := s.candidates.isAnswered(field)
		switch {
		case isMissing:
		case existing == nil:
			delete(s.columns, field)
			delete(s.holes, field)
			isMissing = asked != "" || isNeeded && (isList || !s.isJSON())
		case useful == nil:
			s.columns[field] = existing[:1]
			delete(s.holes, field)
			isMissing = isNeeded && isList
		default:
			s.columns[field] = useful
		}
		if isMissing {
			missing = append(missing, field)
		}
	}
	s.dropKeys()
	return missing
}

// among returns the origins with a column of a set.
func among(origins []origin, set []bool) (found []origin) {
	for _, o := range origins {
		if slices.ContainsFunc(o.columns, func(i int) bool { return set[i] }) {
			found = append(found, o)
		}
	}
	return found
}

// dropKeys removes the keys from the header that no row has.
func (s *surveyor) dropKeys() {
	index := make([]int, len(s.Header))
	var header []string
	for i, name := range s.Header {
		if index[i] = len(header); s.exists[i] {
			header = append(header, name)
		}
	}
	s.Header = header
	for _, origins := range s.columns {
		for _, o := range origins {
			for n, i := range o.columns {
				o.columns[n] = index[i]
			}
		}
	}
}

// decideDuplicates decides which rows of the same book are imported, with a default in each field that other questions
// are about.
func (s *surveyor) decideDuplicates(ctx context.Context) error {
	given := s.options.Defaults
	s.options.Defaults = map[string]string{}
	maps.Copy(s.options.Defaults, given)
	for _, q := range s.questions {
		for _, field := range q.Fields {
			s.options.Defaults[field] = model.ImportField(field).StandIn()
		}
	}
	q, err := s.findDuplicates(ctx, s.names)
	if q != nil {
		s.questions = append(s.questions, q)
	}
	s.options.Defaults = given
	for field := range s.candidates {
		if s.candidates.isAnswered(field) {
			delete(s.columns, field)
		}
	}
	return err
}

// headerQuestion returns the question about a first row that looks like a book.
func (f *File) headerQuestion() *Question {
	return &Question{Option: "no_header",
		Text: model.Messagef("the first row has no names of columns, and looks like a book"),
		Answers: []Answer{
			{"no_header", "true", "reads it as a book, with the columns #1, #2 and so on",
				model.Messagef("The first row is a book")},
			{"header_row", strconv.Itoa(f.Before + 1), "reads names of columns in it",
				model.Messagef("The first row has the names of the columns")},
		}}
}
