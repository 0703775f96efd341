package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"library-catalogue/server/servertest"
)

// TestNestedWrites makes a row together with its parents, or for parents that
// exist, by literals and by variables.
func TestNestedWrites(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for _, test := range []struct{ genre, variables, want string }{
			{`{connect: {id: 3}}`, `{"connect":{"id":"3"}}`, `{"name":"History","category":{"name":"Non-fiction"}}`},
			{`{create: {name: "New", categoryId: 2}}`, `{"create":{"name":" New ","categoryId":2}}`, `{"name":"New","category":{"name":"Non-fiction"}}`},
			{`{create: {name: "New", category: {connect: {id: "1"}}}}`, `{"create":{"name":"New","category":{"connect":{"id":1}}}}`, `{"name":"New","category":{"name":"Fiction"}}`},
			{`{create: {name: "New", category: {create: {name: "Newer"}}}}`, `{"create":{"name":"New","category":{"create":{"name":"Newer","description":null}}}}`, `{"name":"New","category":{"name":"Newer"}}`},
			{`{create: {name: "'); --", category: {create: {name: "%_\\\" DROP TABLE books"}}}}`, `{"create":{"name":"'); --","category":{"create":{"name":"%_\\\" DROP TABLE books"}}}}`, `{"name":"'); --","category":{"name":"%_\\\" DROP TABLE books"}}`},
		} {
			want := `{"createBook":{"book":{"genre":` + test.want + `}}}`
			c.Want(t, `mutation { createBook(input: {`+servertest.BookInput+`, genre: `+test.genre+`}) { book { genre { name category { name } } } } }`, "", want)
			c.Want(t, `mutation ($input: CreateBookInput!) { createBook(input: $input) { book { genre { name category { name } } } } }`,
				`{"input":{`+servertest.BookVariables+`,"genreId":null,"genre":`+test.variables+`}}`, want)
		}
		c.Want(t, `mutation ($genre: CreateGenreInput!) { createBook(input: {`+servertest.BookInput+`, genre: {create: $genre}}) { book { genre { name } } } }`,
			`{"genre":{"name":"Varied","categoryId":1}}`, `{"createBook":{"book":{"genre":{"name":"Varied"}}}}`)
		c.Want(t, "{ categories { totalCount } genres { totalCount } books { totalCount } }", "",
			`{"categories":{"totalCount":6},"genres":{"totalCount":12},"books":{"totalCount":15}}`)
	})
}

// TestNestedWritesRefused passes what cannot be stored at each depth: nothing is
// kept of it, and the error has the way to each field.
func TestNestedWritesRefused(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := c.Lengths(t)
		for variables, want := range map[string]string{
			`"genre":null`:             "genreId: The genre id field is required.",
			`"genre":{}`:               "genre: The genre field must have exactly one of connect and create.",
			`"genre":{"connect":null}`: "genre: The genre field must have exactly one of connect and create.",
			`"genre":{"connect":{"id":1},"create":{"name":"N","categoryId":1}}`:              "genre: The genre field must have exactly one of connect and create.",
			`"genre":{"connect":{"id":1},"create":null}`:                                     "genre: The genre field must have exactly one of connect and create.",
			`"genre":{"create":{"name":"N","categoryId":1,"category":{"connect":{"id":1}}}}`: "genre.create.category: Give either the category id or the category, not both.",
			`"genreId":1,"genre":{"connect":{"id":1}}`:                                       "genre: Give either the genre id or the genre, not both.",
			`"genreId":0,"genre":{"connect":{"id":99}}`:                                      "genre.connect.id: The selected genre id is invalid.",
			`"genre":{"connect":{"id":0}}`:                                                   "genre.connect.id: The selected genre id is invalid.",
			`"genre":{"connect":{"id":"x"}}`:                                                 "genre.connect.id: The selected genre id is invalid.",
			`"genre":{"create":{"name":"N"}}`:                                                "genre.create.categoryId: The category id field is required.",
			`"genre":{"create":{"name":"N","categoryId":99}}`:                                "genre.create.categoryId: The selected category id is invalid.",
			`"genre":{"create":{"name":"N","categoryId":1,"category":{}}}`:                   "genre.create.category: The category field must have exactly one of connect and create.",
			`"genre":{"create":{"name":"N","category":{"connect":{"id":99}}}}`:               "genre.create.category.connect.id: The selected category id is invalid.",
			`"genre":{"create":{"name":" ","category":{"create":{"name":"\u0000"}}}}`: "genre.create.name: The name field is required.; " +
				"genre.create.category.create.name: The name field must be valid UTF-8 without NUL characters.",
			`"description":"\u0000","genre":{"create":{"name":"","category":{"connect":{"id":99}}}}`: "description: The description field must be valid UTF-8 without NUL characters.; " +
				"genre.create.name: The name field is required.; genre.create.category.connect.id: The selected category id is invalid.",
		} {
			f := c.WantError(t, `mutation ($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`, `{"input":{`+servertest.BookVariables+`,`+variables+`}}`, "BAD_USER_INPUT", "")
			var got []string
			for _, field := range f.Extensions.Fields {
				got = append(got, field.Field+": "+field.Message)
			}
			if got := strings.Join(got, "; "); got != want {
				t.Errorf("%s: %s, want %s", variables, got, want)
			}
		}
		for _, literal := range []string{`{}`, `{connect: {id: 1}, create: {name: "N", categoryId: 1}}`, `{connect: null}`} {
			c.WantError(t, `mutation { createBook(input: {`+servertest.BookInput+`, genre: `+literal+`}) { book { id } } }`, "", "GRAPHQL_VALIDATION_FAILED", "")
		}
		if after := c.Lengths(t); after != before {
			t.Errorf("there were %s, and are %s", before, after)
		}
	})
}

