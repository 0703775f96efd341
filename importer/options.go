package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/value"
)

// Values of the options that take one of a list. The first is the default.
var (
	Formats        = []string{"auto", "csv", "json", "jsonl", "xlsx"}
	DateOrders     = []string{value.DatesAuto, value.DatesISO, value.DatesMDY, value.DatesDMY}
	Decimals       = []string{"auto", decimalComma, decimalPoint}
	DuplicateRules = []string{DuplicatesAsk, DuplicatesKeep, DuplicatesLast, DuplicatesFirst, DuplicatesReject}
)

// Values of Decimals.
const (
	decimalComma = "comma" // 85.000 is 85000
	decimalPoint = "point" // 85.000 is 85
)

// OptionNames are the names that ParseOptions reads: flags of the command line and parameters of the API.
var OptionNames = []string{"format", "encoding", "sheet", "delimiter", "header_row", "no_header", "map", "default",
	"dates", "decimal", "duplicates"}

const maxHeaderRow = 1000

// Options override what Survey detects.
type Options struct {
	Format     string            // source.FormatCSV, FormatJSON or FormatXLSX; "" means detect
	Delimiter  byte              // delimiter of CSV; 0 means detect
	NoHeader   bool              // the first row is a book; the names of the columns are #1, #2, …
	Encoding   string            // a value of source.Encodings; "" means detect
	Sheet      string            // sheet of a spreadsheet; "" means all with the best header
	HeaderRow  int               // line of a text or row of a sheet with the header; 0 means detect
	Columns    map[string]string // by field: name of its column; "" means none
	Defaults   map[string]string // by field: value of an empty or missing cell
	Dates      string            // a value of DateOrders; "" means auto
	Decimal    string            // a value of Decimals; "" means auto
	Duplicates string            // a value of DuplicateRules; "" means ask
	LastYear   int               // latest year of two digits
	MaxRows    int               // maximum rows of the file; 0 means no limit
	Lookups    bool              // rows have values of look-ups, or will have them: no column but the ISBN is required
}

// hasKey reports whether a map has a key.
func hasKey[K comparable, V any](m map[K]V, key K) bool {
	_, has := m[key]
	return has
}

// isGiven reports whether the options name the column of a field, or that it has none.
func (o *Options) isGiven(field string) bool { return hasKey(o.Columns, field) }

// hasDefault reports whether a field has a default.
func (o *Options) hasDefault(field string) bool { return hasKey(o.Defaults, field) }

// needs reports whether a field needs a column.
func (o *Options) needs(field string) bool {
	return !o.Lookups && !o.hasDefault(field) && !model.ImportField(field).Nullable
}

// nameOf returns the given name of a field's column, or else the field's own name.
func (o *Options) nameOf(field string) (name string, isGiven bool) {
	if name, isGiven = o.Columns[field]; !isGiven {
		name = field
	}
	return name, isGiven
}

// ParseOptions reads Options from values by option name and ignores other names. For each invalid option it
// returns the rule that the option breaks, like "must be given once".
func ParseOptions(values map[string][]string) (o Options, invalid map[string]string) {
	invalid = map[string]string{}
	one := func(name string, allowed ...string) string {
		given := values[name]
		switch {
		case len(given) == 0:
			return ""
		case len(given) > 1:
			invalid[name] = "must be given once"
		case allowed != nil:
			i := slices.IndexFunc(allowed, func(value string) bool { return strings.EqualFold(value, given[0]) })
			if i >= 0 {
				return allowed[i]
			}
			invalid[name] = "must be one of: " + strings.Join(allowed, ", ")
		}
		return given[0]
	}
	oneOrAuto := func(name string, allowed ...string) string {
		return strings.TrimPrefix(one(name, allowed...), "auto")
	}
	pairs := func(name, noun string) map[string]string {
		named := map[string]string{}
		for _, pair := range values[name] {
			field, text, found := strings.Cut(pair, "=")
			if !found || !slices.Contains(model.ImportFields, field) {
				invalid[name] = "must be FIELD=" + noun + ", of the fields " + strings.Join(model.ImportFields, ", ")
			}
			named[field] = text
		}
		return named
	}
	o = Options{
		Columns:    pairs("map", "COLUMN"),
		Defaults:   pairs("default", "VALUE"),
		Dates:      one("dates", DateOrders...),
		Format:     oneOrAuto("format", Formats...),
		Encoding:   oneOrAuto("encoding", append([]string{"auto"}, source.Encodings...)...),
		Sheet:      one("sheet"),
		Decimal:    oneOrAuto("decimal", Decimals...),
		Duplicates: one("duplicates", DuplicateRules...),
		LastYear:   time.Now().Year() + 1,
	}
	if o.Format == "jsonl" {
		o.Format = source.FormatJSON // a reader tells arrays from lines
	}
	var ok bool
	if o.Delimiter, ok = source.ParseDelimiter(one("delimiter")); !ok {
		invalid["delimiter"] = "must be one character, tab or auto"
	}
	if row := one("header_row"); row != "" {
		n, err := strconv.Atoi(row)
		if o.HeaderRow = n; err != nil || n < 1 || n > maxHeaderRow {
			invalid["header_row"] = fmt.Sprintf("must be a number from 1 to %d", maxHeaderRow)
		}
	}
	if text := one("no_header"); text != "" {
		var err error
		if o.NoHeader, err = strconv.ParseBool(text); err != nil {
			invalid["no_header"] = "must be true or false"
		} else if o.NoHeader && o.HeaderRow > 0 {
			invalid["no_header"] = "cannot be set together with the header row"
		}
	}
	return o, invalid
}
