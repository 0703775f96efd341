package resolvers_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// positions matches the positions of changes, also as their ids. They are random.
var positions = regexp.MustCompile(`"(id|position)":"[0-9]+\.[0-9]+"`)

// TestDocuments sends the documents in testdata, one after the other, to a server
// over each engine. What is answered stands beside them, the same for both.
func TestDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.graphql")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no documents: ", err)
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		for _, file := range files {
			document, err := os.ReadFile(file)
			must(t, err)
			w := c.Do("POST", "/graphql", servertest.Encode(t, map[string]string{"query": string(document)}))
			got := servertest.Indented(t, positions.ReplaceAllString(servertest.Timeless(w.Body.String()), `"$1":"(position)"`)) + "\n"
			dbtest.Golden(t, strings.TrimSuffix(file, ".graphql")+".json", got)
		}
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
	t.Run("everything", func(t *testing.T) { everythingIsAsked(t, files) })
}

// everythingIsAsked holds the documents to selecting every field of the schema,
// and to giving every argument, every field of an input and every value of an
// enum at least once.
func everythingIsAsked(t *testing.T, files []string) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	asked := map[string]bool{}
	var value func(*ast.Value)
	value = func(v *ast.Value) {
		switch v.Kind {
		case ast.EnumValue:
			asked[v.Definition.Name+"."+v.Raw] = true
		case ast.ObjectValue:
			for _, child := range v.Children {
				asked[v.Definition.Name+"."+child.Name] = true
			}
		}
		for _, child := range v.Children {
			value(child.Value)
		}
	}
	var selected func(ast.SelectionSet)
	selected = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				name := s.ObjectDefinition.Name + "." + s.Name
				asked[name] = true
				for _, argument := range s.Arguments {
					asked[name+"("+argument.Name+":)"] = true
					value(argument.Value)
				}
				selected(s.SelectionSet)
			case *ast.InlineFragment:
				selected(s.SelectionSet)
			case *ast.FragmentSpread:
				selected(s.Definition.SelectionSet)
			}
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		document, errs := gqlparser.LoadQueryWithRules(schema, string(text), nil)
		if errs != nil {
			continue // it stands there for its errors
		}
		for _, operation := range document.Operations {
			selected(operation.SelectionSet)
		}
	}
	for _, f := range model.Entities["Book"].Fields { // which TestFieldsAtEachDoor asks for
		for _, of := range []string{"Book", "CreateBookInput", "UpsertBookInput", "BookPatch", "BookFilter"} {
			asked[of+"."+f.Name] = asked[of+"."+f.Name] || f.Writable
		}
		name := "BookOrderField." + f.OrderName()
		asked[name] = asked[name] || f.Writable
	}
	for _, name := range []string{"ChangeOperation", "ErrorCode", "LookupStatus", "Role", "UndoConflict"} { // these are only answered
		for _, value := range schema.Types[name].EnumValues {
			asked[name+"."+value.Name] = true
		}
	}
	for _, field := range []string{"Query.changes", "Query.recentChanges", "Query.history", "Book.history", "Genre.history", "Category.history"} {
		asked[field+"(after:)"] = true // TestChangesQuery and TestHistory ask for it, because positions are random
	}
	var missing []string
	demand := func(name string) {
		if !asked[name] {
			missing = append(missing, name)
		}
	}
	for _, of := range schema.Types {
		if of.BuiltIn {
			continue
		}
		for _, field := range of.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			demand(of.Name + "." + field.Name)
			for _, argument := range field.Arguments {
				demand(fmt.Sprintf("%s.%s(%s:)", of.Name, field.Name, argument.Name))
			}
		}
		for _, v := range of.EnumValues {
			demand(of.Name + "." + v.Name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no document in testdata asks for:\n%s", strings.Join(missing, "\n"))
	}
}

// TestIDs asks for rows by every spelling of an id, by literals and variables.
func TestIDs(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const found, none = `{"book":{"id":"2"},"genre":{"id":"2"},"category":{"id":"2"}}`, `{"book":null,"genre":null,"category":null}`
		for spelling, want := range map[string]string{
			`2`: found, `"2"`: found,
			`0`: none, `-2`: none, `"0"`: none, `"-2"`: none, `"02"`: none, `"+2"`: none, `" 2"`: none, `"2 "`: none, `"2.0"`: none,
			`"two"`: none, `""`: none, `"9223372036854775807"`: none, `"9223372036854775808"`: none,
			`9223372036854775807`: none, `9223372036854775808`: none, `99999999999999999999`: none, `-99999999999999999999`: none, `"٢"`: none, `"2\u0000"`: none, `"🐉"`: none, `"Qm9vazox"`: none,
		} {
			c.Want(t, fmt.Sprintf("{ book(id: %[1]s) { id } genre(id: %[1]s) { id } category(id: %[1]s) { id } }", spelling), "", want)
			c.Want(t, "query ($id: ID!) { book(id: $id) { id } genre(id: $id) { id } category(id: $id) { id } }", `{"id":`+spelling+`}`, want)
			c.Want(t, fmt.Sprintf("query ($id: ID! = %s) { book(id: $id) { id } genre(id: $id) { id } category(id: $id) { id } }", spelling), "", want)
		}
		for _, literal := range []string{"1.5", "1e3", "true", "null", "[1]", "{a: 1}"} {
			c.WantError(t, "{ book(id: "+literal+") { id } }", "", "GRAPHQL_VALIDATION_FAILED", "")
		}
		for _, variable := range []string{"true", "null", "[1]", `{"a":1}`} {
			c.WantError(t, "query ($id: ID!) { book(id: $id) { id } }", `{"id":`+variable+`}`, "GRAPHQL_VALIDATION_FAILED", "")
		}
	})
}

