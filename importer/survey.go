package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/survey"
	"library-catalogue/importer/value"
)

// Options override what Survey detects.
type Options struct {
	Format     string            // source.FormatCSV, FormatJSON or FormatXLSX; "" means detect
	Delimiter  byte              // of CSV; 0 means detect
	NoHeader   bool              // the first row is a book; the names of the columns are #1, #2, …
	Encoding   string            // a value of source.Encodings; "" means detect
	Sheet      string            // of a spreadsheet; "" means those with the best header
	HeaderRow  int               // line of a text or row of a sheet with the header; 0 means detect
	Columns    map[string]string // by field: name of its column; "" means none
	Defaults   map[string]string // by field: value of an empty or missing cell
	Dates      string            // a value of DateOrders; "" means auto
	Decimal    string            // a value of Decimals; "" means auto
	Duplicates string            // a value of DuplicateRules; "" means ask
	LastYear   int               // latest year of two digits
	MaxRows    int               // maximum rows of the file; 0 means no limit
}

// File is a surveyed file of books. Survey has read it to its end; Open reads it again for its rows.
type File struct {
	*source.Text
	Header []string // names of the columns; for JSON the keys of the first rows
	Rows   int      // good and bad

	source          *source.Source
	format          source.Format
	options         Options
	columns         columns
	joins           []join           // the columns of those from joined
	maybe           map[string][]int // by missing field: columns that may be it
	likely          map[string]int   // by missing field: how many of these are answers; the first is surveyed for it
	profiles        []*survey.Profile
	holes           map[string]int  // by field: rows with a name and an empty cell that a default can fill
	gaps            map[string]bool // fields that bad rows need a default for
	unfilled        int             // rows that only need these defaults
	seen            int             // columns of Header that the first rows have
	isHeaderGiven   bool            // options.HeaderRow was given
	isHeaderGuessed bool            // options.NoHeader was not given
	unended         bool            // the last row has no line end
	rejects         bool            // the last column holds rejected JSON rows
	readings        map[string]*reading
	dropped         []duplicate // rows that are not imported, in order
}

// marcTag matches the name of a column with a subfield of MARC: 100$a.
var marcTag = regexp.MustCompile(`^\d{3} ?[$_|]?[a-z0-9]$`)

// Limits of the search for JSON keys.
const (
	keyRows = 1000
	maxKeys = 1000
)

