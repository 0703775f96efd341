package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// surface is what people ask of a list beside its rows in order of id: a page of
// 50, or what is counted over all, on one connection, from PostgreSQL and beside
// it from SQLite.
var surface = []struct {
	title     string
	arguments string
	deep      bool // the page after 90,000 rows
	fields    string
	most      time.Duration
}{
	{"in order of name", `orderBy: [{field: NAME}]`, false, "", 20 * time.Millisecond},
	{"in order of name, after 90,000", `orderBy: [{field: NAME}]`, true, "", 20 * time.Millisecond},
	{"the dearest first, after 90,000", `orderBy: [{field: PRICE, direction: DESC}, {field: AUTHOR}]`, true, "", 20 * time.Millisecond},
	{"in order of genre's name", `orderBy: [{field: GENRE_NAME}]`, false, "", 20 * time.Millisecond},
	{"in order of category's name, after 90,000", `orderBy: [{field: CATEGORY_NAME}]`, true, "", 20 * time.Millisecond},
	{"of an author", `filter: {author: {eq: "Author $PMAX"}}, orderBy: [{field: PUBLISHED_AT}]`, false, "", 20 * time.Millisecond},
	{"with a text in the name", `filter: {name: {icontains: "\"$AFTER"}}, orderBy: [{field: PRICE}]`, false, "", 20 * time.Millisecond},
	{"with a text that no name has", `filter: {name: {icontains: "zzz $PMAX"}}`, false, "", 20 * time.Millisecond},
	{"between two prices, by name", `filter: {price: {gte: "$PMIN", lt: "$PMIN.50"}}, orderBy: [{field: NAME}]`, false, "", 20 * time.Millisecond},
	{"before a day, the latest first", `filter: {publishedAt: {lt: "$DATE"}}, orderBy: [{field: PUBLISHED_AT, direction: DESC}]`, false, "", 20 * time.Millisecond},
	{"of a category by its name", `filter: {genre: {category: {name: {eq: "Category 7"}}}}, orderBy: [{field: PRICE}]`, false, "", 20 * time.Millisecond},
	{"with two letters in the description", `filter: {description: {icontains: "b1"}}, orderBy: [{field: PRICE}]`, false, "", 20 * time.Millisecond},
	{"with two letters that no description has", `filter: {description: {icontains: "zq"}}, orderBy: [{field: PRICE}]`, false, "", 20 * time.Millisecond},
	{"with a description after a text", `filter: {description: {gt: "f $PMAX"}}, orderBy: [{field: AUTHOR}]`, false, "", 20 * time.Millisecond},
	{"with a number that no description has", `filter: {description: {contains: "978-3-16-1484$PMAX"}}`, false, "", 20 * time.Millisecond},
	{"of the latest, the cheapest", `filter: {createdAt: {gt: "2024-01-02T03:40:00.0000$PMAX+00:00"}}, orderBy: [{field: PRICE}]`, false, "", 20 * time.Millisecond},
	{"half of all, by category's name", `filter: {price: {lt: $PMAX}}, orderBy: [{field: CATEGORY_NAME}]`, false, "", 20 * time.Millisecond},
	{"neither cheap nor long", `filter: {not: {or: [{price: {lt: 90}}, {pages: {gt: $PMAX}}]}}, orderBy: [{field: AUTHOR}]`, false, "", 20 * time.Millisecond},
	{"a search, ranked", `search: "book shelf $PMAX"`, false, "", 30 * time.Millisecond},
	{"a search for words of all books", `search: "book shelf"`, false, "", 30 * time.Millisecond},
	{"a search with a typing error", `search: "athor $PMAX"`, false, "", 30 * time.Millisecond},
	{"all facets of all books", "", false, allFacets, 150 * time.Millisecond},
	{"all facets of what a search finds", `search: "book shelf $PMAX"`, false, allFacets, 150 * time.Millisecond},
	{"all figures over all books", "", false, `aggregate { count price { min max avg sum } pages { min max avg sum } publishedAt { min max } }`, 150 * time.Millisecond},
}

