package rest_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

// input is a value for one field, and what becomes of it through either endpoint.
type input struct {
	value  string // JSON; empty where the field is left out
	stored string // JSON, as /api gives it back; empty where the value is refused
	says   string // what is said of a value that is refused

	// graphQL is what GraphQL says where it is not the same, or one of the below.
	graphQL string
	// patch is what it says of it in a patch, where that is not graphQL.
	patch string
}

const (
	// byType: GraphQL's type system may refuse the value in its own words, also
	// where /api takes it.
	byType = "(by type)"
	// byLiteral: so it may where the value is a literal; gqlparser has no number
	// that is as big.
	byLiteral = "(by type, as a literal)"
)

func kept(value string) input { return taken(value, value) }

func taken(value, stored string) input { return input{value: value, stored: stored} }

func takenByREST(value, stored string) input {
	return input{value: value, stored: stored, graphQL: byType}
}

func refused(value, says string) input { return input{value: value, says: says} }

func refusedByType(value, says string) input {
	return input{value: value, says: says, graphQL: byType}
}

func tooBig(value, says string) input { return input{value: value, says: says, graphQL: byLiteral} }

// texts are the inputs for a field that holds 1 to most characters.
func texts(field string, most int) []input {
	emoji := strings.Repeat("🐉", most)
	tooLong := fmt.Sprintf("The %s field must not be greater than %d characters.", field, most)
	notText := "The " + field + " field must be a string."
	nul := "The " + field + " field must be valid UTF-8 without NUL characters."
	return []input{
		kept(`"a"`),
		kept(quote(emoji)),
		kept(quote(strings.Repeat("a", most))),
		taken(quote("  "+emoji+"\n"), quote(emoji)),
		refused(quote(emoji+"🐉"), tooLong),
		refused(quote(strings.Repeat("a", most+1)), tooLong),
		taken(`"  two  words\t"`, `"two  words"`),
		taken(`"\u00a0\u2003space beyond ASCII\u3000"`, `"space beyond ASCII"`),
		taken(`"\ud83d\udc09"`, `"🐉"`),
		taken(`"\\ud800 is no escape"`, `"\\ud800 is no escape"`),
		taken(`"a\/\"\\\b\f\n\r\tz"`, `"a/\"\\\b\f\n\r\tz"`),
		taken(`"\u0001\u007f\u2028\ufffd\uffff"`, `"\u0001\u007f\u2028\ufffd\uffff"`),
		taken(`"e\u0301 · מלך · 書 · ﷽ · ﬁ"`, `"\u00e9 · מלך · 書 · ﷽ · ﬁ"`),
		taken(quote(strings.Repeat("e\u0301", most)), quote(strings.Repeat("é", most))),
		kept(`"'; DROP TABLE books; -- %_\\"`),
		refused(`"a\u0000b"`, nul),
		refused(`"\u0000"`, nul),
		refusedByType(`7`, notText),
		refusedByType(`1.5`, notText),
		refusedByType(`{}`, notText),
		refusedByType(`true`, notText),
		refusedByType(`["a"]`, notText),
		refusedByType(`{"a":"b"}`, notText),
	}
}

// needed are the inputs that a field which must be there takes for missing.
func needed(words string) []input {
	says := "The " + words + " field is required."
	return []input{
		refused(`""`, says),
		refused(`"  "`, says),
		refused(`"\t\r\n\u00a0"`, says),
		refusedByType(`null`, says),
		refusedByType(``, says),
	}
}

// missing is needed where GraphQL has a scalar that an empty text is no value of.
func missing(words, scalarSays string) []input {
	list := needed(words)
	for i := range list[:3] {
		list[i].graphQL = scalarSays
	}
	return list
}

func descriptions() []input {
	return append(texts("description", 20_000),
		taken(`null`, `null`), taken(`""`, `null`), taken(`" \n "`, `null`), taken(``, `null`))
}

