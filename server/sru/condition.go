package sru

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/graph/model/lang"
)

// index is a part of a book that a clause can ask for. explain shows its exported fields.
type index struct {
	Title    string
	names    []string // in lower case, with their context sets; explain names the first
	Sort     string   // field to order by; empty: none
	isText   bool     // a term is words
	searched bool     // the text search of the catalogue looks there
	// condition returns the condition of a relation and a term.
	condition func(relation, term string) (model.Filter, error)
}

// anywhere is the index that the text search answers alone.
var anywhere = &index{"Any",
	[]string{serverChoice, "cql.anywhere", "cql.anyindexes", "cql.keywords", "srw.serverchoice", "bath.any", "any"}, "",
	true, true, words("name", "author", "description")}

// indexes are those that Koha and VuFind ask for, by the names of the context sets cql, dc, bath and rec.
var indexes = []*index{
	anywhere,
	{"Title", []string{"dc.title", "bath.title", "title"}, "NAME", true, true, words("name")},
	{"Author", []string{"dc.creator", "dc.contributor", "dc.author", "bath.author", "bath.name", "creator", "author"},
		"AUTHOR", true, true, words("author")},
	{"ISBN", []string{"bath.isbn", "dc.identifier", "isbn"}, "ISBN", false, false, parsed("isbn", isbn.Parse)},
	{"Publisher", []string{"dc.publisher", "publisher"}, "PUBLISHER", true, false, words("publisher")},
	{"Date", []string{"dc.date", "date", "year"}, "PUBLISHED_AT", false, false, dates},
	{"Language", []string{"dc.language", "language"}, "LANGUAGE", false, false, parsed("language", lang.Parse)},
	{"Subject", []string{"dc.subject", "bath.subject", "subject"}, "", true, false,
		words("genre.name", "genre.category.name")},
	{"Number of the record", []string{"rec.id", "rec.identifier", "id"}, "ID", false, false, parsed("id", parseID)},
	{"All records", []string{"cql.allrecords"}, "", false, false,
		func(string, string) (model.Filter, error) { return everything, nil }},
}

// everything is the filter that matches each book.
var everything = model.Filter{}

// indexOf returns the index with a name.
func indexOf(name string) (*index, error) {
	for _, i := range indexes {
		if slices.Contains(i.names, name) {
			return i, nil
		}
	}
	return nil, diagnosticError{unsupportedIndex, name}
}

// conditions are a search, empty for none, and a filter of books.
type conditions struct {
	search string
	filter model.Filter
	words  int // words in all clauses; a clause without words counts as one
}

// conditionsOf translates a query. The words of clauses that all books must meet are searched, because the search
// knows where words begin.
func conditionsOf(query node) (c conditions, err error) {
	if query.depth() > maxNesting {
		return c, diagnosticError{tooManyBooleans, "at most 7 levels of different operators"}
	}
	c.filter, err = c.add(query, true)
	return c, err
}

const (
	// maxNesting is the maximum depth of a query. A filter has 10 levels, and a clause takes two.
	maxNesting = 7
	// maxWords is the maximum number of words of a query, as of a search. A filter has 200 conditions, and a word
	// becomes up to five.
	maxWords = 32
)

// depth returns the number of levels of operators.
func (n node) depth() (depth int) {
	for _, operand := range n.operands {
		depth = max(depth, operand.depth()+1)
	}
	return depth
}

// add returns the filter of a part of the query. mustHold means that a book must meet it.
func (c *conditions) add(n node, mustHold bool) (model.Filter, error) {
	if n.boolean == "" {
		return c.addClause(n.clause, mustHold)
	}
	var parts []any
	for i, operand := range n.operands {
		negated := n.boolean == "not" && i > 0
		part, err := c.add(operand, mustHold && n.boolean != "or" && !negated)
		if err != nil {
			return nil, err
		}
		if negated {
			part = not(part)
		}
		parts = append(parts, part)
	}
	if n.boolean == "or" {
		return model.Filter{"or": parts}, nil
	}
	return model.Filter{"and": parts}, nil
}

func (c *conditions) addClause(by clause, mustHold bool) (model.Filter, error) {
	i, err := indexOf(by.index)
	if err != nil {
		return nil, err
	}
	n := 1
	if i.isText {
		n = max(n, len(collate.Words(by.term)))
	}
	if c.words += n; c.words > maxWords {
		return nil, diagnosticError{tooManyBooleans, "at most 32 words in all clauses"}
	}
	filter, err := i.condition(by.relation, by.term)
	if err != nil || !mustHold || !i.searched || !slices.Contains(allWords, by.relation) ||
		strings.ContainsAny(by.term, `\^*`) {
		return filter, err
	}
	c.search = strings.TrimSpace(c.search + " " + by.term)
	if i == anywhere {
		return everything, nil
	}
	return filter, nil
}

func not(filter model.Filter) model.Filter { return model.Filter{"not": filter} }

// Relations that mean the same for an index.
var (
	allWords = []string{"=", "scr", "all"}
	equal    = []string{"=", "scr", "exact", "==", "adj"}
)

