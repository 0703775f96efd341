package imports

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

// parseQuery reads the options of an import, which have the names of the command line.
// One that is not known is refused: with dry_run misspelt something would be stored.
func (j *job) parseQuery(query url.Values) error {
	var f model.FieldErrors
	fileName, dryRun := "", false
	j.options = importer.Options{Columns: map[string]string{}, Defaults: map[string]string{}, LastYear: time.Now().Year() + 1, MaxRows: maxRows}
	one := func(name, value string, values ...string) string {
		if !slices.Contains(values, value) {
			f.Add(name, "The %s parameter must be one of: "+strings.Join(values, ", ")+".")
		}
		return value
	}
	yes := func(name, value string) bool {
		set, err := strconv.ParseBool(value)
		if err != nil {
			f.Add(name, "The %s parameter must be true or false.")
		}
		return set
	}
	pairs := func(name string, values []string) map[string]string {
		named := map[string]string{}
		for _, value := range values {
			field, text, found := strings.Cut(value, "=")
			if !found || !slices.Contains(model.ImportFields, field) {
				f.Add(name, "The %s parameter must be FIELD="+map[string]string{"map": "COLUMN", "default": "VALUE"}[name]+", of the fields "+strings.Join(model.ImportFields, ", ")+".")
			}
			named[field] = text
		}
		return named
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		value := values[0]
		if len(values) > 1 && name != "map" && name != "default" {
			f.Add(name, "The %s parameter is there twice.")
		}
		switch name {
		case "file_name":
			fileName = value
		case "dry_run":
			dryRun = yes(name, value)
		case "strict":
			j.strict = yes(name, value)
		case "map":
			j.options.Columns = pairs(name, values)
		case "default":
			j.options.Defaults = pairs(name, values)
		case "format":
			j.options.Format = one(name, value, source.FormatCSV, source.FormatJSON)
		case "dates":
			j.options.Dates = one(name, value, "auto", "iso", "mdy", "dmy")
		case "duplicates":
			j.options.Duplicates = one(name, value, importer.DuplicatesAsk, importer.DuplicatesLast, importer.DuplicatesFirst, importer.DuplicatesReject)
		case "delimiter":
			var err error
			if j.options.Delimiter, err = source.ParseDelimiter(value); err != nil {
				f.Add(name, "The %s parameter must be one sign, tab or auto.")
			}
		default:
			f.Add(name, "There is no parameter %s.")
		}
	}
	j.view = newView(fileName, dryRun)
	return f.Err()
}
