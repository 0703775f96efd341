package rest

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// query reads the parameters of a list and collects their errors. An empty parameter is ignored.
type query struct {
	values   url.Values
	problems model.FieldErrors
}

// escapeOrPercent matches escapes, and each % that does not begin one.
var escapeOrPercent = regexp.MustCompile(`%([0-9A-Fa-f]{2})?`)

// parseQuery parses a query in the format of HTML forms (URL Standard, section 5.1). Invalid escapes and semicolons are
// literal text.
func parseQuery(raw string) url.Values {
	unescape := func(s string) string {
		s = escapeOrPercent.ReplaceAllStringFunc(s, func(escape string) string {
			if escape == "%" {
				return "%25"
			}
			return escape
		})
		s, _ = url.QueryUnescape(s) // all escapes are valid now
		return s
	}
	values := url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			values.Add(unescape(name), unescape(value))
		}
	}
	return values
}

func (q *query) has(name string) bool { return len(q.values[name]) > 0 }

// given is like has. The parameter may be spelled name[], as some clients do.
func (q *query) given(name string) bool { return q.has(name) || q.has(name+"[]") }

// refuse records the first error of a parameter.
func (q *query) refuse(name, format string, args ...any) {
	if !q.problems.Has(name) {
		q.problems.Add(name, format, args...)
	}
}

// one returns the value of a parameter that must not be repeated.
func (q *query) one(name string) string {
	values := q.values[name]
	if len(values) > 1 {
		q.refuse(name, "The %s field must be given only once.")
	}
	if len(values) != 1 {
		return ""
	}
	return strings.TrimSpace(values[0])
}

// text returns the value of a text parameter.
func (q *query) text(name string) string {
	text := q.one(name)
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		q.refuse(name, model.MustBeUTF8)
		return ""
	}
	return text
}

// integer returns the value of an integer parameter from 1 to max.
func (q *query) integer(name string, max int) int {
	text := q.one(name)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > max {
		q.refuse(name, "The %s field must be an integer between 1 and %d.", max)
	}
	return n
}

// condition is a parameter that filters a list.
type condition struct {
	parameter string
	path      []string                             // fields and operator in GraphQL's filter
	operand   func(q *query, parameter string) any // reads the operand; returns nil if there is none or an error
}

// args returns the GraphQL arguments for the same list.
func (q *query) args(l *listing) model.PageArgs {
	args := model.PageArgs{Filter: q.filter(l.conditions)}
	if text := q.text("q"); text != "" {
		args.Search = &text
	}
	if q.has("sort") {
		args.OrderBy = q.orderBy(l.sortFields, args.Search != nil)
	}
	return args
}

// filter returns the filter of all conditions that are given, nil for none.
func (q *query) filter(conditions []condition) (filter model.Filter) {
	for _, c := range conditions {
		if !q.given(c.parameter) {
			continue
		}
		if operand := c.operand(q, c.parameter); operand != nil {
			filter = withOperand(filter, c.path, operand)
		}
	}
	return filter
}

// renameError renames the argument search in an error to the parameter q.
func renameError(err error) error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || len(e.Fields) != 1 || e.Fields[0].Field != "search" {
		return err
	}
	return model.FieldErrors{
		{Field: "q", Message: strings.Replace(e.Message, "The search argument", "The q field", 1)}}.Err()
}

func withOperand(filter model.Filter, path []string, operand any) model.Filter {
	if filter == nil {
		filter = model.Filter{}
	}
	if len(path) == 1 {
		filter[path[0]] = operand
	} else {
		inner, _ := filter[path[0]].(model.Filter)
		filter[path[0]] = withOperand(inner, path[1:], operand)
	}
	return filter
}

// items returns the values of a parameter, separated by commas or in repeated parameters. It may be spelled name[].
func (q *query) items(name string) (items []string) {
	for text := range strings.SplitSeq(strings.Join(slices.Concat(q.values[name], q.values[name+"[]"]), ","), ",") {
		if text = strings.TrimSpace(text); text != "" {
			items = append(items, text)
		}
	}
	return items
}

// ids reads one or more ids.
func ids(q *query, name string) any {
	var ids []string
	for _, text := range q.items(name) {
		if strings.Trim(text, "0123456789") != "" {
			q.refuse(name, model.MustBeInteger)
			return nil
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id == 0 {
			q.refuse(name, model.MustExist)
			return nil
		}
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	if len(ids) > model.MaxOperands {
		q.refuse(name, "The %s field must not have more than %d values.", model.MaxOperands)
	}
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// amount reads a price.
func amount(q *query, name string) any {
	text := q.one(name)
	if _, ok := model.ParseCents(text); !ok {
		q.refuse(name, model.MustBeNumber)
		return nil
	}
	return text
}

// day reads a date.
func day(q *query, name string) any {
	d, ok := model.ParseDate(q.one(name))
	if !ok {
		q.refuse(name, model.MustBeDate)
		return nil
	}
	return d.String()
}

// equalFoldFilter reads a text and returns a filter for texts that equal it without case and accents. Such texts sort
// equally, by their first hundred characters, and end equally. A longer repetitive text could match wrongly.
func equalFoldFilter(q *query, name string) any {
	text := q.text(name)
	if text == "" {
		return nil
	}
	return model.Filter{"gte": text, "lte": text, "iendsWith": text}
}

// canonical reads a text of the syntax of a book's field, in the form in which it is stored.
func canonical(q *query, name string) any {
	text := q.text(name)
	if text == "" {
		return nil
	}
	syntax := model.ImportField(name).Syntax
	stored, ok := syntax.Parse(text)
	if !ok {
		q.refuse(name, syntax.Problem)
		return nil
	}
	return stored
}

// including returns the format with the fields of books that the parameter include names.
func (q *query) including(f *format) *format {
	if f != jsonFormat || !q.has("include") {
		return f
	}
	including := *f
	including.books = model.BookJSONWith(strings.Split(strings.Join(q.values["include"], ","), ","))
	return &including
}

// orderBy reads the parameter sort: names of fields, with a minus for descending order.
func (q *query) orderBy(fields []string, searched bool) (by []*model.OrderBy) {
	const name = "sort"
	seen := map[string]bool{}
	for _, key := range strings.Split(q.one(name), ",") {
		field, descending := strings.CutPrefix(strings.TrimSpace(key), "-")
		direction := "ASC"
		if descending {
			direction = "DESC"
		}
		switch {
		case q.problems.Has(name):
			return nil
		case !slices.Contains(fields, field):
			q.refuse(name,
				"The %s field must be a comma-separated list of these, with a minus for descending order: "+
					strings.Join(fields, ", ")+".")
		case seen[field]:
			q.refuse(name, "The %s field must not name %s twice.", field)
		case field == relevance && !searched:
			q.refuse(name, "The %s field must not name %s without a search: give q.", relevance)
		}
		seen[field] = true
		by = append(by, &model.OrderBy{Field: strings.ToUpper(field), Direction: direction})
	}
	return by
}

// sortFields returns the values of sort for a type.
func sortFields(typename string) []string {
	names := model.Entities[typename].OrderNames()
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	return names
}

// relevance is the value of sort for the ranking of a search.
var relevance = strings.ToLower(model.Relevance)
