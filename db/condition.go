package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// statement is the text of a statement that is being written, with its arguments.
type statement struct {
	dialect *dialect.Dialect
	table   string
	wanted  model.Match
	search  *search // of wanted
	ranked  bool    // whether the rank of the search is asked for
	once    bool    // whether the search is to be done once, before the rows of each parent
	with    string  // what then begins the statement
	args    []any
	aliases int
	byGenre bool // whether the rows are joined with their genres for their order
	negated bool // whether the condition that is being written is to be false
}

// statement begins a statement about the rows of a table that match.
func (s *Store) statement(ctx context.Context, table string, m model.Match) (w *statement, err error) {
	w = &statement{dialect: s.dialect, table: table, wanted: m}
	if m.Search != "" {
		w.search, err = s.newSearch(ctx, table, m.Search)
	}
	return w, err
}

// arg adds an argument and gives its place in the text.
func (w *statement) arg(v any) string {
	w.args = append(w.args, v)
	return "$" + strconv.Itoa(len(w.args))
}

func (w *statement) alias() string {
	w.aliases++
	return "f" + strconv.Itoa(w.aliases)
}

// condition writes a condition on a row of a table that has an alias. It is
// never NULL, so that NOT turns it round.
func (w *statement) condition(c *model.Condition, table, alias string) string {
	switch c.Op {
	case model.And:
		return w.all(c.Of, table, alias, " AND ", "1 = 1")
	case model.Or:
		return w.all(c.Of, table, alias, " OR ", "1 = 0")
	case model.Not:
		w.negated = !w.negated
		defer func() { w.negated = !w.negated }()
		return "NOT " + w.condition(c.Of[0], table, alias)
	case model.Related:
		return w.related(catalogue[table].edges[c.Field], c.Of[0], alias)
	}
	col := catalogue[table].fields[c.Field]
	name := alias + "." + col.name
	if w.byGenre && name == "r.genre_id" {
		name = "og.id" // there are fewer genres to look at than books
	}
	if c.Op == model.IsNull {
		if !col.nullable {
			return "(1 = 0)"
		}
		return "(" + name + " IS NULL)"
	}
	var text string
	if col.text {
		text = w.textComparison(c, col, table, alias)
	} else if c.Op == model.In {
		text = w.dialect.In(name, w.arg(w.dialect.Array(c.Operand)))
	} else {
		text = name + comparisons[c.Op] + w.arg(c.Operand)
	}
	if col.nullable {
		text = name + " IS NOT NULL AND " + text
	}
	return "(" + text + ")"
}

// listed tells whether the rows' column r.name is to have one of a list of values.
func (w *statement) listed(expression string) bool {
	var in func(c *model.Condition) bool
	in = func(c *model.Condition) bool {
		if c.Op == model.In {
			return "r."+catalogue[w.table].fields[c.Field].name == expression
		}
		return c.Op != model.Related && slices.ContainsFunc(c.Of, in)
	}
	return w.wanted.Where != nil && in(w.wanted.Where)
}

var comparisons = map[model.Op]string{model.Eq: " = ", model.Gt: " > ", model.Gte: " >= ", model.Lt: " < ", model.Lte: " <= "}

func (w *statement) all(parts []*model.Condition, table, alias, with, empty string) string {
	if len(parts) == 0 {
		return "(" + empty + ")"
	}
	// Those on texts last: they cost most, and what is false before them is left.
	ofTexts := func(c *model.Condition) int {
		if c.Op == model.Related || catalogue[table].fields[c.Field].text {
			return 1
		}
		return 0
	}
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b *model.Condition) int { return ofTexts(a) - ofTexts(b) })
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = w.condition(part, table, alias)
	}
	return "(" + strings.Join(texts, with) + ")"
}

// related writes that at least one row at the edge fulfils the condition. A key
// set is looked up rather than searched where the edge leads to one row.
func (w *statement) related(e edge, c *model.Condition, alias string) string {
	other := w.alias()
	where := w.condition(c, e.table, other)
	of := " FROM " + e.table + " " + other + " WHERE " + where
	if e.to == "id" {
		in := alias + "." + e.from + " IN (SELECT " + other + ".id" + of + ")"
		if alias == "r" { // where there is none, no row is looked at
			in = "EXISTS (SELECT 1" + of + ") AND " + in
		}
		return "(" + in + ")"
	}
	return "(EXISTS (SELECT 1 FROM " + e.table + " " + other + " WHERE " + other + "." + e.to + " = " + alias + "." + e.from + " AND " + where + "))"
}

