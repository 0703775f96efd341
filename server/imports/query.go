package imports

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/importer/value"
)

// Encodings are the values of the parameter encoding.
var Encodings = source.Encodings

// ReadValue reads a value that a person writes, as an import does. The problem says what to write instead.
func ReadValue(kind model.Kind, text string) (plain string, problem model.Message) {
	return value.Read(kind, text, time.Now().Year()+1)
}

// parseQuery reads the parameters of an import, which are named like the flags of the command line. It
// refuses unknown parameters, because a misspelt dry_run would store the file.
func (j *job) parseQuery(query url.Values) error {
	var f model.FieldErrors
	fileName, dryRun := "", false
	options, invalid := importer.ParseOptions(query)
	options.MaxRows = maxRows
	yes := func(name string) bool {
		set, err := strconv.ParseBool(query.Get(name))
		if err != nil {
			invalid[name] = "must be true or false"
		}
		return set
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch isOption := slices.Contains(importer.OptionNames, name); {
		case isOption:
		case len(query[name]) > 1:
			invalid[name] = "must be given once"
		case name == "file_name":
			fileName = query.Get(name)
		case name == "dry_run":
			dryRun = yes(name)
		case name == "strict":
			j.strict = yes(name)
		case name == "lookup":
			j.lookup = yes(name)
		default:
			f.Add(name, "There is no parameter %s.")
		}
		if rule := invalid[name]; rule != "" {
			f.Add(name, "The %s parameter %s.", rule)
		}
	}
	if j.lookup {
		options, dryRun = options.ForLookups(), true
		options.MaxRows = maxLookupRows
	}
	j.options, j.view = options, newView(fileName, dryRun)
	return f.Err()
}
