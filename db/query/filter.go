package query

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// Filter returns a condition on the rows of a table with an alias. It is never NULL, so that NOT
// negates it.
func (b *Builder) Filter(c *model.Condition, t *Table, alias string) string {
	switch c.Op {
	case model.And:
		return b.join(c.Of, t, alias, " AND ", "1 = 1")
	case model.Or:
		return b.join(c.Of, t, alias, " OR ", "1 = 0")
	case model.Not:
		return "NOT " + b.Filter(c.Of[0], t, alias)
	case model.Related:
		return b.related(t.relations[c.Field], c.Of[0], alias)
	}
	f := t.fields[c.Field]
	column := alias + "." + f.Column
	if c.Op == model.IsNull {
		if !f.Nullable {
			return "(1 = 0)"
		}
		return "(" + column + " IS NULL)"
	}
	text := b.comparison(c, t, f, column)
	if f.Nullable {
		text = column + " IS NOT NULL AND " + text
	}
	return "(" + text + ")"
}

// join joins parts with AND or OR; no parts yield empty. Conditions on texts come last, because
// they cost most and engines evaluate in order.
func (b *Builder) join(parts []*model.Condition, t *Table, alias, operator, empty string) string {
	switch len(parts) {
	case 0:
		return "(" + empty + ")"
	case 1:
		return b.Filter(parts[0], t, alias)
	}
	cost := func(c *model.Condition) int {
		if f := t.fields[c.Field]; c.Op == model.Related || f != nil && f.Kind == model.KindText {
			return 1
		}
		return 0
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b *model.Condition) int { return cost(a) - cost(b) })
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = b.Filter(part, t, alias)
	}
	return "(" + balanced(texts, operator) + ")"
}

// balanced joins parts as a balanced tree, because SQLite limits the depth of expressions to 1,000,
// including nested SELECTs.
func balanced(parts []string, operator string) string {
	if n := len(parts); n > 4 {
		return "(" + balanced(parts[:n/2], operator) + ")" + operator + "(" + balanced(parts[n/2:], operator) + ")"
	}
	return strings.Join(parts, operator)
}

// related returns the condition that at least one related row fulfils c. A relation to one row
// becomes IN, so that the matching related rows are found first.
func (b *Builder) related(r model.Relation, c *model.Condition, alias string) string {
	t, other := tables[r.Type], b.alias()
	from := " FROM " + t.Name + " " + other + " WHERE "
	if !r.Many() {
		return "(" + alias + "." + r.From + " IN (SELECT " + other + "." + r.To + from + b.Filter(c, t, other) + "))"
	}
	return "(EXISTS (SELECT 1" + from + other + "." + r.To + " = " + alias + "." + r.From + " AND " +
		b.Filter(c, t, other) + "))"
}

var operators = map[model.Op]string{model.Eq: " = ", model.Gt: " > ", model.Gte: " >= ", model.Lt: " < ",
	model.Lte: " <= "}

// comparison compares a column with the operand of a condition.
func (b *Builder) comparison(c *model.Condition, t *Table, f *model.FieldInfo, column string) string {
	switch {
	case f.Kind == model.KindText:
		return b.textComparison(c, t, f, column)
	case c.Op == model.In:
		return b.Dialect.In(column, b.Arg(b.Dialect.Array(c.Operand)))
	}
	return column + operators[c.Op] + b.Arg(c.Operand)
}

// folded are weaker operations on folded text, for each operation on exact text.
var folded = map[model.Op]model.Op{
	model.Contains: model.ContainsFolded, model.StartsWith: model.StartsWithFolded,
	model.EndsWith: model.EndsWithFolded,
}