// textComparison writes a condition on a text. Where its folded form is stored,
// an exact condition is narrowed by that first: it has the index.
func (w *statement) textComparison(c *model.Condition, col column, table, alias string) string {
	name := alias + "." + col.name
	folded, stored := w.dialect.Folded(name)
	order := w.dialect.SortKey(folded)
	if c.Op == model.In {
		texts := c.Operand.([]string)
		exact := w.dialect.In(name, w.arg(w.dialect.Array(texts)))
		if !stored || table != "books" { // of few rows, where it would only mislead about how many these are
			return exact
		}
		keys := make([]string, len(texts))
		for i, text := range texts {
			keys[i] = model.SortKey(text)
		}
		// By ids, because PostgreSQL is slow where one index is to serve a list of
		// keys and what a page begins after.
		return alias + ".id IN (SELECT " + alias + ".id FROM " + table + " " + alias + " WHERE " +
			w.dialect.In(order, w.arg(w.dialect.Array(keys))) + " AND " + exact + ")"
	}
	text := c.Operand.(string)
	switch c.Op {
	case model.Eq:
		exact := name + " = " + w.arg(text)
		if !stored {
			return exact
		}
		return order + " = " + w.arg(model.SortKey(text)) + " AND " + exact
	case model.Gt, model.Gte, model.Lt, model.Lte:
		return order + comparisons[c.Op] + w.arg(model.SortKey(text))
	case model.ContainsFolded, model.StartsWithFolded, model.EndsWithFolded:
		return w.match(c.Op, table, name, text)
	}
	insensitive := map[model.Op]model.Op{
		model.Contains: model.ContainsFolded, model.StartsWith: model.StartsWithFolded, model.EndsWith: model.EndsWithFolded,
	}[c.Op]
	exact := w.part(table, insensitive, name, text)
	if table != "books" { // as above
		return exact
	}
	// The exact one first: where no index serves, nothing else is looked at in most rows.
	return exact + " AND " + w.match(insensitive, table, name, text)
}

// match writes that the folded form of a text has the folded operand in it, at
// its start or at its end.
func (w *statement) match(op model.Op, table, name, text string) string {
	operand := model.Fold(text)
	if operand == "" {
		return "1 = 1"
	}
	folded, stored := w.dialect.Folded(name)
	matches := w.part(table, op, folded, operand)
	if prefix := model.SortKey(text); op == model.StartsWithFolded && stored {
		matches = w.dialect.SortKey(folded) + " >= " + w.arg(prefix) + " AND " + matches
		if next := following(prefix); next != "" {
			matches = w.dialect.SortKey(folded) + " < " + w.arg(next) + " AND " + matches
		}
	}
	return matches
}

// part writes that a text of a table has operand in it, at its start or at its end.
func (w *statement) part(table string, op model.Op, text, operand string) string {
	alias, column, _ := strings.Cut(text, ".")
	isFolded := strings.HasSuffix(column, "_fold")
	if w.dialect.Postgres && table == "books" && isFolded && op != model.StartsWithFolded {
		if column != "author_fold" {
			return partOfBook(w, op, text, operand)
		}
		return partOfAuthor(w, op, alias, operand)
	}
	matches := w.dialect.Match(op, text, operand, w.arg)
	if w.dialect.Postgres && table == "books" && !isFolded && odd[column].MatchString(operand) {
		matches += " AND " + hasOdd(column, text) // so that it is in the index of these
	}
	return matches
}

// following gives the first text, byte by byte, that comes after all that begin
// with prefix; empty where there is none.
func following(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch r := runes[i]; {
		case r == 0xD7FF:
			return string(runes[:i]) + "\uE000"
		case r < 0x10FFFF:
			return string(runes[:i]) + string(r+1)
		}
	}
	return ""
}
