package query

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// FilterImage returns the condition that a logged row of a table passes a filter. id is the
// expression of its id, and columns that of the JSON object with its other columns. Related rows are
// the current ones.
func (b *Builder) FilterImage(c *model.Condition, t *Table, id, columns string) string {
	return "EXISTS (SELECT 1 FROM (SELECT " + b.Image(t, id, columns) + ") r WHERE " + b.Filter(c, t, "r") + ")"
}

// Image returns the columns that filters and groups need of a logged row of a table, as FilterImage has it.
func (b *Builder) Image(t *Table, id, columns string) string {
	var selected []string
	for _, f := range t.fields {
		if !f.Is(model.Filterable) {
			continue
		}
		value := b.Dialect.Member(columns, f.Column, f.Kind)
		if f.Name == "id" {
			value = id
		}
		selected = append(selected, value+" AS "+f.Column)
		if _, stored := b.Dialect.Folded(t.Name + "." + f.Column); stored && f.HasFold() {
			selected = append(selected, "fold("+value+")"+b.Dialect.ByteOrder+" AS "+f.FoldColumn())
			if f.Natural {
				selected = append(selected, "natural_key(fold("+value+"))"+b.Dialect.ByteOrder+" AS "+f.KeyColumn())
			}
			if t == Books && f.Name == "author" && b.Dialect.LimitsIndexRows {
				// never NULL, so long_author is not read
				selected = append(selected, "fold("+value+")"+b.Dialect.ByteOrder+" AS author_short")
			}
		}
	}
	slices.Sort(selected) // the same text each time
	return strings.Join(selected, ", ")
}
