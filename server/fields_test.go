package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server/servertest"
)

// fieldValue returns a value of a field as JSON: those of higher n come later in order.
func fieldValue(f model.FieldInfo, n int) string {
	switch f.Kind {
	case model.KindInt:
		return fmt.Sprint(n)
	case model.KindCents:
		return fmt.Sprintf(`"%d.50"`, n)
	case model.KindDate:
		return fmt.Sprintf(`"200%d-02-03"`, n)
	}
	switch f.Name {
	case "isbn":
		for last := range 10 {
			if text := fmt.Sprintf("97830000%04d%d", n, last); isValid(f, text) {
				return `"` + text + `"`
			}
		}
	case "language":
		return `"` + strings.Fields("ab bg cs de en fr ga hr is")[n] + `"`
	}
	return fmt.Sprintf(`"Élan %d"`, n)
}

func isValid(f model.FieldInfo, text string) bool {
	_, ok := f.Syntax.Parse(text)
	return ok
}

// bookInput returns the JSON of a new book of genre 1: each field has its first value,
// but that of field has its nth. name returns the name of a field.
func bookInput(field string, n int, name func(model.FieldInfo) string) string {
	var pairs []string
	for _, f := range model.Entities["Book"].Fields {
		value := fieldValue(f, 1)
		switch {
		case !f.Writable:
			continue
		case f.Kind == model.KindID:
			value = "1"
		case f.Name == field:
			value = fieldValue(f, n)
		}
		pairs = append(pairs, fmt.Sprintf("%q: %s", name(f), value))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// TestFieldsAtEachDoor passes each field of a book to each door that writes it, and
// looks at it, filters and orders by it through each that reads it.
func TestFieldsAtEachDoor(t *testing.T) {
	t.Parallel()
	inGraphQL := func(f model.FieldInfo) string { return f.Name }
	inREST := func(f model.FieldInfo) string { return f.Key }
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Ask(t, `mutation { createGenre(input: {name: "g", category: {create: {name: "c"}}}) { genre { id } } }`, "")
		for _, f := range model.Entities["Book"].Fields {
			if !f.Writable || f.Kind == model.KindID {
				continue
			}
			// query answers with the one field that a document selects.
			query := func(document, variables string) string {
				t.Helper()
				got := c.Ask(t, strings.ReplaceAll(document, "FIELD", f.Name), variables)
				if got.Errors != nil {
					t.Errorf("%s: %s %s: %+v", f.Name, document, variables, got.Errors)
				}
				return string(got.Data)
			}
			// says wants the answer of a door to have the nth value.
			says := func(door, answer, key string, n int) {
				t.Helper()
				if want := fmt.Sprintf("%q:%s", key, fieldValue(f, n)); !strings.Contains(answer, want) {
					t.Errorf("%s: %s answers %s, want %s", f.Name, door, answer, want)
				}
			}
			says("createBook", query(`mutation ($in: CreateBookInput!) { createBook(input: $in) { book { FIELD } } }`, `{"in": `+bookInput(f.Name, 2, inGraphQL)+`}`), f.Name, 2)
			post := c.Do(http.MethodPost, "/api/books?include=all", bookInput(f.Name, 3, inREST))
			says("POST", post.Body.String(), f.Key, 3)
			id := strings.TrimPrefix(post.Header().Get("Location"), "/api/books/")
			says("PUT", c.Do(http.MethodPut, "/api/books/"+id+"?include=all", bookInput(f.Name, 4, inREST)).Body.String(), f.Key, 4)
			says("GET", c.Do(http.MethodGet, "/api/books/"+id+"?include=all", "").Body.String(), f.Key, 4)
			says("updateBook", query(`mutation ($in: UpdateBookInput!) { updateBook(input: $in) { book { FIELD } } }`,
				`{"in": {"id": `+id+`, "patch": {"`+f.Name+`": `+fieldValue(f, 5)+`}}}`), f.Name, 5)
			says("upsertBook", query(`mutation ($in: UpsertBookInput!) { upsertBook(input: $in) { book { FIELD } } }`,
				`{"in": `+strings.Replace(bookInput(f.Name, 6, inGraphQL), "{", `{"id": `+id+`, `, 1)+`}`), f.Name, 6)
			page := func(target string) string { return c.Do(http.MethodGet, target, "", "Accept: text/html").Body.String() }
			value := strings.Trim(fieldValue(f, 6), `"`)
			if form := page("/books/" + id + "/edit"); !regexp.MustCompile(`name="` + f.Name + `"[^>]*(value="` + value + `"|>` + value + `</textarea>)`).MatchString(form) {
				t.Errorf("%s: the form has no %q:\n%s", f.Name, value, form)
			}
			if book := page("/books/" + id); !strings.Contains(book, ">"+value+"<") && !strings.Contains(book, "<dt>"+f.Label+"</dt>") {
				t.Errorf("%s: the page has no %q:\n%s", f.Name, value, book)
			}
			if f.Is(model.InFile) {
				if page := page("/import"); !strings.Contains(page, f.Key+":"+f.Label) {
					t.Errorf("%s: the page of the import has no %s:\n%s", f.Name, f.Label, page)
				}
				form, err := model.ParseForm([]byte(strings.Replace(bookInput(f.Name, 7, inREST), "{", `{"genre": "g", "category": "c", `, 1)))
				servertest.Must(t, err)
				if f.Name != "name" { // a book of that name and author may be several
					form["name"] = model.Text("of " + f.Name)
				}
				catalogue := resolvers.New(c.Store)
				ctx := catalogue.WithSnapshot(model.WithCaller(t.Context(), model.Caller{}))
				result, err := catalogue.ImportBooks(ctx, []model.Form{form})
				if err != nil || len(result.Rejected) > 0 {
					t.Errorf("%s: import: %+v, %v", f.Name, result, err)
				}
				says("import", c.Do(http.MethodGet, "/api/books?include=all&per_page=100", "").Body.String(), f.Key, 7)
			}
			if f.Is(model.Filterable) {
				operators := []string{"eq", "gte", "lte"}
				if f.Kind == model.KindText {
					operators = append(operators, "contains", "startsWith", "endsWith", "icontains", "istartsWith", "iendsWith")
				}
				for _, operator := range operators {
					says(operator, query(`query ($filter: BookFilter) { books(first: 1000, filter: $filter) { nodes { FIELD } } }`,
						`{"filter": {"`+f.Name+`": {"`+operator+`": `+fieldValue(f, 6)+`}}}`), f.Name, 6)
				}
			}
			if f.Is(model.Orderable) {
				page := query(`query { books(first: 1, orderBy: {field: `+f.OrderName()+`, direction: DESC}) { nodes { FIELD } pageInfo { endCursor } } }`, "")
				var got struct {
					Books struct{ PageInfo struct{ EndCursor string } }
				}
				servertest.Must(t, json.Unmarshal([]byte(page), &got))
				says("orderBy, after", query(`query ($after: String) { books(after: $after, orderBy: {field: `+f.OrderName()+`, direction: DESC}) { nodes { FIELD } } }`,
					`{"after": "`+got.Books.PageInfo.EndCursor+`"}`), f.Name, 6)
				says("sort", c.Do(http.MethodGet, "/api/books?include=all&sort=-"+f.Key, "").Body.String(), f.Key, 6)
			}
			if f.Nullable {
				cleared := query(`mutation ($in: UpdateBookInput!) { updateBook(input: $in) { book { FIELD } } }`, `{"in": {"id": `+id+`, "patch": {"`+f.Name+`": null}}}`)
				if !strings.Contains(cleared, "null") {
					t.Errorf("%s: cleared, it is %s", f.Name, cleared)
				}
				if found := query(`query ($filter: BookFilter) { books(first: 1000, filter: $filter) { nodes { FIELD } } }`, `{"filter": {"`+f.Name+`": {"isNull": true}}}`); !strings.Contains(found, "null") {
					t.Errorf("%s: isNull finds %s", f.Name, found)
				}
			}
		}
	})
}
