package db

import "library-catalogue/graph/model"

// columns says where a type's fields are, by their GraphQL names, and where its
// edges lead.
type columns struct {
	fields map[string]column
	edges  map[string]edge
	// order has the expressions that the rows are put in order by, by the names of
	// the order fields, for a list whose rows have the alias r.
	order map[string]ordering
}

// column is a field of a row.
type column struct {
	name     string
	text     bool
	nullable bool
}

// edge leads to the rows of a table whose column to equals the row's column from.
type edge struct {
	table    string
	from, to string
}

// ordering is what one key of an order stands for. Of a text, the expression is its
// folded form.
type ordering struct {
	expression string
	text       bool
	join       string // what it needs beside the rows
	scan       func() key
}

// catalogue has the columns of each table, and those of groups of books.
var catalogue = map[string]columns{
	"groups": {fields: figureColumns()},
	"books": {
		fields: map[string]column{
			"id":          {name: "id"},
			"name":        {name: "name", text: true},
			"description": {name: "description", text: true, nullable: true},
			"pages":       {name: "pages"},
			"publishedAt": {name: "published_at"},
			"author":      {name: "author", text: true},
			"price":       {name: "price_cents"},
			"genreId":     {name: "genre_id"},
			"createdAt":   {name: "created_at"},
			"updatedAt":   {name: "updated_at"},
		},
		edges: map[string]edge{"genre": {"genres", "genre_id", "id"}},
		order: map[string]ordering{
			"NAME":          {expression: "r.name_fold", text: true, scan: textKey},
			"AUTHOR":        {expression: "r.author_fold", text: true, scan: textKey},
			"PAGES":         {expression: "r.pages", scan: numberKey},
			"PUBLISHED_AT":  {expression: "r.published_at", scan: dateKey},
			"PRICE":         {expression: "r.price_cents", scan: numberKey},
			"CREATED_AT":    {expression: "r.created_at", scan: timestampKey},
			"UPDATED_AT":    {expression: "r.updated_at", scan: timestampKey},
			"GENRE_NAME":    {expression: "og.name_fold", text: true, scan: textKey, join: joinGenre},
			"CATEGORY_NAME": {expression: "oc.name_fold", text: true, scan: textKey, join: joinGenre + " JOIN categories oc ON oc.id = og.category_id"},
			model.Relevance: rank,
		},
	},
	"genres": {
		fields: map[string]column{
			"id":          {name: "id"},
			"name":        {name: "name", text: true},
			"description": {name: "description", text: true, nullable: true},
			"categoryId":  {name: "category_id"},
			"createdAt":   {name: "created_at"},
			"updatedAt":   {name: "updated_at"},
		},
		edges: map[string]edge{"category": {"categories", "category_id", "id"}, "books": {"books", "id", "genre_id"}},
		order: map[string]ordering{
			"NAME":          {expression: "r.name_fold", text: true, scan: textKey},
			"CREATED_AT":    {expression: "r.created_at", scan: timestampKey},
			"UPDATED_AT":    {expression: "r.updated_at", scan: timestampKey},
			"CATEGORY_NAME": {expression: "oc.name_fold", text: true, scan: textKey, join: " JOIN categories oc ON oc.id = r.category_id"},
			model.Relevance: rank,
		},
	},
	"categories": {
		fields: map[string]column{
			"id":          {name: "id"},
			"name":        {name: "name", text: true},
			"description": {name: "description", text: true, nullable: true},
			"createdAt":   {name: "created_at"},
			"updatedAt":   {name: "updated_at"},
		},
		edges: map[string]edge{"genres": {"genres", "id", "category_id"}},
		order: map[string]ordering{
			"NAME":          {expression: "r.name_fold", text: true, scan: textKey},
			"CREATED_AT":    {expression: "r.created_at", scan: timestampKey},
			"UPDATED_AT":    {expression: "r.updated_at", scan: timestampKey},
			model.Relevance: rank,
		},
	},
}

// rank is that of a search, the best the lowest.
var rank = ordering{expression: "s.rank", scan: numberKey}

const joinGenre = " JOIN genres og ON og.id = r.genre_id"