// textComparison returns a condition on a text. If the folded form is stored, an exact condition is
// combined with one on that form, because its index narrows the rows.
func (b *Builder) textComparison(c *model.Condition, t *Table, f *model.FieldInfo, column string) string {
	fold, stored := b.Dialect.Folded(column)
	key := b.Dialect.SortKey(fold)
	var exact, narrow string
	switch c.Op {
	case model.In:
		texts := c.Operand.([]string)
		keys := make([]string, len(texts))
		for i, text := range texts {
			keys[i] = collate.SortKey(text)
		}
		exact = b.Dialect.In(column, b.Arg(b.Dialect.Array(texts)))
		if stored {
			narrow = b.Dialect.In(key, b.Arg(b.Dialect.Array(keys)))
		}
	case model.Eq:
		exact = column + " = " + b.Arg(c.Operand)
		if stored {
			narrow = key + " = " + b.Arg(collate.SortKey(c.Operand.(string)))
		}
	case model.Gt, model.Gte, model.Lt, model.Lte:
		if f.Natural {
			return strings.TrimSuffix(column, f.Column) + f.KeyColumn() + operators[c.Op] +
				b.Arg(collate.NaturalKey(c.Operand.(string)))
		}
		return key + operators[c.Op] + b.Arg(collate.SortKey(c.Operand.(string)))
	case model.ContainsFolded, model.StartsWithFolded, model.EndsWithFolded:
		return b.foldedMatch(c.Op, t, f, column, c.Operand.(string))
	default:
		text := c.Operand.(string)
		exact = b.Dialect.Match(folded[c.Op], column, text, b.Arg)
		if stored && collate.FoldsAlike(text) {
			narrow = b.foldedMatch(folded[c.Op], t, f, column, text)
		}
	}
	if narrow == "" {
		return exact
	}
	return narrow + " AND " + exact
}

// foldedMatch returns the condition that a folded text contains, starts with or ends with the
// folded operand. An operand with an empty folded form matches nothing.
func (b *Builder) foldedMatch(op model.Op, t *Table, f *model.FieldInfo, column, text string) string {
	operand := collate.Fold(text)
	if operand == "" {
		return "1 = 0"
	}
	fold, stored := b.Dialect.Folded(column)
	switch {
	case op == model.StartsWithFolded && stored:
		return b.StartsWith(fold, text) + " AND " + b.Dialect.Match(op, fold, operand, b.Arg)
	case t == Books && f.Name == "author" && b.Dialect.LimitsIndexRows:
		return b.authorMatch(op, strings.TrimSuffix(column, "."+f.Column), operand)
	}
	return b.Dialect.Match(op, fold, operand, b.Arg)
}

// authorMatch compares author_short, which the indexes by date and by price cover, and looks up
// each longer author. That is cheaper than reading author_fold from each row.
func (b *Builder) authorMatch(op model.Op, alias, operand string) string {
	short := alias + ".author_short"
	return "(" + short + " IS NOT NULL AND " + b.Dialect.Match(op, short, operand, b.Arg) + " OR " +
		short + " IS NULL AND " + b.Dialect.Match(op, "long_author("+alias+".id)", operand, b.Arg) + ")"
}

// StartsWith returns the condition that a sort key starts with a prefix, as a range that an index
// serves.
func (b *Builder) StartsWith(fold, prefix string) string {
	key, first := b.Dialect.SortKey(fold), collate.SortKey(prefix)
	text := key + " >= " + b.Arg(first)
	if next := Following(first); next != "" {
		text += " AND " + key + " < " + b.Arg(next)
	}
	return text
}

// Following returns the least text, by bytes, that is greater than all texts with a prefix, or an
// empty string.
func Following(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case r == 0xD7FF: // surrogates follow, which are not characters
			return string(runes[:i]) + "\uE000"
		case r < 0x10FFFF:
			return string(runes[:i]) + string(r+1)
		}
	}
	return ""
}

// IsNumeric reports whether a condition concerns only numbers and times of the rows themselves, for
// which engines have good row estimates.
func (t *Table) IsNumeric(c *model.Condition) bool {
	switch c.Op {
	case model.And, model.Or, model.Not:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !t.IsNumeric(part) })
	case model.Related:
		return false
	}
	return t.fields[c.Field].Kind != model.KindText
}

// OnlyIDs reports whether a selection depends on ids alone, which one plan serves well. With any
// other condition the best plan depends on the value, so the statement is planned for its own
// arguments.
func OnlyIDs(sel model.Selection) bool { return sel.Search == "" && usesOnlyID(sel.Where) }

// usesOnlyID reports whether a condition compares ids with a value or a range.
func usesOnlyID(c *model.Condition) bool {
	switch {
	case c == nil:
		return true
	case c.Op == model.And:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !usesOnlyID(part) })
	}
	return c.Field == "id" && slices.Contains([]model.Op{model.Eq, model.Gt, model.Gte, model.Lt, model.Lte}, c.Op)
}
