package graphqlhttp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"library-catalogue/graph"
)

// conflicts gives what a rule says of a document.
func conflicts(t *testing.T, text string, rule core.RuleFunc) (messages []string) {
	t.Helper()
	document, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for _, err := range validator.ValidateWithRules(schema, document, rules.NewRules(core.Rule{Name: "overlaps", RuleFunc: rule})) {
		messages = append(messages, err.Message)
	}
	return messages
}

// TestOverlappingFields asks for fields that conflict in each way, and for some
// that only seem to.
func TestOverlappingFields(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{ book(id: 1) { name name ...a } } fragment a on Book { name }`: ``,
		`{ book(id: 1) { name: author name } }`:                          `Fields "book" conflict because subfields "name" conflict because "author" and "name" are different fields`,
		`{ book(id: 1) { id } book(id: 2) { id } }`:                      `Fields "book" conflict because they have differing arguments`,
		`{ book(id: 1) { id } book { id } }`:                             `Fields "book" conflict because they have differing arguments`,
		`{ a: books(filter: {id: {eq: 1}, name: {eq: "a"}}) { totalCount } a: books(filter: {name: {eq: "a"}, id: {eq: 1}}) { totalCount } }`: ``,
		`{ a: books(filter: {id: {in: [1, 2]}}) { totalCount } a: books(filter: {id: {in: [2, 1]}}) { totalCount } }`:                         `Fields "a" conflict because they have differing arguments`,
		`{ book(id: 1) { genre { a: id } } book(id: 1) { genre { a: name } } }`:                                                               `Fields "book" conflict because subfields "genre" conflict because subfields "a" conflict because "id" and "name" are different fields`,
		`{ book(id: 1) { ...a ...b } } fragment a on Book { x: id } fragment b on Book { ... { x: name } }`:                                   `Fields "book" conflict because subfields "x" conflict because "id" and "name" are different fields`,
		`{ node(id: "1") { ... on Book { x: name } ... on Genre { x: name } } }`:                                                              ``,
		`{ node(id: "1") { ... on Book { x: author } ... on Genre { x: name } } }`:                                                            ``,
		`{ node(id: "1") { ... on Book { x: pages } ... on Genre { x: name } } }`:                                                             `Fields "node" conflict because subfields "x" conflict because they return conflicting types "Int!" and "String!"`,
		`{ node(id: "1") { x: id ... on Genre { x: name } } }`:                                                                                `Fields "node" conflict because subfields "x" conflict because "id" and "name" are different fields`,
		`{ node(id: "1") { ... on Book { x: genre { y: id } } ... on Genre { x: category { y: name } } } }`:                                   `Fields "node" conflict because subfields "x" conflict because subfields "y" conflict because they return conflicting types "ID!" and "String!"`,
	} {
		got := conflicts(t, document, overlappingFields)
		if want == "" && got != nil || want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], want)) {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
}

// TestOverlapsAsGqlparser makes documents by chance: gqlparser's rule, which
// compares each two fields, must refuse the same ones.
func TestOverlapsAsGqlparser(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var fields func(object string, depth int) string
	fields = func(object string, depth int) string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			alias := pick("", "", "", "", "", "", "a: ", "id: ")
			switch n := random.IntN(8); {
			case n == 0:
				fmt.Fprintf(&b, "... on %s { %s } ", object, fields(object, depth-1))
			case n == 1 && depth > 0:
				fmt.Fprintf(&b, "...%s ", pick("f", "g")+object)
			case n < 5 && depth > 0 && object == "Book":
				fmt.Fprintf(&b, "%sgenre { %s } ", alias, fields("Genre", depth-1))
			case n < 5 && depth > 0 && object == "Genre":
				fmt.Fprintf(&b, "%sbooks%s { nodes { %s } } ", alias, pick("", "(first: 1)", "(first: 2)"), fields("Book", depth-1))
			case n < 5 && depth > 0 && object == "Node":
				fmt.Fprintf(&b, "... on Book { %s } ... on Genre { %s } ", fields("Book", depth-1), fields("Genre", depth-1))
			case object == "Node":
				fmt.Fprintf(&b, "%sid ", alias)
			default:
				fmt.Fprintf(&b, "%s%s ", alias, pick("id", "name", "description"))
			}
		}
		return b.String()
	}
	refused := 0
	const documents = 2_000
	for range documents {
		text := "{ node(id: 1) { " + fields("Node", 2) + "} book(id: 1) { " + fields("Book", 2) + "} }"
		for _, name := range []string{"f", "g"} {
			for _, object := range []string{"Book", "Genre", "Node"} {
				if strings.Contains(text, "..."+name+object) { // another rule refuses what is unused
					text += fmt.Sprintf(" fragment %s%s on %s { %s}", name, object, object, fields(object, 0))
				}
			}
		}
		got, want := conflicts(t, text, overlappingFields), conflicts(t, text, rules.OverlappingFieldsCanBeMergedRule.RuleFunc)
		if (got == nil) != (want == nil) {
			t.Fatalf("%s\ngot  %q\nwant %q", text, got, want)
		}
		if got != nil {
			refused++
		}
	}
	if refused < documents/10 || refused > documents*9/10 {
		t.Errorf("of %d documents %d are refused: the test compares little", documents, refused)
	}
}
