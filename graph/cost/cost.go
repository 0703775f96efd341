// Package cost estimates the price of a GraphQL operation before it runs, from its document, its
// variables and a table of prices. It reads no data and enforces no limit.
//
// One unit is about one row read:
//
//   - An object costs 1. A connection costs 1, and 1 for each row of its page.
//   - The fields of a row are counted for each row.
//   - Leaves and introspection are free.
//   - 1,000 rows scanned without an index cost 1, and 10 if a text pattern is matched.
package cost

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Estimate is the maximum price of an operation. It saturates at math.MaxInt64.
type Estimate struct {
	Total  int64
	Looked int64 // part of Total for scanned rows

	// Most expensive field, without its selection: its response keys from the root, joined
	// by dots, its price and its position. Empty if everything is free.
	Field     string
	FieldCost int64
	Position  *ast.Position
}

// Operation holds the fields of an operation that are not free, with their prices.
type Operation []*field

// Compile compiles a valid operation. The result depends only on the variables of @include and
// @skip.
func Compile(schema *ast.Schema, operation *graphql.OperationContext) Operation {
	return (&compiler{schema: schema, operation: operation}).root()
}

// Estimate estimates the price of the operation with variables. sizes are the numbers of rows.
func (o Operation) Estimate(variables map[string]any, sizes model.Sizes) Estimate {
	total := estimator{variables: variables, sizes: sizes}
	total.add(o, 1, holding{})
	total.Total, total.Looked = total.price(), total.looks/lookUnit
	return total.Estimate
}

// field is a selected field with its price.
type field struct {
	*ast.Field
	path   string
	price  price
	fields [][]*field // selected fields for each possible type
}

// compiler collects fields as the executor does: it spreads fragments, merges fields with the same
// response key and applies @skip and @include.
type compiler struct {
	schema    *ast.Schema
	operation *graphql.OperationContext
}

func (c *compiler) root() []*field {
	root := map[ast.Operation]*ast.Definition{
		ast.Query: c.schema.Query, ast.Mutation: c.schema.Mutation, ast.Subscription: c.schema.Subscription,
	}[c.operation.Operation.Operation]
	return c.fields(c.operation.Operation.SelectionSet, root, "")
}

// fields returns the fields of an object that are not free.
func (c *compiler) fields(set ast.SelectionSet, of *ast.Definition, path string) (fields []*field) {
	types := []string{of.Name}
	for _, abstract := range c.schema.GetImplements(of) {
		types = append(types, abstract.Name)
	}
	for _, collected := range graphql.CollectFields(c.operation, set, types) {
		if strings.HasPrefix(collected.Name, "__") {
			continue
		}
		f := &field{Field: collected.Field, path: path + collected.Alias,
			price: priceOf(c.schema, of.Name, collected.Definition)}
		if definition := c.schema.Types[collected.Definition.Type.Name()]; definition.IsCompositeType() {
			for _, possible := range c.schema.GetPossibleTypes(definition) {
				f.fields = append(f.fields, c.fields(collected.Selections, possible, f.path+"."))
			}
		} else if f.price.fixed == 0 && f.price.size == nil {
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// estimator adds up the price of an operation.
type estimator struct {
	Estimate
	rows, looks int64 // rows read by index, rows scanned

	variables map[string]any
	sizes     model.Sizes
}

func (e *estimator) price() int64 { return sum(e.rows, e.looks/lookUnit) }

// holding is the connection above fields.
type holding struct {
	items int64 // rows of the page
	rows  int64 // rows of the whole list that figures and facets look at
}

// add adds the price of fields that are resolved a number of times.
func (e *estimator) add(fields []*field, times int64, in holding) {
	for _, f := range fields {
		a := arguments{field: f.Field, variables: e.variables}
		size, below := in.items, holding{rows: in.rows}
		if f.price.size != nil {
			size = f.price.size(a)
		}
		looks := int64(0)
		if f.price.list != nil {
			l := f.price.list(a)
			below.rows, looks = l.rows(e.sizes)
			// Groups by several keys look at the rows themselves; their counts are not kept.
			if f.price.kind == holder && f.price.looks == 0 && l.all() {
				below.rows /= keptDivisor
			}
		}
		looks = product(times, sum(looks, product(f.price.looks, below.rows)))
		rows := product(times, sum(f.price.fixed, product(size, f.price.each)))
		e.rows, e.looks = sum(e.rows, rows), sum(e.looks, looks)
		if own := sum(rows, looks/lookUnit); own > e.FieldCost {
			e.Field, e.FieldCost, e.Position = f.path, own, f.Position
		}
		inner := times
		switch f.price.kind {
		case list:
			inner = product(times, size)
		case holder:
			below.items = size
		}
		e.addDearest(f.fields, inner, below)
	}
}

// addDearest adds the most expensive of an object's possible types.
func (e *estimator) addDearest(types [][]*field, times int64, in holding) {
	if len(types) == 1 {
		e.add(types[0], times, in)
		return
	}
	dearest := *e
	for _, fields := range types {
		of := *e
		if of.add(fields, times, in); of.price() > dearest.price() {
			dearest = of
		}
	}
	*e = dearest
}
