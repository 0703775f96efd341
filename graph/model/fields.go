package model

// kind says how a field's values are read, compared and written in a cursor.
type kind int

const (
	textKind kind = iota
	idKind
	intKind
	bigIntKind
	centsKind
	dateKind
	timestampKind
)

func (k kind) isNumber() bool {
	return k == idKind || k == intKind || k == bigIntKind || k == centsKind
}

// filterField is a field that a filter may name: a value, or an edge to rows of
// a type.
type filterField struct {
	kind     kind
	typename string // of an edge
	many     bool   // whether the edge leads to any number of rows
}

// filterFields are the fields of the filters, by type.
var filterFields = map[string]map[string]filterField{
	"Book": {
		"id":          {kind: idKind},
		"name":        {kind: textKind},
		"description": {kind: textKind},
		"pages":       {kind: intKind},
		"publishedAt": {kind: dateKind},
		"author":      {kind: textKind},
		"price":       {kind: centsKind},
		"genreId":     {kind: idKind},
		"createdAt":   {kind: timestampKind},
		"updatedAt":   {kind: timestampKind},
		"genre":       {typename: "Genre"},
	},
	"Genre": {
		"id":          {kind: idKind},
		"name":        {kind: textKind},
		"description": {kind: textKind},
		"categoryId":  {kind: idKind},
		"createdAt":   {kind: timestampKind},
		"updatedAt":   {kind: timestampKind},
		"category":    {typename: "Category"},
		"books":       {typename: "Book", many: true},
	},
	"Category": {
		"id":          {kind: idKind},
		"name":        {kind: textKind},
		"description": {kind: textKind},
		"createdAt":   {kind: timestampKind},
		"updatedAt":   {kind: timestampKind},
		"genres":      {typename: "Genre", many: true},
	},
}

// orderFields are the fields that rows can be put in order by, by type. None of
// them is ever null.
var orderFields = map[string]map[string]kind{
	"Book": {
		"ID": idKind, "NAME": textKind, "AUTHOR": textKind, "PAGES": intKind, "PUBLISHED_AT": dateKind, "PRICE": centsKind,
		"CREATED_AT": timestampKind, "UPDATED_AT": timestampKind, "GENRE_NAME": textKind, "CATEGORY_NAME": textKind, Relevance: intKind,
	},
	"Genre":    {"ID": idKind, "NAME": textKind, "CREATED_AT": timestampKind, "UPDATED_AT": timestampKind, "CATEGORY_NAME": textKind, Relevance: intKind},
	"Category": {"ID": idKind, "NAME": textKind, "CREATED_AT": timestampKind, "UPDATED_AT": timestampKind, Relevance: intKind},
}