func references(words string) []input {
	unknown := "The selected " + words + " is invalid."
	notInteger := "The " + words + " field must be an integer."
	no := func(value, says string) input { return input{value: value, says: says, graphQL: unknown} }
	notGiven := func(value string) input { // in GraphQL, which then wants to know the parent in another way
		return input{value: value, says: unknown, graphQL: "The " + words + " field is required.", patch: unknown}
	}
	return slices.Concat(missing(words, unknown), []input{
		kept(`2`),
		taken(`"2"`, `2`),
		takenByREST(`" 2 "`, `2`),
		takenByREST(`2.0`, `2`),
		notGiven(`0`),
		refused(`-1`, unknown),
		notGiven(`"0"`),
		refused(`999999`, unknown),
		refused(`"999999"`, unknown),
		refused(`9223372036854775807`, unknown),
		tooBig(`9223372036854775808`, unknown),
		refused(`"99999999999999999999999999"`, unknown),
		tooBig(`-99999999999999999999999999`, unknown),
		no(`"x"`, notInteger),
		no(`"2x"`, notInteger),
		no(`"1e0"`, notInteger),
		no(`"2.0"`, notInteger),
		no(`"0x2"`, notInteger),
		refusedByType(`1.5`, notInteger),
		refusedByType(`1e999`, notInteger),
		refusedByType(`true`, notInteger),
		refusedByType(`[]`, notInteger),
		refusedByType(`[2]`, notInteger),
		refusedByType(`{}`, notInteger),
	})
}

func pageCounts() []input {
	notInteger, tooFew, tooMany := "The pages field must be an integer.", "The pages field must be at least 1.", "The pages field must not be greater than 1000000."
	list := []input{
		kept(`1`),
		kept(`1000000`),
		refused(`0`, tooFew),
		refused(`-1`, tooFew),
		refused(`1000001`, tooMany),
		refusedByType(`2147483648`, tooMany),
		refusedByType(`-2147483649`, tooFew),
		refusedByType(`9223372036854775808`, tooMany),
		refusedByType(`-99999999999999999999`, tooFew),
		refusedByType(`"99999999999999999999"`, tooMany),
		takenByREST(`"200"`, `200`),
		takenByREST(`" 200 "`, `200`),
		takenByREST(`200.0`, `200`),
		refusedByType(`"0"`, tooFew),
		refusedByType(`1.5`, notInteger),
		refusedByType(`"200.0"`, notInteger),
		refusedByType(`"many"`, notInteger),
		refusedByType(`"200 pages"`, notInteger),
		refusedByType(`"0x10"`, notInteger),
		refusedByType(`"1_000"`, notInteger),
		refusedByType(`"1,000"`, notInteger),
		refusedByType(`"٢٠٠"`, notInteger),
		refusedByType(`"NaN"`, notInteger),
		refusedByType(`1e999`, notInteger),
		refusedByType(`true`, notInteger),
		refusedByType(`[]`, notInteger),
		refusedByType(`[1]`, notInteger),
		refusedByType(`{"a":1}`, notInteger),
		refusedByType(`{}`, notInteger),
	}
	return append(list, missing("pages", byType)...)
}

func dates() []input {
	const invalid = "The published at field must be a valid date."
	list := missing("published at", invalid)
	for _, date := range []string{"0001-01-01", "9999-12-31", "2000-02-29", "2024-02-29", "1582-10-10", "1969-12-31"} {
		list = append(list, kept(quote(date)))
	}
	for _, cut := range []string{
		"2023-03-01T00:00:00Z", "2023-03-01T00:30:00+14:00", "2023-03-01T23:30:00-12:00", "2023-03-01T23:59:59.999999999Z",
		"2023-03-01t10:00:00z", "2023-03-01 10:00:00", "2023-03-01T10:00:00", "2023-03-01T10:00", "2023-03-01T10:00Z",
		"2023-03-01T10:00:00.000000Z", "2023-03-01T10:00:00+0530", " 2023-03-01 ",
	} {
		list = append(list, taken(quote(cut), `"2023-03-01"`))
	}
	for _, wrong := range []string{
		"0000-12-31", "0000-00-00", "10000-01-01", "-0001-01-01", "+2023-03-01", "1900-02-29", "2023-02-29", "2023-11-31", "2023-13-01", "2023-00-10",
		"2023-03-00", "2023-3-1", "23-03-01", "2023-03", "2023", "2023/03/01", "01.03.2023", "20230301", "2023-W09-3", "2023-060",
		"2023-03-01T24:00:00Z", "2023-03-01T10:60:00Z", "2023-03-01Tnoon", "2023-03-01T", "2023-03-01x", "2023-02-29T00:00:00Z", "2023-03-01 \u0000",
		"infinity", "-infinity", "epoch", "now", "today", "March 1st", "٢٠٢٣-٠٣-٠١",
	} {
		list = append(list, refused(quote(wrong), invalid))
	}
	for _, value := range []string{`20230301`, `-1`, `1.5`, `true`, `["2023-03-01"]`, `{"date":"2023-03-01"}`} {
		list = append(list, refusedByType(value, invalid))
	}
	return list
}

