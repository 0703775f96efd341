package query

import (
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// Table describes the table of a type.
type Table struct {
	Name      string
	typename  string
	fields    map[string]*model.FieldInfo // by GraphQL name
	relations map[string]model.Relation
	orders    map[string]ordering // by name in the enum of order fields
}

// ordering is the meaning of a sort key.
type ordering struct {
	kind       model.Kind
	field      string // empty if it is not a field of the rows
	expression string // the folded form of a text, or its natural key
	join       string // joins that the expression needs

	// covered means that the index of a book's field also has price, date and author, the most
	// frequent filters.
	covered bool
}

// The tables of the catalogue.
var (
	Books = newTable("books", "Book", map[string]ordering{
		"GENRE_NAME": {expression: "og.name_fold", join: " JOIN genres og ON og.id = r.genre_id"},
		"CATEGORY_NAME": {expression: "oc.name_fold",
			join: " JOIN genres og ON og.id = r.genre_id JOIN categories oc ON oc.id = og.category_id"},
		"PUBLISHED_AT": {kind: model.KindDate, expression: "r.published_at", covered: true},
		"PRICE":        {kind: model.KindCents, expression: "r.price_cents", covered: true},
	})
	Genres = newTable("genres", "Genre", map[string]ordering{
		"CATEGORY_NAME": {expression: "oc.name_fold", join: " JOIN categories oc ON oc.id = r.category_id"},
	})
	Categories = newTable("categories", "Category", nil)

	tables = map[string]*Table{"Book": Books, "Genre": Genres, "Category": Categories}
)

// newTable returns the table of a type. orders are additional orders and changes to its fields' orders.
func newTable(name, typename string, orders map[string]ordering) *Table {
	entity := model.Entities[typename]
	t := &Table{Name: name, typename: typename, fields: map[string]*model.FieldInfo{},
		relations: map[string]model.Relation{}, orders: map[string]ordering{
			model.Relevance: {kind: model.KindInt, expression: "s.rank"},
		}}
	for i := range entity.Fields {
		f := &entity.Fields[i]
		t.fields[f.Name] = f
		expression := "r." + f.Column
		switch {
		case f.Natural:
			expression = "r." + f.KeyColumn()
		case f.HasFold():
			expression = "r." + f.FoldColumn()
		}
		t.orders[f.OrderName()] = ordering{kind: f.OrderKind(), field: f.Name, expression: expression}
	}
	for _, r := range entity.Relations {
		t.relations[r.Name] = r
	}
	for name, o := range orders {
		o.field = t.orders[name].field
		t.orders[name] = o
	}
	return t
}

// Schema returns the columns and indexes that the fields of the table need. Columns are written as
// table.column. Sort columns are NOT NULL, because NULL folds to an empty text. Each order of books
// and each order by text has an index; the other tables are small.
func (t *Table) Schema(d *dialect.Dialect) (columns, indexes []string) {
	for _, f := range model.Entities[t.typename].Fields {
		column := t.Name + "." + f.Column
		columns = append(columns, column)
		if _, stored := d.Folded(column); stored && f.HasFold() {
			column = t.Name + "." + f.FoldColumn()
			columns = append(columns, column)
		}
		if f.Is(model.Orderable) && f.Name != "id" {
			columns = append(columns, column+" NOT NULL")
			if f.HasFold() || t == Books {
				indexes = append(indexes, t.Name+"_"+f.Key)
			}
			if f.Natural {
				columns = append(columns, t.Name+"."+f.KeyColumn(), t.Name+"."+f.KeyColumn()+" NOT NULL")
				indexes = append(indexes, t.index(&f))
			}
		}
	}
	return columns, indexes
}

// index returns the name of the index for an order by a field.
func (t *Table) index(f *model.FieldInfo) string {
	if f.Natural {
		return t.Name + "_" + f.KeyColumn()
	}
	return t.Name + "_" + f.Key
}

// Columns returns the column list of fields for rows with an alias, or without one.
func Columns(d *dialect.Dialect, fields []*model.FieldInfo, alias string) string {
	if alias != "" {
		alias += "."
	}
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = alias + f.Column
		switch f.Kind {
		case model.KindDate:
			columns[i] = d.Date(columns[i])
		case model.KindTimestamp:
			columns[i] = d.Timestamp(columns[i])
		}
	}
	return strings.Join(columns, ", ")
}
