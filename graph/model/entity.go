package model

import "slices"

// Relation leads from the rows of a type to those of another, whose column To
// equals the column From of theirs.
type Relation struct {
	Name     string // in GraphQL
	Type     string
	From, To string
}

// Many reports whether it leads to any number of rows.
func (r Relation) Many() bool { return r.To != "id" }

// Entity is what is known of a type of rows that are stored.
type Entity struct {
	Fields    []FieldInfo
	Relations []Relation
	// Orders are the fields that rows can be put in order by beside their own.
	Orders []ComputedOrder
}

// ComputedOrder is an order of rows that no field of theirs has.
type ComputedOrder struct {
	Name string // in the enum of the type's order fields
	Kind Kind
}

// Entities are the types by their names.
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

func (t *Entity) relation(name string) *Relation {
	i := slices.IndexFunc(t.Relations, func(r Relation) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Relations[i]
}

// OrderNames returns the fields that rows can be put in order by, by their names
// in the enum, in the order in which a client is told of them.
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

// orderKind returns the kind of an order field.
func (t *Entity) orderKind(name string) (Kind, bool) {
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Is(Orderable) && f.OrderName() == name {
			return f.Kind, true
		}
	}
	for _, o := range t.Orders {
		if o.Name == name {
			return o.Kind, true
		}
	}
	return 0, false
}
