package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
)

// foldName returns a column's name without case, spaces and punctuation.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// columns maps fields to indexes in a header.
type columns map[string]int

// findColumns finds the column of each field: by the name in asked, else by the field's own name, and if a
// required field is missing, by other usual names. missing are the names of required columns that were not
// found.
func findColumns(header []string, asked, defaults map[string]string) (found columns, missing []string, err error) {
	found = columns{}
	folded := make([]string, len(header))
	for i, name := range header {
		folded[i] = foldName(name)
	}
	find := func(field, name string) {
		i := slices.Index(header, name)
		in, sought := header, name
		if i < 0 {
			in, sought = folded, foldName(name)
			i = slices.Index(in, sought)
		}
		switch {
		case i < 0 || sought == "":
		case slices.Contains(in[i+1:], sought):
			err = fmt.Errorf("there are two columns %q", Printable(header[i]))
		default:
			found[field] = i
		}
	}
	complete := true
	for _, field := range model.ImportFields {
		name, mapped := asked[field]
		if !mapped {
			name = field
		}
		if find(field, name); err != nil {
			return nil, nil, err
		}
		if _, ok := found[field]; ok {
			continue
		}
		if _, hasDefault := defaults[field]; mapped || !hasDefault && !model.ImportField(field).Nullable {
			missing = append(missing, name)
			complete = complete && mapped
		}
	}
	if complete {
		return found, missing, nil
	}
	used := map[int]bool{}
	for _, i := range found {
		used[i] = true
	}
	for _, field := range model.ImportFields {
		if _, ok := found[field]; ok || asked[field] != "" {
			continue
		}
		for _, name := range model.ImportField(field).Spellings {
			if i := slices.Index(folded, name); i >= 0 && !used[i] {
				found[field], used[i] = i, true
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == field })
				break
			}
		}
	}
	return found, missing, nil
}

// missingError returns the question of a header without required columns.
func missingError(header, missing []string) error {
	return &Question{Option: "map", Text: fmt.Sprintf("the header has no column %s. It has: %s", list(missing), list(header))}
}

// unused returns the names of the columns without a field.
func (c columns) unused(header []string) (names []string) {
	used := map[int]bool{}
	for _, i := range c {
		used[i] = true
	}
	for i, name := range header {
		if !used[i] {
			names = append(names, name)
		}
	}
	return names
}