// words returns the condition of texts: the names of fields of a book, or of its genre after a dot.
func words(fields ...string) func(relation, term string) (model.Filter, error) {
	matches := func(operator, text string) model.Filter {
		var parts []any
		for _, field := range fields {
			var condition any = map[string]any{operator: text}
			path := strings.Split(field, ".")
			for _, name := range slices.Backward(path) {
				condition = model.Filter{name: condition}
			}
			parts = append(parts, condition)
		}
		return model.Filter{"or": parts}
	}
	return func(relation, term string) (model.Filter, error) {
		t, err := readTerm(term)
		if err != nil {
			return nil, err
		}
		operator := "icontains"
		switch {
		case relation == "<>":
			return not(matches("eq", t.text)), nil
		case relation == "exact" || relation == "==" || t.first && t.last:
			return matches("eq", t.text), nil
		case t.first:
			operator = "istartsWith"
		case t.last:
			operator = "iendsWith"
		case relation == "any" || slices.Contains(allWords, relation):
			parts := []any{}
			for _, word := range collate.Words(t.text) {
				parts = append(parts, matches(operator, word))
			}
			if relation == "any" || len(parts) == 0 { // a term without a letter matches nothing
				return model.Filter{"or": parts}, nil
			}
			return model.Filter{"and": parts}, nil
		case relation != "adj":
			return nil, diagnosticError{unsupportedForIndex, relation}
		}
		return matches(operator, t.text), nil
	}
}

// term is a text without masks and anchors.
type term struct {
	text        string
	first, last bool // anchored to the begin, the end
}

// readTerm reads a term of CQL. A mask at the begin or the end of a word goes, because parts of words match.
func readTerm(text string) (t term, _ error) {
	var b strings.Builder
	runes := []rune(text)
	isEdge := func(i int) bool { return i < 0 || i >= len(runes) || runes[i] == ' ' }
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteRune(runes[i])
		case r == '^' && i == 0:
			t.first = true
		case r == '^' && i == len(runes)-1:
			t.last = true
		case r == '^':
			return t, diagnosticError{unsupportedAnchor, text}
		case r == '*' && (isEdge(i-1) || isEdge(i+1)):
		case r == '*' || r == '?':
			return t, diagnosticError{unsupportedMask, text}
		default:
			b.WriteRune(r)
		}
	}
	if t.text = strings.TrimSpace(b.String()); t.text == "" {
		return t, diagnosticError{code: emptyTerm}
	}
	return t, nil
}

// parsed returns the condition of a field with values in one form. A value that cannot be parsed is equal to none.
func parsed(field string, parse func(string) (string, bool)) func(relation, term string) (model.Filter, error) {
	return func(relation, term string) (model.Filter, error) {
		terms := []string{term}
		if relation == "any" {
			terms = strings.Fields(term)
		} else if !slices.Contains(equal, relation) && relation != "<>" && relation != "all" {
			return nil, diagnosticError{unsupportedForIndex, relation}
		}
		values := []string{}
		for _, text := range terms {
			if value, ok := parse(text); ok {
				values = append(values, value)
			}
		}
		filter := model.Filter{field: map[string]any{"in": values}}
		if relation == "<>" {
			return not(filter), nil
		}
		return filter, nil
	}
}

func parseID(text string) (string, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return strconv.FormatInt(n, 10), err == nil && n > 0
}

// dates is the condition of the date of publication. A term is a year, a month or a day.
func dates(relation, term string) (model.Filter, error) {
	first, last, ok := period(term)
	if relation == "within" {
		from, to, _ := strings.Cut(strings.TrimSpace(term), " ")
		var fromOK, toOK bool
		first, _, fromOK = period(from)
		_, last, toOK = period(to)
		ok = fromOK && toOK
	}
	if !ok {
		return nil, diagnosticError{invalidTerm, term + ": use YYYY, YYYY-MM or YYYY-MM-DD"}
	}
	bounds := map[string]any{"gte": first, "lte": last}
	switch relation {
	case "<":
		bounds = map[string]any{"lt": first}
	case "<=":
		delete(bounds, "gte")
	case ">":
		bounds = map[string]any{"gt": last}
	case ">=":
		delete(bounds, "lte")
	case "<>":
		return not(model.Filter{"publishedAt": bounds}), nil
	default:
		if relation != "within" && !slices.Contains(equal, relation) {
			return nil, diagnosticError{unsupportedForIndex, relation}
		}
	}
	return model.Filter{"publishedAt": bounds}, nil
}

// period returns the first and the last day of a year, a month or a day.
func period(text string) (first, last string, ok bool) {
	for layout, after := range map[string]func(time.Time) time.Time{
		"2006":        func(t time.Time) time.Time { return t.AddDate(1, 0, 0) },
		"2006-01":     func(t time.Time) time.Time { return t.AddDate(0, 1, 0) },
		time.DateOnly: func(t time.Time) time.Time { return t.AddDate(0, 0, 1) },
	} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && t.Year() > 0 {
			return t.Format(time.DateOnly), after(t).AddDate(0, 0, -1).Format(time.DateOnly), true
		}
	}
	return "", "", false
}
