package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/value"
)

// Row is a row of a file: a valid book, or a bad row with its problems.
type Row struct {
	Number   int // from 1, without the header
	Line     int // first line in the file; 0 in a spreadsheet
	Problems []Problem
	Skipped  bool              // another row of the same book is imported
	Sources  map[string]string // by field: where a look-up has found its value
	file     *File
	record   source.Record
	form     model.Form
	found    model.Form // values of look-ups, which are in form where the list has none
	unfound  string     // why look-ups found none
}

// Problem is a fault of a row.
type Problem struct {
	Column  string // "" for the whole row
	Value   string // the cell
	Message model.Message
	Mend    model.Message // advice
}

// Error describes a bad row.
func (r *Row) Error() string {
	var b strings.Builder
	b.WriteString(r.Name() + ":")
	for _, p := range r.Problems {
		if p.Value != "" {
			fmt.Fprintf(&b, " %s \"%s\":", Printable(p.Column), Printable(p.Value))
		}
		b.WriteString(" " + escape(p.Message.String(), maxMessage))
	}
	return b.String()
}

// Place returns the place of the row, as the file's own program numbers it: "line 7" in a text, "row 7" in a sheet.
func (r *Row) Place() model.Message {
	if r.file.hasLookups && len(r.record.Cells) > len(rejectColumns) {
		return model.Message{Key: r.record.Cells[0]} // in the first list
	}
	return r.file.place(cmp.Or(r.Line, r.Number))
}

// Name returns the number of the row and its place.
func (r *Row) Name() string {
	if r.Line == 0 || r.file.hasLookups {
		return r.Place().String()
	}
	return fmt.Sprintf("row %d (%s)", r.Number, r.Place())
}

// place returns the place of a line of a text, or of a record of MARC or a row of sheets counted from 1.
func (f *File) place(n int) model.Message {
	switch {
	case f.format.IsMARC():
		return model.Messagef("record %d", n)
	case !f.IsSpreadsheet():
		return model.Messagef("line %d", n)
	}
	sheet, row := f.SheetRow(n)
	if sheet == "" {
		return model.Messagef("row %d", row)
	}
	return model.Messagef("row %d of %s", row, Printable(sheet))
}

// Reader reads the rows of a file in bounded memory.
type Reader struct {
	file    *File
	records source.RecordReader
	number  int
	dropped []duplicate // not reached yet
}

// Open returns a Reader at the first row.
func (f *File) Open(ctx context.Context) (*Reader, error) {
	records, err := f.records(ctx)
	return &Reader{file: f, records: records, dropped: f.dropped}, err
}

// Next returns the next row, or io.EOF.
func (r *Reader) Next() (*Row, error) {
	record, err := r.records.Next()
	if err != nil {
		return nil, err
	}
	r.number++
	row := &Row{Number: r.number, Line: record.Line, file: r.file, record: record}
	if r.file.IsSpreadsheet() {
		row.Line = 0
	}
	r.file.parseRejected(&row.record)
	if row.record.Problem != "" {
		row.Problems = []Problem{{Message: model.Messagef(row.record.Problem), Mend: model.Messagef(row.record.Mend)}}
		if cells := row.record.Cells; r.file.hasLookups && len(cells) > len(rejectColumns) {
			row.Problems[0].Message.Key = cells[1] // of the first list
		}
		return row, nil
	}
	row.form = make(model.Form, len(model.ImportFields))
	if r.file.options.Lookups {
		row.Sources, row.found = map[string]string{}, model.Form{}
	}
	var standIns []string
	for _, field := range model.ImportFields {
		v, from := r.file.value(&row.record, field)
		found := r.file.found(&row.record, field)
		if from == nil && (found != "" || r.file.options.hasDefault(field)) {
			standIns = append(standIns, field)
		}
		switch {
		case from == nil && found != "":
			v = model.Text(found)
			row.found[field] = v
		case from != nil || !r.file.isText(field):
			v = r.file.convert(field, v)
		}
		row.form[field] = v
	}
	if r.file.hasLookups {
		row.readSources()
	}
	if standIns != nil {
		row.form[model.StandIns] = model.Text(strings.Join(standIns, " "))
	}
	row.readSeriesIndex()
	row.addFutureYear()
	if len(r.dropped) > 0 && r.dropped[0].row == uint32(r.number) {
		r.file.drop(row, r.dropped[0])
		r.dropped = r.dropped[1:]
	}
	return row, nil
}

// convert returns a value in the catalogue's notation. A number of JSON in a text, as the title 1984, becomes a text.
func (f *File) convert(field string, v model.Value) model.Value {
	plain, layout := f.readings[field].read(v.Written())
	switch isText := model.ImportField(field).Kind == model.KindText; {
	case layout != "" && plain == "":
		return model.Value{} // not readable: a stored book keeps its value
	case layout != "", isText && f.isJSON() && v.Written() != "":
		return model.Text(plain)
	}
	return v
}

// readSeriesIndex reads a number in the series as Calibre writes it: 2.0, and 1.0 for a book without a series.
func (r *Row) readSeriesIndex() {
	const field = "series_number"
	switch {
	case r.file.columnOf(field) != "series_index":
	case r.form["series"].Missing():
		r.form[field] = model.Value{}
	default:
		r.form[field] = model.Text(strings.TrimSuffix(r.Value(field), ".0"))
	}
}

