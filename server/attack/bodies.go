package attack

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Body is that of a GraphQL request which is small to send and, without limits,
// large to answer.
type Body struct {
	Name, Text string
	Status     int
	Code       string // of the first error
}

// Bodies lists what a public endpoint is sent on its first day.
func Bodies() []Body {
	document := func(text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err) // it is a text
		}
		return `{"query":` + string(quoted) + "}"
	}
	variables := func(text string) string {
		return `{"query":"query ($v: BookFilter) { books(filter: $v, first: 1) { nodes { id } } }","variables":{"v":` + text + `}}`
	}
	twice := "{ ...a0 }" // each fragment has the next one twice: 2^60 fields
	for i := range 60 {
		twice += fmt.Sprintf(" fragment a%d on Query { ...a%d ...a%d }", i, i+1, i+1)
	}
	twice += " fragment a60 on Query { __typename }"
	ring := "{ ...a0 }"
	for i := range 240 {
		ring += fmt.Sprintf(" fragment a%d on Query { ...a%d }", i, (i+1)%240)
	}
	nested := "id"
	for range 7 {
		nested = "genre { category { genres { nodes { books { nodes { " + nested + " } } } } } }"
	}
	pairs := "id" // two fields that overlap in each of two that do
	for range 8 {
		pairs = "b: genre { c: books { d: nodes { " + pairs + " } } } b: genre { c: books { d: nodes { " + pairs + " } } }"
	}
	return []Body{
		{"__typename 10,000 times", document("{" + repeat(10_000, "__typename") + " }"), 200, "TOO_LARGE"},
		{"25 kB of the same field", document("{" + repeat(1_800, "book(id: 1)") + " }"), 200, "TOO_LARGE"},
		{"the same field as often as the tokens allow", document("{ book(id: 1) {" + repeat(1_980, "id") + " } }"), 200, "TOO_LARGE"},
		{"fields that overlap, within the tokens", document("{ book(id: 1) {" + repeat(240, "genre { id }") + " } }"), 200, ""},
		{"the same field as often as it may be", document("{ book(id: 1) {" + repeat(498, "id") + " } }"), 200, ""},
		{"pairs that overlap at every depth", document("{ book(id: 1) { " + pairs + " } }"), 200, "TOO_LARGE"},
		{"100,000 braces", document(strings.Repeat("{", 100_000)), 200, "GRAPHQL_PARSE_FAILED"},
		{"100,000 brackets", document("{ book(id: " + strings.Repeat("[", 100_000) + ") }"), 200, "GRAPHQL_PARSE_FAILED"},
		{"fields one in another, 900 times", document(strings.Repeat("{ books ", 900)), 200, "GRAPHQL_PARSE_FAILED"},
		{"a list in a list, 990 times", document("{ book(id: " + strings.Repeat("[", 990) + strings.Repeat("]", 990) + ") { id } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"100,000 brackets of a type", document("query ($a: " + strings.Repeat("[", 100_000) + ") { __typename }"), 200, "GRAPHQL_PARSE_FAILED"},
		{"fragments that double", document(twice), 200, "TOO_LARGE"},
		{"fragments in a ring", document(ring), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"aliases", document("{" + repeat(400, "a%d: __typename") + " }"), 200, "TOO_LARGE"},
		{"aliases of lists", document("{" + repeat(100, "a%d: books(first: 1000) { totalCount }") + " }"), 200, "TOO_LARGE"},
		{"directives on one field", document("{ __typename" + repeat(900, "@skip(if: false)") + " }"), 200, "TOO_LARGE"},
		{"unknown directives", document("{ __typename" + repeat(900, "@a%d") + " }"), 200, "TOO_LARGE"},
		{"unknown fields", document("{ book(id: 1) {" + repeat(490, "boks%d") + " } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"unknown arguments", document("{ book(" + repeat(490, "bok%d: 1") + ") { id } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"unknown variables", document("{ book(id: 1) { id" + repeat(15, "@skip(if: $a%d)") + " } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"unused variables", document("query (" + repeat(490, "$a%d: Int") + ") { __typename }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"unused fragments", document("{ __typename }" + repeat(240, "fragment a%d on Query { __typename }")), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"operations", document(repeat(390, "query a%d { __typename }")), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"anonymous operations", document(repeat(600, "{ __typename }")), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"deep", document("{ book(id: 1) { " + nested + " } }"), 200, "DEPTH_LIMIT_EXCEEDED"},
		{"introspection in a circle", document("{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"a name of 900 kB", document("{ " + strings.Repeat("b", 900_000) + " }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"a name of 8 kB", document("{ " + strings.Repeat("b", 8_000) + " }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"an enum value of 900 kB", document("mutation { deleteGenre(input: {id: 1, onChildren: " + strings.Repeat("R", 900_000) + "}) { deletedGenreId } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"a string of 900 kB", document(`{ book(id: "` + strings.Repeat("9", 900_000) + `") { id } }`), 200, ""},
		{"a block string of 800 kB", document(`{ book(id: """` + strings.Repeat("\n 9", 200_000) + `""") { id } }`), 200, ""},
		{"escapes of 840 kB", document(`{ book(id: "` + strings.Repeat(`\u0041`, 120_000) + `") { id } }`), 200, ""},
		{"half a surrogate after 840 kB", document(`{ book(id: "` + strings.Repeat(`\u0041`, 120_000) + `\ud800") { id } }`), 200, "GRAPHQL_PARSE_FAILED"},
		{"a number of 900 kB", document("{ book(id: " + strings.Repeat("9", 900_000) + ") { id } }"), 200, ""},
		{"a float of 900 kB", document("{ books(first: 1" + strings.Repeat("0", 900_000) + ".5) { totalCount } }"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"a price of 900 kB", document("mutation { createBook(input: {name: \"n\", pages: 1, publishedAt: \"2000-01-01\", author: \"a\", genreId: 1, price: 0." + strings.Repeat("9", 900_000) + "}) { book { id } } }"), 200, "UNAUTHENTICATED"},
		{"a comment of 900 kB", document("#" + strings.Repeat("a", 900_000) + "\n{ __typename }"), 200, ""},
		{"comments of 900 kB", document(strings.Repeat("#\n", 300_000) + "{ __typename }"), 200, "TOO_LARGE"},
		{"commas of 900 kB", document(strings.Repeat(",", 900_000) + "{ __typename }"), 200, ""},
		{"1 MiB that is no JSON", strings.Repeat("{", 1<<20), 400, "BAD_USER_INPUT"},
		{"1 MiB of brackets", strings.Repeat("[", 1<<20), 400, "BAD_USER_INPUT"},
		{"80,000 members", `{"query":"{ __typename }"` + repeat(80_000, `,"a%d":1`) + "}", 400, "TOO_LARGE"},
		{"one member, 90,000 times", `{"query":"{ __typename }"` + repeat(90_000, `,"a":1`) + "}", 400, "TOO_LARGE"},
		{"2 MiB", strings.Repeat(" ", 2<<20), 413, "TOO_LARGE"},
		{"deep variables", variables(strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000)), 400, "TOO_LARGE"},
		{"very deep variables", variables(strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000)), 400, "BAD_USER_INPUT"},
		{"wide variables", variables("[" + strings.Repeat("0,", 400_000) + "0]"), 400, "TOO_LARGE"},
		{"wide variables of the wrong type", variables("[" + strings.Repeat("0,", 90_000) + "0]"), 200, "GRAPHQL_VALIDATION_FAILED"},
		{"a variable of 900 kB", variables(`{"id":{"eq":"` + strings.Repeat("9", 900_000) + `"}}`), 200, "BAD_USER_INPUT"},
		{"a number of 900 kB in a variable", variables(`{"id":{"eq":` + strings.Repeat("9", 900_000) + `}}`), 200, "BAD_USER_INPUT"},
	}
}
