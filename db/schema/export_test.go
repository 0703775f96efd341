package schema

import (
	"slices"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// MakeTriggers returns the statements that make the triggers of books with a further field.
func MakeTriggers(d *dialect.Dialect, field model.FieldInfo) (text string) {
	t := triggered{dialect: d, table: "books", code: "b", fields: append(slices.Clone(model.Entities["Book"].Fields), field)}
	made := t.sqlite
	if d.DerivesTexts {
		made = t.postgres
	}
	for _, one := range made() {
		text += one.make
	}
	return text
}

// FillFolding returns the statements that fill SQLite's tables of characters.
func FillFolding() string { return fillFolding() }