// Survey reads a file to its end and decides how its rows are read. The error is Questions if options can decide, the one that
// holds back most rows first; the returned file then has what is known.
func Survey(ctx context.Context, in *source.Source, o Options) (*File, error) {
	if o.Dates == "" {
		o.Dates = value.DatesAuto
	}
	f := &File{source: in, options: o, isHeaderGiven: o.HeaderRow > 0, readings: map[string]*reading{}, holes: map[string]int{}, gaps: map[string]bool{}}
	var err error
	if f.Text, err = in.Text(ctx, f.header()); err != nil {
		return nil, err
	}
	switch isSheet := f.IsSpreadsheet(); {
	case isSheet && o.Format != "" && o.Format != source.FormatXLSX:
		return f, fmt.Errorf("the file is a spreadsheet, and the format option is %s: set it to xlsx or auto", o.Format)
	case !isSheet && o.Format == source.FormatXLSX && !f.isRejects(ctx):
		return f, errors.New("the file is not a spreadsheet (.xlsx): set the format option to auto")
	case isSheet && o.Delimiter != 0:
		return f, fmt.Errorf("the delimiter option applies to CSV only, and the file is %s", f.Kind())
	case isSheet && o.Encoding != "":
		return f, fmt.Errorf("the encoding option applies to texts only, and the file is %s: leave it out", f.Kind())
	case isSheet: // it was converted, and begins with the header
		f.options.Format, f.options.Delimiter, f.options.HeaderRow = source.FormatCSV, ',', 1
	}
	for _, field := range model.ImportFields {
		f.readings[field] = &reading{kind: model.ImportField(field).Kind, syntax: model.ImportField(field).Syntax, order: o.Dates, decimal: o.Decimal, lastYear: o.LastYear}
	}
	if err := f.findColumns(ctx); err != nil {
		return f, err
	}
	isExport := f.isExport()
	for _, r := range f.readings {
		r.isOwn = isExport
	}
	f.readings[published].isOwn = isExport && !f.hasFixedFields()
	for _, field := range []string{"name", author, "publisher"} {
		f.readings[field].isCard = f.columnOf(field) != field && !isExport // our own exports stay as they are
	}
	for _, field := range []string{genre, category} {
		f.readings[field].isOwn = isExport && !f.hasFixedFields()
		f.readings[field].isCard, f.readings[field].isTags = !isExport || f.isMARC(), !isExport || f.hasFixedFields()
		f.readings[field].isMARC = marcTag.MatchString(f.columnOf(field)) || f.isMARC() || f.format.Name == source.RIS
	}
	f.readings["publisher"].isPlace = foldName(f.columnOf("publisher")) == "publication" // LibraryThing
	if column := f.columnOf(author); column != author && !isExport {
		f.readings[author].isNames, f.readings[author].isMARC = true, marcTag.MatchString(column)
	}
	var questions Questions
	if f.isHeaderGuessed {
		questions = append(questions, &Question{Option: "no_header", Text: "the first row has no names of columns, and looks like a book",
			Answers: []Answer{
				{"", "true", "reads it as a book, with the columns #1, #2 and so on", "The first row is a book"},
				{"header_row", strconv.Itoa(f.Before + 1), "reads names of columns in it", "The first row has the names of the columns"},
			}})
	}
	if f.Unsure != nil {
		questions = append(questions, f.encodingQuestion())
	}
	names, missing, err := f.surveyRows(ctx)
	if err != nil {
		return f, err
	}
	if len(missing) > 0 {
		questions = append(questions, f.missingQuestion(missing))
	}
	for _, field := range model.ImportFields {
		if q := f.readings[field].decide(f.columnOf(field), f.place); q != nil {
			questions = append(questions, q)
		}
	}
	q, err := f.askDuplicates(ctx, names, questions)
	if q != nil {
		questions = append(questions, q)
	}
	for field := range f.likely {
		delete(f.columns, field)
	}
	if err != nil || len(questions) == 0 {
		return f, err
	}
	held := func(q *Question) int {
		if q.Option == "dates" || q.Option == "duplicates" {
			return q.Rows
		}
		return f.Rows + 1 // all that have the column
	}
	slices.SortStableFunc(questions, func(a, b *Question) int { return cmp.Compare(held(b), held(a)) })
	return f, questions
}

// askDuplicates finds duplicates, with a default in each field that other questions are about.
func (f *File) askDuplicates(ctx context.Context, names *names, questions Questions) (*Question, error) {
	given := f.options.Defaults
	defer func() { f.options.Defaults = given }()
	f.options.Defaults = maps.Clone(given)
	if f.options.Defaults == nil {
		f.options.Defaults = map[string]string{}
	}
	for _, q := range questions {
		for _, field := range q.Fields {
			f.options.Defaults[field] = model.ImportField(field).StandIn()
		}
	}
	return f.findDuplicates(ctx, names)
}

// isRejects reports whether the file has the columns of rejected rows. It is imported with the flags of the first file,
// but has our own form.
func (f *File) isRejects(ctx context.Context) bool {
	_, header, err := f.Records(ctx, source.Format{Name: source.CSV, Delimiter: ','})
	return err == nil && len(header) > len(rejectColumns) && slices.Equal(header[:len(rejectColumns)], rejectColumns)
}

func (f *File) records(ctx context.Context) (source.RecordReader, error) {
	records, header, err := f.Records(ctx, f.format)
	if f.Header == nil {
		f.Header = header
	}
	return records, err
}