// addFutureYear makes a row bad if its book is published after next year, because that year is misspelt. Exports stay
// as they are.
func (r *Row) addFutureYear() {
	reading := r.file.readings[published]
	day, ok := model.ParseDate(r.Value(published))
	if !ok || reading.notation == own || reading.lastYear == 0 || int(day.Year) <= reading.lastYear {
		return
	}
	if v, from := r.file.value(&r.record, published); from != nil {
		r.Problems = append(r.Problems, Problem{Column: r.file.columnName(*from), Value: v.Written(),
			Message: model.Messagef("The year %d is after next year.", int(day.Year)),
			Mend:    model.Messagef("Write the right year.")})
	}
}

// Value returns the value of a field in the catalogue's notation.
func (r *Row) Value(field string) string { return r.form[field].Written() }

// drop marks a duplicate row as skipped, as another book, or as bad.
func (f *File) drop(row *Row, d duplicate) {
	if f.options.Duplicates == DuplicatesKeep {
		row.form[model.Apart] = model.Text("true")
		return
	}
	if row.Skipped = f.options.Duplicates != DuplicatesReject; !row.Skipped {
		message := model.Messagef("Row %d is the same book, with other values.", int(d.other))
		if f.IsSpreadsheet() {
			message = model.Messagef("The %s is the same book, with other values.", f.place(int(d.other)))
		}
		row.Problems = []Problem{{Message: message, Mend: model.Messagef("Keep one of the rows.")}}
	}
}

// reject adds the problems of fields to a row, with their columns and cells.
func (f *File) reject(row *Row, problems model.FieldErrors) {
	if row.unfound != "" {
		row.Problems = append(row.Problems, Problem{Message: model.Message{Key: row.unfound}})
	}
	isFault := func(p model.FieldError) bool {
		v, _ := f.value(&row.record, p.Field)
		isGap := v.Missing() || p.Field == "pages" && v.Written() == "0"
		return !isGap || !slices.Contains(fillable, p.Field)
	}
	if !slices.ContainsFunc(problems, isFault) {
		f.unfilled++
		for _, p := range problems {
			f.gaps[p.Field] = true
		}
	}
	for _, p := range problems {
		v, from := f.value(&row.record, p.Field)
		column, advice := cmp.Or(f.columnOf(p.Field), p.Field), mend(p.Field, v.Missing())
		if from != nil {
			column = f.columnName(*from)
		} else if of := f.columns[p.Field]; len(of) > 0 {
			v = f.read(&row.record, &of[0]) // such as N/A
		}
		problem := Problem{Column: column, Value: v.Written(), Message: p.Text(), Mend: advice}
		f.explain(p.Field, &problem)
		row.Problems = append(row.Problems, problem)
	}
}

// explain replaces the message or the advice of a problem where the value shows its cause.
func (f *File) explain(field string, p *Problem) {
	text := strings.TrimSpace(p.Value)
	switch field {
	case published:
		if _, isDay := value.ExcelDay(text, f.options.LastYear); isDay {
			p.Mend = model.Messagef("If the number is a day of Excel, format the column as a date there.")
		}
		if value.IsCalibreNoDate(text) {
			p.Message = model.Messagef("Calibre writes this date for a book without one.")
		}
	case "pages":
		if number, unit := value.SplitUnit(text); number != "" && f.readings[field].unit != unit {
			p.Message = model.Messagef("%q is not known as a unit of pages, and not the unit of this column.", unit)
		}
	case "price":
		if unknown := value.UnknownCurrency(p.Value); unknown != "" && f.readings[field].unit != unknown {
			p.Message = model.Messagef("%q is not known as a currency, and not the currency of this column.", unknown)
		}
	}
}

// mend returns advice for the value of a field.
func mend(field string, missing bool) model.Message {
	if missing {
		return model.Messagef("Fill it in, or give a default for %s.",
			model.Messagef(model.ImportField(field).Label))
	}
	switch f := model.ImportField(field); f.Kind {
	case model.KindDate:
		return model.Messagef("Write a day that exists, like 1982-06-30.")
	case model.KindCents:
		return model.Messagef("Write an amount like 12.50.")
	case model.KindInt:
		return model.Messagef("Write a whole number from %d to %d.", f.Min, f.Max)
	default:
		return model.Messagef("Write a text of at most %d characters.", f.Max)
	}
}

// jsonColumn is the column of rejected JSON rows.
const jsonColumn = "json"

func (f *File) isJSON() bool { return f.rejects || f.format.Name != source.CSV }

// rejectedCells returns the cells of a row for the file of bad rows. Cells that could be read are in the
// catalogue's notation, so that they mean the same in another file.
func (f *File) rejectedCells(row *Row) []string {
	cells, first := row.record.Cells, addedColumns(f.Header)
	if f.isJSON() {
		return cells[len(cells)-1:]
	}
	if row.record.Problem != "" && len(cells) > first {
		return cells[first:]
	}
	if row.record.Problem != "" {
		return cells
	}
	cells = slices.Clone(cells)
	for field, origins := range f.columns {
		for _, o := range origins {
			if len(o.columns) > 1 {
				continue
			}
			i := o.columns[0]
			if plain, layout := f.readings[field].read(cells[i]); layout != "" && plain != "" {
				cells[i] = plain
			}
		}
	}
	return cells[first:]
}

// rejectedHeader returns the names of the columns of rejectedCells.
func (f *File) rejectedHeader() []string {
	if f.isJSON() {
		return []string{jsonColumn}
	}
	return f.OwnHeader()
}

// OwnHeader returns the names of the columns without those that a file of rejected rows adds.
func (f *File) OwnHeader() []string { return f.Header[addedColumns(f.Header):] }