func prices() []input {
	const notNumber, tooLow, tooHigh = "The price field must be a number.", "The price field must be at least 0.", "The price field must not be greater than 99999999.99."
	list := missing("price", notNumber)
	for value, stored := range map[string]string{
		"0": "0.00", "0.00": "0.00", "-0": "0.00", "-0.0": "0.00", "19.99": "19.99", "19.9": "19.90", "7": "7.00", "0.1": "0.10", "0.01": "0.01",
		"99999999.99": "99999999.99", "99999999.994": "99999999.99", "99999999.99499999999999999999999999": "99999999.99",
		// Rounded half up on the text: as binary floats, 1.005 and 1.115 lie below
		// the half, and 1.00499999999999999999 is on it.
		"1.005": "1.01", "1.115": "1.12", "1.00499999999999999999": "1.00", "0.005": "0.01", "0.00499999999999999999999999999999": "0.00",
		"0.015": "0.02", "2.675": "2.68", "8.345": "8.35", "1.0049": "1.00", "1.0050000": "1.01", "9.995": "10.00", "99.999": "100.00",
		"1e3": "1000.00", "1E3": "1000.00", "1e+3": "1000.00", "1.5e1": "15.00", "12345e-3": "12.35", "9999999999e-2": "99999999.99", "5e-3": "0.01", "4e-3": "0.00",
		"1e-999": "0.00", "1e-99999999999999999999": "0.00", "0e999": "0.00", "0e99999999999999999999": "0.00", "0.000000000000000000000000001e29": "100.00",
	} {
		list = append(list, taken(value, quote(stored)), taken(quote(value), quote(stored)))
	}
	for _, value := range []string{
		"100000000", "99999999.995", "1e8", "1e15", "1e16", "1e18", "1e19", "1e999", "1e99999999999999999999", "9223372036854775807", "9223372036854775808",
		"18446744073709551616", "92233720368547758.08", "99999999999999999999999999999999999999999999", "0.1e99",
	} {
		list = append(list, tooBig(value, tooHigh), refused(quote(value), tooHigh))
	}
	for _, value := range []string{"-1", "-0.01", "-1e999", "-9223372036854775809", "-99999999.99"} {
		list = append(list, tooBig(value, tooLow), refused(quote(value), tooLow))
	}
	for _, text := range []string{
		"NaN", "nan", "Infinity", "-Infinity", "inf", "x", "$5", "5 €", "1,5", "1,000.00", "1_000", "0x10", "0b1", "1e", "e5", "1e1.5", "1e1e1", "--1", "+-1", "1-", ".", "-", "1.2.3", "١٢", "1 2", "null", "1\u0000",
	} {
		list = append(list, refused(quote(text), notNumber))
	}
	list = append(list, taken(`" 19.99 "`, `"19.99"`), taken(`"+5"`, `"5.00"`), taken(`".5"`, `"0.50"`), taken(`"5."`, `"5.00"`))
	for _, value := range []string{`true`, `[]`, `[1]`, `{}`, `{"amount":1}`} {
		list = append(list, refusedByType(value, notNumber))
	}
	return list
}

// noun is one kind of object, with what it must have, and the inputs that are
// tried for each field.
type noun struct {
	path, typename string
	base           map[string]string // a whole object, by field, as JSON
	inputs         map[string][]input
}

