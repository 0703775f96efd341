package rest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// query reads the parameters of a list's address, and keeps what is wrong with
// them. A parameter without a value counts as not given.
type query struct {
	values   url.Values
	problems model.FieldErrors
}

// strayPercent finds, beside the escapes, each % that begins none.
var strayPercent = regexp.MustCompile(`%([0-9A-Fa-f]{2})?`)

// parseQuery takes a query apart as forms write it (URL Standard, section 5.1):
// a % that begins no escape stands for itself, and so does a semicolon.
func parseQuery(raw string) url.Values {
	unescape := func(s string) string {
		s = strayPercent.ReplaceAllStringFunc(s, func(escape string) string {
			if escape == "%" {
				return "%25"
			}
			return escape
		})
		s, _ = url.QueryUnescape(s) // no other escape is bad
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

// has reports whether a parameter is given.
func (q *query) has(name string) bool { return len(q.values[name]) > 0 }

// refuse notes what is wrong with a parameter, if nothing was before.
func (q *query) refuse(name, message string) {
	if !q.problems.Has(name) {
		q.problems.Add(name, message)
	}
}

// one returns the value of a parameter that may be given once.
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

// text returns the value of a parameter that is text.
func (q *query) text(name string) string {
	text := q.one(name)
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		q.refuse(name, model.MustBeUTF8)
		return ""
	}
	return text
}

// integer returns the value of a parameter that is a number from 1 to max.
func (q *query) integer(name string, max int) int {
	text := q.one(name)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > max {
		q.refuse(name, fmt.Sprintf("The %%s field must be an integer between 1 and %d.", max))
	}
	return n
}

// condition is a parameter that says which rows of a list to take.
type condition struct {
	parameter string
	// path leads to its operand in the filter of GraphQL: fields and operator.
	path []string
	// operand reads it from what is given; nil where that says nothing, or is wrong.
	operand func(q *query, parameter string) any
}

// args returns the arguments by which GraphQL would ask for the same list.
func (q *query) args(l *listing) model.PageArgs {
	var args model.PageArgs
	for _, c := range l.conditions {
		if !q.has(c.parameter) && !q.has(c.parameter+"[]") {
			continue
		}
		if operand := c.operand(q, c.parameter); operand != nil {
			args.Filter = with(args.Filter, c.path, operand)
		}
	}
	if text := q.text("q"); text != "" {
		args.Search = &text
	}
	if q.has("sort") {
		args.OrderBy = q.orderBy(l.sorts, args.Search != nil)
	}
	return args
}

// renameError returns what is wrong with a search, in the words of /api.
func renameError(err error) error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || len(e.Fields) != 1 || e.Fields[0].Field != "search" {
		return err
	}
	return model.FieldErrors{{Field: "q", Message: strings.Replace(e.Message, "The search argument", "The q field", 1)}}.Err()
}

// with puts an operand in its place in a filter.
func with(filter model.Filter, path []string, operand any) model.Filter {
	if filter == nil {
		filter = model.Filter{}
	}
	if len(path) == 1 {
		filter[path[0]] = operand
	} else {
		inner, _ := filter[path[0]].(model.Filter)
		filter[path[0]] = with(inner, path[1:], operand)
	}
	return filter
}

// ids reads one id or several: by comma, or with the parameter given again, also
// as name[], as some clients write lists. A row that has any of them is taken.
func ids(q *query, name string) any {
	var ids []string
	for _, text := range strings.Split(strings.Join(slices.Concat(q.values[name], q.values[name+"[]"]), ","), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
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
		q.refuse(name, fmt.Sprintf("The %%s field must not have more than %d values.", model.MaxOperands))
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

// equalFoldFilter reads a text that others equal but for case and accents: they have the
// same place in order, which their first hundred characters tell, and the same
// end. Only a longer text that repeats itself could be taken for another.
func equalFoldFilter(q *query, name string) any {
	text := q.text(name)
	if text == "" {
		return nil
	}
	return model.Filter{"gte": text, "lte": text, "iendsWith": text}
}

// orderBy reads the keys of sort: names of fields, descending with a minus.
func (q *query) orderBy(sorts []string, searched bool) (by []*model.OrderBy) {
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
		case !slices.Contains(sorts, field):
			q.refuse(name, "The %s field must be one or more of these by comma, with a minus before what descends: "+strings.Join(sorts, ", ")+".")
		case seen[field]:
			q.refuse(name, "The %s field must not name "+field+" twice.")
		case field == relevance && !searched:
			q.refuse(name, "The %s field must not name "+relevance+" without a search: give q.")
		}
		seen[field] = true
		by = append(by, &model.OrderBy{Field: strings.ToUpper(field), Direction: direction})
	}
	return by
}

// sortsOf returns the fields that sort may name for a type.
func sortsOf(typename string) []string {
	sorts := model.Entities[typename].OrderNames()
	for i, name := range sorts {
		sorts[i] = strings.ToLower(name)
	}
	return sorts
}

// relevance is the name in sort of the order by how well rows match q.
var relevance = strings.ToLower(model.Relevance)