const allFacets = `facets { genres { genre { name } count } categories { category { name } count } authors { author count } years { year count }
	prices(bounds: [5, 10, 20, 50]) { from to count } }`

// surfaceOf makes the workloads of the surface, for both services.
func (b *bench) surfaceOf(ctx context.Context, values values) ([]workload, error) {
	var all []workload
	for _, s := range surface {
		w := workload{name: "surface", title: s.title, connections: 1}
		for _, server := range []struct {
			name    string
			process *process
		}{{"on PostgreSQL", b.service}, {"on SQLite", b.sqlite}} {
			arguments := "first: 50"
			if s.arguments != "" {
				arguments += ", " + s.arguments
			}
			if s.deep {
				cursor, err := cursorAt(ctx, server.process, s.arguments, 90_000)
				if err != nil {
					return nil, err
				}
				arguments += `, after: "` + cursor + `"`
			}
			fields := s.fields
			if fields == "" {
				fields = `nodes { id name author price genre { name } } pageInfo { endCursor hasNextPage }`
			}
			body, err := json.Marshal(map[string]string{"query": fmt.Sprintf(`{ books(%s) { %s } }`, arguments, fields)})
			if err != nil {
				return nil, err
			}
			e := entrant{name: server.name, server: server.process, request: &request{
				method: "POST", path: values.template("/graphql"), header: "Cache-Control: no-cache\r\n", body: values.template(string(body)),
			}}
			if server.process == b.service {
				e.targets = []target{median(s.most)}
			}
			w.entrants = append(w.entrants, e)
		}
		all = append(all, w)
	}
	return all, nil
}

// cursorAt gives the cursor of the row before which an ordering has so many.
func cursorAt(ctx context.Context, server *process, arguments string, offset int) (string, error) {
	body, err := json.Marshal(map[string]string{"query": fmt.Sprintf(`{ books(first: 1, offset: %d, %s) { pageInfo { endCursor } } }`, offset, arguments)})
	if err != nil {
		return "", err
	}
	text, err := ask(ctx, server, &request{method: "POST", path: template{{text: "/graphql"}}, body: template{{text: string(body)}}})
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct {
			Books struct{ PageInfo struct{ EndCursor string } }
		}
	}
	err = json.Unmarshal(text, &answer)
	return answer.Data.Books.PageInfo.EndCursor, err
}

// copyCatalogue stores the rows of one database in another, an empty one, with
// the same ids.
func copyCatalogue(ctx context.Context, from, to string) (err error) {
	source, err := db.Open(ctx, from, db.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := db.Open(ctx, to, db.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := target.Migrate(ctx); err != nil {
		return err
	}
	reading := ctx // outside of the transaction that writes
	return target.Write(ctx, func(ctx context.Context) error {
		all := &model.Page{Limit: seededGenres}
		categories, err := source.Categories(reading, all)
		if err != nil {
			return err
		}
		for _, c := range categories {
			if _, err := target.CreateCategory(ctx, &model.CreateCategoryInput{Name: c.Name, Description: graphql.OmittableOf(c.Description)}); err != nil {
				return err
			}
		}
		genres, err := source.Genres(reading, all)
		if err != nil {
			return err
		}
		for _, g := range genres {
			if _, err := target.CreateGenre(ctx, &model.CreateGenreInput{Name: g.Name, Description: graphql.OmittableOf(g.Description), CategoryID: g.CategoryID}); err != nil {
				return err
			}
		}
		for page := (&model.Page{Limit: 1000}); ; {
			books, err := source.Books(reading, page)
			if err != nil || len(books) == 0 {
				return err
			}
			if err := target.InsertBooks(ctx, books); err != nil {
				return err
			}
			page.After = &model.Position{ID: books[len(books)-1].ID}
		}
	})
}
