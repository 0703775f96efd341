package model

import (
	"slices"
	"strings"
)

// Kind is how the values of a field are read, compared and written.
type Kind int

// The kinds of values.
const (
	KindText Kind = iota
	KindID
	KindInt
	KindBigInt
	KindCents
	KindDate
	KindTimestamp
)

// IsNumber reports whether values of the kind are compared as integers.
func (k Kind) IsNumber() bool {
	return k == KindID || k == KindInt || k == KindBigInt || k == KindCents
}

// Use is where a field appears beside the type itself in GraphQL.
type Use uint8

// The uses of a field.
const (
	Filterable  Use = 1 << iota
	Orderable       // of a nullable text, null comes first
	InREST          // in the JSON of /api
	InFile          // in the columns of an import and an export
	OnDemand        // read only where it is selected: it is large, or costs much to write
	KeptByPUT       // a PUT of /api without it keeps its value, though it is required in a POST
	everywhere  = Filterable | Orderable | InREST | InFile
	neverInFile = everywhere &^ InFile
)

// FieldInfo is what is known of a field without the Go type of its rows. What
// follows from it: columns, scans, INSERT, UPDATE, filter, order, leaves of the
// plan, the JSON of /api, sort, import and export, pages. docs/adding-a-field.md says
// what must be written beside it.
type FieldInfo struct {
	Name       string // in GraphQL: publishedAt
	Key        string // in /api, in files and in what is wrong with an input: published_at; default: Name with underscores
	Column     string // in the database; default: Key
	Kind       Kind
	Nullable   bool
	Writable   bool // given with a new row, and by a patch
	Use        Use
	Min, Max   int64      // of a number; of a text, Max is its length in characters
	Label      string     // on a page; default: Name with a capital letter
	Spellings  []string   // other names in the headers of files, in small letters without signs, the surest first
	OrderAfter string     // the Key that it follows among the orders, where that is not the orderable field before it
	projection Projection // the bit of a field on demand; set by definitions.fields
}

// Projection is the set of a type's fields on demand that are read. The zero value
// reads all of them.
type Projection uint32

// NoneOnDemand is the projection without any field on demand.
const NoneOnDemand Projection = 1 << 31

// Has reports whether a field is read.
func (p Projection) Has(f *FieldInfo) bool {
	return p == 0 || !f.Is(OnDemand) || p&f.projection != 0
}

// ProjectionOf returns what to join to NoneOnDemand by | for a field of a type, by
// its name in GraphQL: nothing where it is no field on demand.
func ProjectionOf(typename, field string) Projection {
	if entity := Entities[typename]; entity != nil {
		if f := entity.Field(field); f != nil {
			return f.projection
		}
	}
	return 0
}

// Is reports whether the field has all of these uses.
func (f *FieldInfo) Is(use Use) bool { return f.Use&use == use }

// HasFold reports whether conditions or orders look at the folded form of the
// field, which the database keeps in FoldColumn.
func (f *FieldInfo) HasFold() bool {
	return f.Kind == KindText && f.Use&(Filterable|Orderable) != 0
}

// FoldColumn returns the column of the folded form.
func (f *FieldInfo) FoldColumn() string { return f.Column + "_fold" }

// OrderName returns the name in the enum of the type's order fields.
func (f *FieldInfo) OrderName() string { return strings.ToUpper(f.Key) }

// RowField is a field of T, the rows of a type. Its functions neither reflect nor
// allocate, but for those that return any, and Read.
type RowField[T any] struct {
	FieldInfo
	// Pointer returns where the value is in a row: *string, **string, *int, *int64,
	// *ID, *Cents, *Date or *Timestamp.
	Pointer func(row *T) any
	// AppendGraphQL and AppendREST append the value as JSON.
	AppendGraphQL func(dst []byte, row *T) []byte
	AppendREST    func(dst []byte, row *T) []byte
	// Read sets the value to one that AppendREST has written. problem says what is wrong
	// with any other, with %s for the name of the field.
	Read func(row *T, v Value) (problem string)
	// Text returns the value as a cell of a file; null is empty.
	Text func(row *T) string
	// Equal reports whether two rows have the same value.
	Equal func(a, b *T) bool
}

// Snake returns a name of GraphQL with underscores: publishedAt is published_at.
func Snake(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

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

// Relation returns the relation with a name in GraphQL, or nil.
func (t *Entity) Relation(name string) *Relation {
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
