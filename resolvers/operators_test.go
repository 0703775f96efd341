package resolvers_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/server/servertest"
)

// TestEachOperator passes each operator of each field of each filter alone, with
// the values of all rows: the list has the rows that the operator is said to find.
func TestEachOperator(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		asked := 0
		for list, filter := range map[string]string{"books": "BookFilter", "genres": "GenreFilter", "categories": "CategoryFilter"} {
			stored := storedRows(t, c, list)
			for _, field := range schema.Types[filter].Fields {
				operators := schema.Types[field.Type.Name()]
				if operators == nil || operators.Fields.ForName("eq") == nil {
					continue // and, or, not, and edges
				}
				rows := rowsOf(t, c, list, field.Name)
				for _, operator := range operators.Fields {
					asked++
					for _, operand := range operandsOf(rows, field.Type.Name(), operator) {
						want := []string{}
						for _, r := range rows {
							if found(r.value, field.Type.Name(), operator.Name, operand) {
								want = append(want, r.id)
							}
						}
						variables := servertest.Encode(t, map[string]any{"f": map[string]any{field.Name: map[string]any{operator.Name: operand}}})
						document := fmt.Sprintf(`query ($f: %s) { x: %s(filter: $f) { totalCount nodes { id } } }`, filter, list)
						got := struct {
							X struct {
								TotalCount int
								Nodes      []struct{ ID string }
							}
						}{}
						servertest.Unmarshal(t, c.Get(t, document, variables), &got)
						ids := []string{}
						for _, n := range got.X.Nodes {
							ids = append(ids, n.ID)
						}
						exact := slices.Contains([]string{"eq", "neq", "in", "notIn", "isNull"}, operator.Name) || slices.Contains([]string{"IDFilter", "IntFilter", "DecimalFilter"}, field.Type.Name())
						checkMatches(t, strings.TrimSuffix(filter, "Filter"), map[string]any{field.Name: map[string]any{operator.Name: operand}}, exact, stored, want)
						if diff := gocmp.Diff(want, ids); diff != "" || got.X.TotalCount != len(want) {
							t.Errorf("%s %s: totalCount %d (-want +got):\n%s", list, variables, got.X.TotalCount, diff)
						}
					}
				}
			}
		}
		if asked < 200 {
			t.Errorf("only %d operators were asked for", asked)
		}
	})
}

// storedRows returns the rows of a list by id, as the store reads them.
func storedRows(t *testing.T, c *servertest.Client, list string) map[string]any {
	t.Helper()
	ids, s, rows := []model.ID{}, c.Store.Unchecked(t.Context()), map[string]any{}
	for id := range model.ID(100) {
		ids = append(ids, id)
	}
	books, err := s.Books.ByID(t.Context(), ids)
	servertest.Must(t, err)
	genres, err := s.Genres.ByID(t.Context(), ids)
	servertest.Must(t, err)
	categories, err := s.Categories.ByID(t.Context(), ids)
	servertest.Must(t, err)
	switch list {
	case "books":
		for _, row := range books {
			rows[row.ID.String()] = row
		}
	case "genres":
		for _, row := range genres {
			rows[row.ID.String()] = row
		}
	default:
		for _, row := range categories {
			rows[row.ID.String()] = row
		}
	}
	return rows
}

// checkMatches compares Condition.MayMatch with the rows that pass a filter, and with the others for its negation. It
// is exact unless it depends on the order or the folding of texts.
func checkMatches(t *testing.T, typename string, filter map[string]any, exact bool, rows map[string]any, passing []string) {
	t.Helper()
	is, err := model.ParseSelection(typename, filter, nil)
	servertest.Must(t, err)
	not, err := model.ParseSelection(typename, map[string]any{"not": filter}, nil)
	servertest.Must(t, err)
	for id, row := range rows {
		passes, may, mayNot := slices.Contains(passing, id), is.Where.MayMatch(row), not.Where.MayMatch(row)
		if passes && !may || !passes && !mayNot || exact && (may != passes || mayNot == passes) {
			t.Errorf("%s %v: row %s passes: %t, MayMatch: %t, of the negation: %t", typename, filter, id, passes, may, mayNot)
		}
	}
}

