package model

import (
	"slices"
)

// Entity describes a stored type.
type Entity struct {
	Fields    []FieldInfo
	Relations []Relation
	// Orders are order fields in addition to the fields of rows.
	Orders []ComputedOrder
}

// ComputedOrder is an order field that is not a field of the rows.
type ComputedOrder struct {
	Name string // in the enum of the type's order fields
	Kind Kind
}

// Relation leads from rows of a type to rows of another: column To equals column From.
type Relation struct {
	Name     string // in GraphQL
	Type     string
	From, To string
}

// Many reports whether it leads to several rows.
func (r Relation) Many() bool { return r.To != "id" }

// Relevance is the order field of search matches, best first.
const Relevance = "RELEVANCE"

// Entities are the stored types by name.
var Entities = map[string]*Entity{
	"Book": {
		Fields:    infos(BookFields),
		Relations: []Relation{{"genre", "Genre", "genre_id", "id"}},
		Orders:    []ComputedOrder{{"GENRE_NAME", KindText}, {"CATEGORY_NAME", KindText}, {Relevance, KindInt}},
	},
	"Genre": {
		Fields:    infos(GenreFields),
		Relations: []Relation{{"category", "Category", "category_id", "id"}, {"books", "Book", "id", "genre_id"}},
		Orders:    []ComputedOrder{{"CATEGORY_NAME", KindText}, {Relevance, KindInt}},
	},
	"Category": {
		Fields:    infos(CategoryFields),
		Relations: []Relation{{"genres", "Genre", "id", "category_id"}},
		Orders:    []ComputedOrder{{Relevance, KindInt}},
	},
}

func infos[T any](fields []RowField[T]) []FieldInfo {
	all := make([]FieldInfo, len(fields))
	for i, f := range fields {
		all[i] = f.FieldInfo
	}
	return all
}

// Field returns the field with a name in GraphQL, or nil.
func (t *Entity) Field(name string) *FieldInfo {
	i := slices.IndexFunc(t.Fields, func(f FieldInfo) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Fields[i]
}

// Relation returns the relation with a name in GraphQL, or nil.
func (t *Entity) Relation(name string) *Relation {
	i := slices.IndexFunc(t.Relations, func(r Relation) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Relations[i]
}

// OrderNames returns the order fields by their names in the enum, in the order of the schema.
func (t *Entity) OrderNames() []string {
	var names []string
	for _, f := range t.Fields {
		if !f.Is(Orderable) {
			continue
		}
		at := len(names)
		if f.OrderAfter != "" {
			after := FieldInfo{Key: f.OrderAfter}
			at = slices.Index(names, after.OrderName()) + 1
		}
		names = slices.Insert(names, at, f.OrderName())
	}
	for _, o := range t.Orders {
		names = append(names, o.Name)
	}
	return names
}

func (t *Entity) orderKind(name string) (Kind, bool) {
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Is(Orderable) && f.OrderName() == name {
			return f.OrderKind(), true
		}
	}
	for _, o := range t.Orders {
		if o.Name == name {
			return o.Kind, true
		}
	}
	return 0, false
}

// ProjectionOf returns the bit of a field, by its GraphQL name, to add to NoneOnDemand: 0 for a
// field that is not on demand.
func ProjectionOf(typename, field string) Projection {
	if entity := Entities[typename]; entity != nil {
		if f := entity.Field(field); f != nil {
			return f.projection
		}
	}
	return 0
}