// parseRejected parses the last cell of a record in a file of rejected JSON rows.
func (f *File) parseRejected(r *source.Record) {
	if f.rejects && r.Problem == "" {
		r.ParseJSON([]byte(r.Cells[len(r.Cells)-1]), "cell "+jsonColumn)
	}
}

// surveyRows surveys the cells of all rows. It returns the names of the rows, and the fields that lack a column.
func (f *File) surveyRows(ctx context.Context) (_ *names, missing []missingField, err error) {
	records, err := f.records(ctx)
	if err != nil {
		return nil, nil, err
	}
	names := newNames()
	used, exists := make([]bool, len(f.Header)), make([]bool, len(f.Header))
	for i := range f.Header[:f.seen] {
		exists[i] = true
	}
	good := 0
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if f.Rows++; f.options.MaxRows > 0 && f.Rows > f.options.MaxRows {
			return nil, nil, fmt.Errorf("the file has more than %d rows: send it in parts", f.options.MaxRows)
		}
		f.unended = r.Unended
		if f.parseRejected(&r); r.Problem != "" {
			continue
		}
		good++
		row := r.Line
		if f.IsSpreadsheet() || f.format.IsMARC() {
			row = f.Rows
		}
		isNamed := false
		for i := f.seen; i < len(f.Header) && r.Values != nil; i++ {
			_, ok := r.Values[f.Header[i]]
			exists[i] = exists[i] || ok
		}
		for _, field := range model.ImportFields {
			v, column := f.value(&r, field)
			text := v.Written()
			if column >= 0 && text != "" {
				for _, part := range partsOf(column, f.joins) {
					used[part] = true
				}
			}
			if isNamed = isNamed || field == "name" && text != ""; isNamed && text == "" && (slices.Contains(fillable, field) || field == published) {
				f.holes[field]++
			}
			if column >= 0 || !f.isText(field) {
				f.readings[field].survey(row, text)
			}
			names.value(field, strings.TrimSpace(text))
		}
		names.add(f.Rows)
	}
	isList := (good > 1 || good == 1 && f.isJSON()) && !f.rejects // a single bad row is only rejected
	for _, field := range model.ImportFields {
		asked := f.options.Columns[field]
		required := isRequired(field, f.options.Defaults)
		without := func(kept []bool) func(int) bool {
			return func(i int) bool {
				return !slices.ContainsFunc(partsOf(i, f.joins), func(part int) bool { return kept[part] })
			}
		}
		existing := slices.DeleteFunc(f.columns[field], without(exists))
		useful := slices.DeleteFunc(slices.Clone(existing), without(used))
		switch {
		case f.likely[field] > 0:
			missing = append(missing, missingField{field, asked, false})
		case len(existing) == 0:
			delete(f.columns, field)
			delete(f.holes, field)
			if asked != "" || required && (isList || !f.isJSON()) {
				missing = append(missing, missingField{field, asked, false})
			}
		case len(useful) == 0:
			f.columns[field] = existing[:1]
			delete(f.holes, field)
			if required && isList {
				missing = append(missing, missingField{field, asked, true})
			}
		default:
			f.columns[field] = useful
		}
	}
	f.dropKeys(exists)
	return names, missing, nil
}

// dropKeys removes the keys from the header that no row has.
func (f *File) dropKeys(exists []bool) {
	index := make([]int, len(f.Header))
	var header []string
	for i, name := range f.Header {
		if index[i] = len(header); exists[i] {
			header = append(header, name)
		}
	}
	f.Header = header
	for i := range f.joins {
		for n, part := range f.joins[i].parts {
			f.joins[i].parts[n] = index[part]
		}
	}
	for _, of := range f.columns {
		for n, i := range of {
			if i < joined {
				of[n] = index[i]
			}
		}
	}
}