func nouns() []noun {
	return []noun{
		{"/api/categories", "Category", map[string]string{"name": `"Poetry"`},
			map[string][]input{
				"name":        append(texts("name", 1000), needed("name")...),
				"description": descriptions(),
			}},
		{"/api/genres", "Genre", map[string]string{"name": `"Sonnets"`, "category_id": `1`},
			map[string][]input{
				"name":        append(texts("name", 1000), needed("name")...),
				"description": descriptions(),
				"category_id": references("category id"),
			}},
		{"/api/books", "Book", map[string]string{"name": `"Emma"`, "pages": `474`, "published_at": `"1815-12-23"`, "author": `"Jane Austen"`, "price": `9.5`, "genre_id": `1`},
			map[string][]input{
				"name":         append(texts("name", 1000), needed("name")...),
				"description":  descriptions(),
				"pages":        pageCounts(),
				"published_at": dates(),
				"author":       append(texts("author", 1000), needed("author")...),
				"price":        prices(),
				"genre_id":     references("genre id"),
			}},
	}
}

// TestBounds tries every input for every field by every way in: it is stored as
// it should be, or refused in the same words, and what is refused leaves nothing.
func TestBounds(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		whole := serve(t, url, rest.Options{}).shelf()
		for _, n := range nouns() {
			for _, field := range slices.Sorted(maps.Keys(n.inputs)) {
				t.Run(n.typename+"/"+field, func(t *testing.T) {
					s := whole.in(t)
					before := s.count(n)
					created := 0
					for _, in := range n.inputs[field] {
						created += s.tryREST(n, field, in)
						created += s.tryGraphQL(n, field, in)
					}
					if got := s.count(n) - before; got != created {
						t.Errorf("%d rows were answered, and %d are stored", created, got)
					}
				})
			}
		}
	})
}

func (n noun) object(field, value string) map[string]string {
	object := maps.Clone(n.base)
	object[field] = value
	if value == "" {
		delete(object, field)
	}
	return object
}

// tryREST creates an object, replaces another, and tells how many it created.
func (s *service) tryREST(n noun, field string, in input) (created int) {
	s.Helper()
	body := jsonObject(n.object(field, in.value))
	check := func(a answer, status int) {
		s.Helper()
		switch {
		case in.stored == "":
			if got := refusalOf(s.T, a); a.status != http.StatusUnprocessableEntity || got != (refusal{field, in.says}) {
				s.Errorf("%s: status %d, %v, want 422, %s: %q", clip(body), a.status, got, field, in.says)
			}
		case a.status != status:
			s.Errorf("%s: status %d: %s", clip(body), a.status, clip(a.body))
		default:
			s.sameJSON(body, in.stored, string(a.data(s.T)[field]))
		}
	}
	posted := s.call("POST", n.path, body)
	check(posted, http.StatusCreated)
	if posted.status == http.StatusCreated {
		created++
		s.sameJSON(body, in.stored, string(s.want(http.StatusOK, "GET", posted.header.Get("Location"), "").data(s.T)[field]))
	}
	if in.value == "" && (field == "description" || field == "category_id") {
		return created // PUT keeps what there is
	}
	check(s.call("PUT", n.path+"/2", body), http.StatusOK)
	return created
}

// refusal is what is said of one field.
type refusal struct{ field, says string }

func refusalOf(t *testing.T, a answer) refusal {
	t.Helper()
	e := decode[struct {
		Success bool
		Message string
		Errors  map[string][]string
	}](t, a.body)
	for field, says := range e.Errors {
		if len(e.Errors) == 1 && len(says) == 1 && says[0] == e.Message && !e.Success {
			return refusal{field, says[0]}
		}
	}
	return refusal{says: clip(a.body)}
}

