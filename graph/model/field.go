package model

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Kind is the type of a field's values.
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
	KindNatural // a sort key: a text in natural order
)

// IsNumber reports whether values are compared as integers.
func (k Kind) IsNumber() bool {
	return k == KindID || k == KindInt || k == KindBigInt || k == KindCents
}

// Use is a set of places where a field appears, in addition to its GraphQL type.
type Use uint8

// The uses of a field.
const (
	Filterable  Use = 1 << iota
	Orderable       // null comes first
	InREST          // in the JSON of /api
	InFile          // in columns of imports and exports
	OnDemand        // read only if selected, because it is large or expensive to write
	KeptByPUT       // a PUT of /api without it keeps its value; a POST requires it
	OnInclude       // in the JSON of /api where the request includes it; in files after genre and category
	everywhere  = Filterable | Orderable | InREST | InFile
	neverInFile = everywhere &^ InFile
)

// FieldInfo describes a field without the Go type of its rows. Columns, scans, INSERT, UPDATE,
// filters, orders, leaves of plans, JSON of /api, imports, exports and pages follow from it.
// docs/adding-a-field.md lists the rest.
type FieldInfo struct {
	Name       string // in GraphQL: publishedAt
	Key        string // in /api, in files and in errors: published_at; default: Name with underscores
	Column     string // in the database; default: Key
	Kind       Kind
	Nullable   bool
	Writable   bool // set by inputs and patches
	Use        Use
	Min, Max   int64      // bounds of a number; for texts Max is the length in characters
	Syntax     *Syntax    // syntax of a text; nil: any text
	Natural    bool       // a text in natural order (collate.NaturalKey)
	Label      string     // on a page; default: Name with a capital letter
	Spellings  []string   // other names in headers of files, in lower-case letters, best match first
	Fallbacks  []string   // names that count after Spellings and other fields' guesses
	OrderAfter string     // Key of the preceding order field; default: the preceding orderable field
	projection Projection // bit of an on-demand field; set by definitions.fields
}

// Syntax is the syntax of the texts of a field.
type Syntax struct {
	Noun    string // in errors: ISBN
	Problem string // format of the error of another text, with the field's name as argument
	// Parse returns the text in the form in which it is stored.
	Parse func(text string) (canonical string, ok bool)
}

// Projection is a set of on-demand fields of a type to read. The zero value reads all.
type Projection uint32

// NoneOnDemand is the projection without on-demand fields.
const NoneOnDemand Projection = 1 << 31

// Has reports whether a field is read.
func (p Projection) Has(f *FieldInfo) bool {
	return p == 0 || !f.Is(OnDemand) || p&f.projection != 0
}

// Is reports whether the field has all of these uses.
func (f *FieldInfo) Is(use Use) bool { return f.Use&use == use }

// HasFold reports whether FoldColumn holds the folded form of the field for conditions and orders.
func (f *FieldInfo) HasFold() bool {
	return f.Kind == KindText && f.Use&(Filterable|Orderable) != 0
}

// FoldColumn returns the column of the folded form.
func (f *FieldInfo) FoldColumn() string { return f.Column + "_fold" }

// KeyColumn returns the column of the key of a field in natural order.
func (f *FieldInfo) KeyColumn() string { return f.Column + "_key" }

// OrderKind returns the kind of the field's sort key.
func (f *FieldInfo) OrderKind() Kind {
	if f.Natural {
		return KindNatural
	}
	return f.Kind
}

// OrderName returns the name in the enum of order fields.
func (f *FieldInfo) OrderName() string { return strings.ToUpper(f.Key) }

// RowField is a field of rows T. Its functions neither reflect nor allocate, except those that
// return any, and Read.
type RowField[T any] struct {
	FieldInfo
	// Pointer returns a pointer to the value in a row: *string, **string, *int, *int64, *ID,
	// *Cents, *Date or *Timestamp.
	Pointer func(row *T) any
	// AppendGraphQL and AppendREST append the value as JSON.
	AppendGraphQL func(dst []byte, row *T) []byte
	AppendREST    func(dst []byte, row *T) []byte
	// Read sets the value from the output of AppendREST. problem is the error message for other
	// input, with %s for the name of the field.
	Read func(row *T, v Value) (problem string)
	// Text returns the value as a cell of a file; null is empty.
	Text func(row *T) string
	// Equal reports whether two rows have the same value.
	Equal func(a, b *T) bool
}

// Normalize puts the texts of a row in NFC, as inputs are.
func Normalize[T any](fields []RowField[T], row *T) {
	for _, f := range fields {
		switch text := f.Pointer(row).(type) {
		case *string:
			*text = norm.NFC.String(*text)
		case **string:
			if *text != nil {
				*text = new(norm.NFC.String(**text))
			}
		}
	}
}

// Snake returns a GraphQL name with underscores: publishedAt becomes published_at.
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