// TestNodes asks for objects by global ids, and by what is none.
func TestNodes(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		book, genre, category := (&model.Book{ID: 3}).NodeID(), (&model.Genre{ID: 1}).NodeID(), (&model.Category{ID: 2}).NodeID()
		for id, want := range map[string]string{
			book:                      `{"__typename":"Book","nodeId":"` + book + `","name":"Emma"}`,
			genre:                     `{"__typename":"Genre","nodeId":"` + genre + `","name":"Fantasy"}`,
			category:                  `{"__typename":"Category","nodeId":"` + category + `","name":"Non-fiction"}`,
			model.NodeID("Book", 99):  "null",
			model.NodeID("book", 3):   "null",
			model.NodeID("Author", 3): "null",
			model.NodeID("Query", 1):  "null",
			model.NodeID("", 3):       "null",
			"":                        "null", "3": "null", "Book:3": "null", "!!!": "null", "🐉": "null", book + "=": "null", book + "AAAA": "null",
			"Qm9vazo": "null" /* Book: */, "Qm9va3M": "null" /* Books */, "Qm9vazowMw": "null", /* Book:03 */
			strings.Repeat("QQ", 10_000): "null",
		} {
			c.Want(t, `query ($id: ID!) { node(nodeId: $id) { __typename nodeId ... on Book { name } ... on Genre { name } ... on Category { name } } }`,
				servertest.Encode(t, map[string]string{"id": id}), `{"node":`+want+`}`)
		}
		c.Want(t, `query ($ids: [ID!]!) { nodes(nodeIds: $ids) { ... on Book { name } ... on Genre { name } ... on Category { name } } }`,
			servertest.Encode(t, map[string][]string{"ids": {category, "garbage", book, genre, book, model.NodeID("Book", 99)}}),
			`{"nodes":[{"name":"Non-fiction"},null,{"name":"Emma"},{"name":"Fantasy"},{"name":"Emma"},null]}`)
		c.Want(t, `{ nodes(nodeIds: []) { nodeId } }`, "", `{"nodes":[]}`)
		c.Want(t, `query ($id: [ID!]!) { nodes(nodeIds: $id) { nodeId } }`, servertest.Encode(t, map[string]string{"id": genre}), `{"nodes":[{"nodeId":"`+genre+`"}]}`)

		many := slices.Repeat([]string{book}, 1_000)
		if got := c.Get(t, `query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }`, servertest.Encode(t, map[string][]string{"ids": many})); strings.Count(got, book) != 1_000 {
			t.Errorf("1,000 ids give %d objects", strings.Count(got, book))
		}
		f := c.WantError(t, `query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }`, servertest.Encode(t, map[string][]string{"ids": append(many, book)}),
			"BAD_USER_INPUT", "The nodeIds argument must not have more than 1000 ids.")
		if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != "nodeIds" {
			t.Errorf("fields: %+v", f.Extensions.Fields)
		}
		c.WantError(t, `{ nodes(nodeIds: [null]) { nodeId } }`, "", "GRAPHQL_VALIDATION_FAILED", "")
	})
}

// TestPagesAreRefused asks for pages past the bounds, of every list.
func TestPagesAreRefused(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		lists := map[string]string{
			"books": "{ books(%s) { totalCount } }", "genres": "{ genres(%s) { totalCount } }", "categories": "{ categories(%s) { totalCount } }",
			"books of a genre":     "{ genre(id: 1) { books(%s) { totalCount } } }",
			"books of a category":  "{ category(id: 1) { books(%s) { totalCount } } }",
			"genres of a category": "{ category(id: 1) { genres(%s) { totalCount } } }",
		}
		for name, list := range lists {
			for args, field := range map[string]string{
				"first: -1": "first", "first: 1001": "first", "first: 2147483647": "first", "last: -1": "last", "last: 1001": "last",
				"first: 1, last: 1": "last", "offset: -1": "offset", `after: ""`: "after", `after: "12"`: "after", `before: "Qm9vazox"`: "before",
			} {
				f := c.WantError(t, fmt.Sprintf(list, args), "", "BAD_USER_INPUT", "")
				if f.Message == "Give first or last, not both." {
					continue
				}
				if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != field || f.Extensions.Fields[0].Message != f.Message {
					t.Errorf("%s(%s): fields %+v", name, args, f.Extensions.Fields)
				}
				if last := f.Path[len(f.Path)-1]; !strings.HasPrefix(name, fmt.Sprint(last)) {
					t.Errorf("%s(%s): path %v", name, args, f.Path)
				}
			}
			for _, args := range []string{"first: 99999999999999999999", "first: 2147483648", "offset: 1.5", `first: "1"`, "first: 1e3", "after: 12"} {
				c.WantError(t, fmt.Sprintf(list, args), "", "GRAPHQL_VALIDATION_FAILED", "")
			}
			for _, args := range []string{"first: 0", "last: 0", "first: 1000", "offset: 2147483647", "first: null, last: 1", "after: null"} {
				if got := c.Get(t, fmt.Sprintf(list, args), ""); !strings.Contains(got, "totalCount") {
					t.Errorf("%s(%s): %s", name, args, got)
				}
			}
		}
		// A cursor belongs to one type's list.
		var genres struct {
			Genres struct{ PageInfo struct{ EndCursor string } }
		}
		servertest.Unmarshal(t, c.Get(t, "{ genres { pageInfo { endCursor } } }", ""), &genres)
		c.WantError(t, `query ($after: String) { books(after: $after) { totalCount } }`,
			servertest.Encode(t, map[string]string{"after": genres.Genres.PageInfo.EndCursor}), "BAD_USER_INPUT", "The after argument must be a cursor that this list gave.")
	})
}