// TestReassign deletes what others point at, and gives them to another.
func TestReassign(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const whole = `{ categories { nodes { id genres { nodes { id } } } } genres { nodes { id books { nodes { id } } } } }`
		before := c.Get(t, whole, "")
		for input, message := range map[string]string{
			`id: 1, onChildren: REASSIGN`:                                    "The reassign to field is required with onChildren REASSIGN.",
			`id: 1, onChildren: REASSIGN, reassignTo: null`:                  "The reassign to field is required with onChildren REASSIGN.",
			`id: 1, onChildren: REASSIGN, reassignTo: 1`:                     "The reassign to field must not name what is deleted.",
			`id: 1, onChildren: REASSIGN, reassignTo: 99`:                    "The selected reassign to is invalid.",
			`id: 1, onChildren: REASSIGN, reassignTo: "x"`:                   "The selected reassign to is invalid.",
			`id: 1, onChildren: CASCADE, reassignTo: 2`:                      "The reassign to field must be given with onChildren REASSIGN only.",
			`id: 1, reassignTo: 2`:                                           "The reassign to field must be given with onChildren REASSIGN only.",
			`id: 1, onChildren: REASSIGN, reassignTo: 2, expectedVersion: 9`: "was changed by someone else. Read it again.",
			`id: 99, onChildren: REASSIGN, reassignTo: 2`:                    "not found",
		} {
			code := "BAD_USER_INPUT"
			switch {
			case strings.Contains(input, "expectedVersion"):
				code = "CONFLICT"
			case strings.Contains(input, "id: 99, on"):
				code = "NOT_FOUND"
			}
			for _, noun := range []string{"Genre", "Category"} {
				f := c.WantError(t, fmt.Sprintf(`mutation { delete%s(input: {%s}) { deleted%[1]sId } }`, noun, input), "", code, message)
				if code == "BAD_USER_INPUT" && (len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != "reassignTo") {
					t.Errorf("%s: %+v", input, f)
				}
			}
		}
		if after := c.Get(t, whole, ""); after != before {
			t.Errorf("what was refused left %s", after)
		}
		c.Want(t, `mutation { deleteGenre(input: {id: 1, expectedVersion: 1, onChildren: REASSIGN, reassignTo: 3}) { deletedGenreId } }`, "", `{"deleteGenre":{"deletedGenreId":"1"}}`)
		c.Want(t, `mutation { deleteCategory(input: {id: 2, onChildren: REASSIGN, reassignTo: 1}) { deletedCategoryId } }`, "", `{"deleteCategory":{"deletedCategoryId":"2"}}`)
		c.Want(t, `{ categories { nodes { id genres { nodes { id version } } } } books { nodes { id version genreId } } }`, "", `{
  "categories": {"nodes": [{"id": "1", "genres": {"nodes": [{"id": "2", "version": 1}, {"id": "3", "version": 2}]}}]},
  "books": {"nodes": [{"id": "1", "version": 2, "genreId": "3"}, {"id": "2", "version": 2, "genreId": "3"}, {"id": "3", "version": 1, "genreId": "2"}, {"id": "4", "version": 1, "genreId": "2"}]}
}`)
	})
}

// TestReassignAtOnce deletes two genres at once, each in favour of the other: one
// is kept, with the books of both.
func TestReassignAtOnce(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for range 5 {
			var made struct {
				A, B struct {
					Book struct{ Genre struct{ ID string } }
				}
			}
			const create = `createBook(input: {` + servertest.BookInput + `, genre: {create: {name: "G", categoryId: 1}}}) { book { genre { id } } }`
			servertest.Unmarshal(t, c.Get(t, `mutation { a: `+create+` b: `+create+` }`, ""), &made)
			a, b := made.A.Book.Genre.ID, made.B.Book.Genre.ID
			answers := make(chan string, 2)
			for from, to := range map[string]string{a: b, b: a} {
				go func() {
					document := "mutation { deleteGenre(input: {id: " + from + ", onChildren: REASSIGN, reassignTo: " + to + "}) { deletedGenreId } }"
					answers <- c.Do("POST", "/graphql", servertest.Encode(t, map[string]string{"query": document})).Body.String()
				}()
			}
			got := []string{<-answers, <-answers}
			if strings.Contains(got[0], "errors") {
				slices.Reverse(got)
			}
			if strings.Contains(got[0], "errors") || !strings.Contains(got[1], "errors") {
				t.Fatalf("the answers are %q", got)
			}
			kept := a
			if strings.Contains(got[0], `"`+a+`"`) {
				kept = b
			}
			c.Want(t, `{ genre(id: `+kept+`) { books { totalCount } } }`, "", `{"genre":{"books":{"totalCount":2}}}`)
		}
	})
}