// tryGraphQL creates an object with the values as variables and as literals,
// patches another, and tells how many it created.
func (s *service) tryGraphQL(n noun, field string, in input) (created int) {
	s.Helper()
	object := map[string]string{}
	for name, value := range n.object(field, in.value) {
		object[camel(name)] = value
	}
	payload := "{" + strings.ToLower(n.typename) + "{id}}"
	create := fmt.Sprintf("mutation($input:Create%sInput!){x:create%[1]s(input:$input)%s}", n.typename, payload)
	patch := fmt.Sprintf("mutation($input:Update%sInput!){x:update%[1]s(input:$input)%s}", n.typename, payload)
	literal := fmt.Sprintf("mutation{x:create%s(input:{%s})%s}", n.typename, literals(object), payload)

	byVariable, byPatch := in, in
	if in.graphQL == byLiteral {
		in.graphQL, byVariable.graphQL, byPatch.graphQL = byType, "", ""
	}
	if in.value == "null" && in.stored == "" {
		byPatch.graphQL = "" // a patch may hold null, and says what /api says
	}
	if in.patch != "" {
		byPatch.graphQL = in.patch
	}
	created += s.checkGraphQL(n, field, byVariable, "variables", s.graphQL(create, `{"input":`+jsonObject(object)+`}`))
	created += s.checkGraphQL(n, field, in, "literals", s.graphQL(literal, ""))
	if in.value != "" {
		variables := `{"input":{"id":2,"patch":` + jsonObject(map[string]string{camel(field): in.value}) + `}}`
		s.checkGraphQL(n, field, byPatch, "patch", s.graphQL(patch, variables))
	}
	return created
}

// checkGraphQL tells how many objects were written.
func (s *service) checkGraphQL(n noun, field string, in input, way string, a graphQLAnswer) (written int) {
	s.Helper()
	what := fmt.Sprintf("GraphQL %s, %s: %s", way, field, clip(in.value))
	if a.status != http.StatusOK {
		s.Errorf("%s: status %d", what, a.status)
	}
	if len(a.Errors) == 0 {
		if in.stored == "" {
			s.Errorf("%s is taken", what)
			return 1
		}
		id := decode[struct {
			X map[string]struct{ ID string }
		}](s.T, string(a.Data)).X[strings.ToLower(n.typename)].ID
		s.sameJSON(what, in.stored, string(s.want(http.StatusOK, "GET", n.path+"/"+id, "").data(s.T)[field]))
		return 1
	}
	e := a.Errors[0]
	code := e.Extensions.Code
	if in.graphQL == byType {
		if code != "BAD_USER_INPUT" && code != "GRAPHQL_VALIDATION_FAILED" {
			s.Errorf("%s: %s: %s", what, code, e.Message)
		}
		return 0
	}
	if way == "literals" && in.stored == "" && code == "GRAPHQL_VALIDATION_FAILED" && strings.HasPrefix(e.Message, `Expected value of type "D`) {
		return 0 // Date and Decimal refuse what is none of theirs before anything is run
	}
	want := refusal{camel(field), cmp.Or(in.graphQL, in.says)}
	var got refusal
	if fields := e.Extensions.Fields; len(a.Errors) == 1 && len(fields) == 1 && fields[0].Message == e.Message {
		got = refusal{fields[0].Field, e.Message}
	}
	if in.stored != "" || code != "BAD_USER_INPUT" || got != want {
		s.Errorf("%s: %s: %s %v, want %v", what, code, e.Message, e.Extensions.Fields, want)
	}
	return 0
}

func (s *service) sameJSON(what, want, got string) {
	s.Helper()
	if got == want {
		return
	}
	if diff := gocmp.Diff(decode[any](s.T, want), decode[any](s.T, got)); diff != "" {
		s.Errorf("%s: stored is (-want +got):\n%s", clip(what), clip(diff))
	}
}

// count gives the length of a list.
func (s *service) count(n noun) int {
	s.Helper()
	total := s.want(http.StatusOK, "GET", n.path+"?per_page=1", "").header.Get("X-Total-Count")
	count, err := strconv.Atoi(total)
	if err != nil {
		s.Fatal(err)
	}
	return count
}

func jsonObject(fields map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, quote(name)+":"+fields[name])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// literals writes fields as GraphQL. Its values are written as those of JSON
// are, but for the names in an object.
func literals(fields map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if inner, isObject := strings.CutPrefix(value, `{"`); isObject {
			value = "{" + strings.Replace(inner, `":`, ":", 1)
		}
		parts = append(parts, name+":"+value)
	}
	return strings.Join(parts, " ")
}

// camel writes published_at as publishedAt.
func camel(snake string) string {
	words := strings.Split(snake, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
