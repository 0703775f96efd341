// Package cost estimates what a GraphQL operation may cost, before any of it is run:
// from its document and its variables, by a table of prices. It reads no
// data and holds no limit.
//
// A unit of cost is about one row that is read. An object costs 1, a connection
// 1 and each row of its page 1, and what is selected of a row is counted for
// each of them. Leaves are free, and so is introspection. Rows that are looked at for a
// filter, a search, an order, figures or groups that no index answers cost a unit for
// each 1,000, and ten units for each 1,000 that are compared with a text pattern.
package cost

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Estimate is what an operation costs at most. Costs that are too large for an
// int64 are cut.
type Estimate struct {
	Total  int64
	Looked int64 // the part of it for rows that are looked at

	// The field that costs most by itself, without what is selected of it: its
	// response keys from the root, separated by dots, its cost, and its place.
	// Empty where nothing costs anything.
	Field     string
	FieldCost int64
	Position  *ast.Position
}

// Operation is an operation's fields that may cost something, with their prices.
type Operation []*field

// Compile returns a valid operation as it is estimated. It depends on the variables of
// @include and @skip, and on no others.
func Compile(schema *ast.Schema, operation *graphql.OperationContext) Operation {
	return (&compiler{schema: schema, operation: operation}).root()
}

// Estimate estimates the operation with variables. sizes says how much there is to look
// at.
func (o Operation) Estimate(variables map[string]any, sizes model.Sizes) Estimate {
	total := estimator{variables: variables, sizes: sizes}
	total.add(o, 1, holding{})
	total.Total, total.Looked = total.price(), total.looks/lookUnit
	return total.Estimate
}

// field is a field that is answered, with its price.
type field struct {
	*ast.Field
	path   string
	price  price
	fields [][]*field // what is selected of it, for each type that it may be of
}

// compiler finds the fields of an operation as they are executed: fragments are
// spread, fields with the same response key are one, and those that @skip and
// @include leave out are left out.
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

// fields returns those fields of an object that may cost something.
func (c *compiler) fields(set ast.SelectionSet, of *ast.Definition, path string) (fields []*field) {
	types := []string{of.Name}
	for _, abstract := range c.schema.GetImplements(of) {
		types = append(types, abstract.Name)
	}
	for _, collected := range graphql.CollectFields(c.operation, set, types) {
		if strings.HasPrefix(collected.Name, "__") {
			continue
		}
		f := &field{Field: collected.Field, path: path + collected.Alias, price: priceOf(c.schema, of.Name, collected.Definition)}
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

// estimator adds up what an operation costs.
type estimator struct {
	Estimate
	rows, looks int64 // that are read by an index, and at others

	variables map[string]any
	sizes     model.Sizes
}

func (e *estimator) price() int64 { return sum(e.rows, e.looks/lookUnit) }

// holding is what fields are below.
type holding struct {
	items int64 // of the page
	rows  int64 // of the list that the page is of
}

// add adds what fields cost that are answered so many times.
func (e *estimator) add(fields []*field, times int64, in holding) {
	for _, f := range fields {
		a := arguments{field: f.Field, variables: e.variables}
		size, below := in.items, holding{rows: in.rows}
		if f.price.size != nil {
			size = f.price.size(a)
		}
		looks := int64(0)
		if f.price.list != nil {
			below.rows, looks = f.price.list(a).rows(e.sizes)
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

// addDearest adds the type that costs most of those that an object may be of.
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