// shown is a row of a list, with the value of one field: a text, or nil.
type shown struct {
	id    string
	value any
}

// text returns the value in order: null comes first.
func (s shown) text() string {
	text, _ := s.value.(string)
	return text
}

// rowsOf reads a list with one field, or with the field "value" of a field.
func rowsOf(t *testing.T, c *servertest.Client, list, field string) (rows []shown) {
	t.Helper()
	var got struct {
		X struct{ Nodes []map[string]any }
	}
	servertest.Unmarshal(t, string(c.Ask(t, fmt.Sprintf(`{ x: %s { nodes { rowID: id value: %s } } }`, list, field), "").Data), &got)
	for _, n := range got.X.Nodes {
		value := n["value"]
		for nested, ok := value.(map[string]any); ok; nested, ok = value.(map[string]any) {
			value = nested["value"]
		}
		if number, ok := value.(float64); ok {
			value = strconv.Itoa(int(number))
		}
		rows = append(rows, shown{n["rowID"].(string), value})
	}
	return rows
}

// operandsOf returns what an operator is asked with.
func operandsOf(rows []shown, typename string, operator *ast.FieldDefinition) (operands []any) {
	switch operator.Name {
	case "isNull":
		return []any{true, false}
	case "in", "notIn":
		operands = append(operands, []any{})
	}
	for _, r := range rows {
		if r.value == nil {
			continue
		}
		value := r.value
		if typename == "IntFilter" {
			value, _ = strconv.Atoi(r.value.(string))
		}
		if operator.Type.Elem != nil {
			operands = append(operands, []any{value})
			continue
		}
		operands = append(operands, value)
		if text := r.value.(string); typename == "StringFilter" {
			operands = append(operands, text[1:], text[:2], text[1:3], strings.ToUpper(text[1:3]), strings.ToLower(text))
		}
	}
	return operands
}

// textOperators has a function for each operator that compares texts without an order.
var textOperators = map[string]func(value, operand string) bool{
	"eq":         func(v, o string) bool { return v == o },
	"contains":   strings.Contains,
	"startsWith": strings.HasPrefix,
	"endsWith":   strings.HasSuffix,
	"icontains": func(v, o string) bool {
		return collate.Fold(o) != "" && strings.Contains(collate.Fold(v), collate.Fold(o))
	},
	"istartsWith": func(v, o string) bool {
		return collate.Fold(o) != "" && strings.HasPrefix(collate.Fold(v), collate.Fold(o))
	},
	"iendsWith": func(v, o string) bool {
		return collate.Fold(o) != "" && strings.HasSuffix(collate.Fold(v), collate.Fold(o))
	},
}

// found reports whether an operator finds a row by its value.
func found(value any, typename, operator string, operand any) bool {
	switch operator {
	case "isNull":
		return (value == nil) == operand.(bool)
	case "neq":
		return !found(value, typename, "eq", operand)
	case "in":
		return slices.ContainsFunc(operand.([]any), func(one any) bool { return found(value, typename, "eq", one) })
	case "notIn":
		return !found(value, typename, "in", operand)
	}
	if value == nil {
		return false
	}
	v, o := value.(string), fmt.Sprint(operand)
	if match := textOperators[operator]; match != nil {
		return match(v, o)
	}
	order := compared(v, o, typename)
	return map[string]bool{"gt": order > 0, "gte": order >= 0, "lt": order < 0, "lte": order <= 0}[operator]
}

// compared compares two values by the order of their type.
func compared(a, b, typename string) int {
	switch typename {
	case "StringFilter":
		return cmp.Compare(collate.SortKey(a), collate.SortKey(b))
	case "IDFilter", "IntFilter", "DecimalFilter":
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b) // dates and moments have as many digits each
}
