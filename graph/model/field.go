package model

import "strings"

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
// plan, the JSON of /api, sort, import and export. docs/adding-a-field.md says
// what must be written beside it.
type FieldInfo struct {
	Name       string // in GraphQL: publishedAt
	Key        string // in /api, in files and in what is wrong with an input: published_at; default: Name with underscores
	Column     string // in the database; default: Key
	Kind       Kind
	Nullable   bool
	Writable   bool // given with a new row, and by a patch
	Use        Use
	Min, Max   int64  // of a number; of a text, Max is its length in characters
	OrderAfter string // the Key that it follows among the orders, where that is not the orderable field before it
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
// allocate, but for those that return any.
type RowField[T any] struct {
	FieldInfo
	// Pointer returns where the value is in a row: *string, **string, *int, *int64,
	// *ID, *Cents, *Date or *Timestamp.
	Pointer func(row *T) any
	// AppendGraphQL and AppendREST append the value as JSON.
	AppendGraphQL func(dst []byte, row *T) []byte
	AppendREST    func(dst []byte, row *T) []byte
	// Text returns the value as a cell of a file; null is empty.
	Text func(row *T) string
	// Equal reports whether two rows have the same value.
	Equal func(a, b *T) bool
}

// snake returns a name of GraphQL with underscores: publishedAt is published_at.
func snake(camel string) string {
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
