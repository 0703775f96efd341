package resolvers_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestMutationsAlike sends the same random mutations to a server over each
// engine: they answer the same, and hold the same at the end.
func TestMutationsAlike(t *testing.T) {
	t.Parallel()
	const rounds = 400
	lite, postgres := servertest.Serve(t, catalogtest.SQLite(t)), servertest.Serve(t, catalogtest.Postgres(t))
	lite.Shelves(t)
	postgres.Shelves(t)
	m := mutator{rand.New(rand.NewPCG(7, 7))}
	codes := map[string]int{}
	for range rounds {
		document, variables := m.mutation()
		body := servertest.Encode(t, map[string]any{"query": document, "variables": variables})
		var answers [2]string
		for i, c := range []*servertest.Client{lite, postgres} {
			answers[i] = c.Do(http.MethodPost, "/graphql", body).Body.String()
		}
		if answers[0] != answers[1] {
			t.Fatalf("%s\nSQLite:     %s\nPostgreSQL: %s", body, answers[0], answers[1])
		}
		var a servertest.Answer
		servertest.Unmarshal(t, answers[0], &a)
		code := "none"
		if len(a.Errors) > 0 {
			code = a.Errors[0].Extensions.Code
		}
		codes[code]++
	}
	for _, code := range []string{"none", "BAD_USER_INPUT", "CONFLICT", "NOT_FOUND"} {
		if codes[code] < rounds/50 {
			t.Errorf("of all answers %d have the code %s: %v", codes[code], code, codes)
		}
	}
	for code := range codes {
		if !strings.Contains("none BAD_USER_INPUT CONFLICT NOT_FOUND", code) {
			t.Errorf("some answers have the code %s", code)
		}
	}
	const all = `{
  books(first: 1000) { totalCount nodes { id version name description pages author price genreId } }
  genres(first: 1000) { totalCount nodes { id version name description categoryId books(first: 1) { totalCount } } }
  categories(first: 1000) { totalCount nodes { id version name description genres(first: 1) { totalCount } } }
}`
	lite.Want(t, all, "", postgres.Get(t, all, ""))
}

// mutator makes random mutations. None of them lets PostgreSQL draw an id that
// is not used in the end, so that both engines give the same ids.
type mutator struct{ *rand.Rand }

func (m mutator) chance(percent int) bool { return m.IntN(100) < percent }

func (m mutator) pick(values ...string) string { return values[m.IntN(len(values))] }

// id is that of a row which may be there.
func (m mutator) id() int { return m.IntN(25) }

func (m mutator) name() string {
	if m.chance(8) {
		return m.pick("", " ", "\x00", strings.Repeat("x", 1_001))
	}
	return m.pick("Same", "same", "Ünïcode 🐉", "'; --", "%", "Other", fmt.Sprint("n", m.IntN(1_000)))
}

func (m mutator) category() map[string]any {
	row := map[string]any{"name": m.name()}
	if m.chance(40) {
		row["description"] = m.pick("", "d", " e ")
	}
	return row
}

func (m mutator) genre() map[string]any {
	row := m.category()
	m.parent(row, "category", m.category)
	return row
}

func (m mutator) book() map[string]any {
	row := m.category()
	row["author"], row["pages"], row["price"] = m.name(), m.IntN(60), m.IntN(3_000)
	row["publishedAt"] = fmt.Sprintf("%04d-01-01", 1900+m.IntN(150))
	m.parent(row, "genre", m.genre)
	return row
}

// parent gives a row a parent in one of the ways there are, or in none.
func (m mutator) parent(row map[string]any, name string, create func() map[string]any) {
	switch m.IntN(12) {
	case 0:
	case 1:
		row[name], row[name+"Id"] = map[string]any{"connect": map[string]any{"id": m.id()}}, 1
	case 2, 3:
		row[name] = map[string]any{"connect": map[string]any{"id": m.id()}}
	case 4, 5:
		row[name] = map[string]any{"create": create()}
	default:
		row[name+"Id"] = 1 + m.IntN(8)
	}
}

func (m mutator) filter() map[string]any {
	filter := map[string]any{"id": map[string]any{m.pick("lt", "gte", "eq", "neq"): m.id()}}
	if m.chance(40) {
		filter["name"] = map[string]any{m.pick("startsWith", "icontains", "eq"): m.pick("n", "Same", "same", "u")}
	}
	if m.chance(10) {
		filter = map[string]any{"not": filter}
	}
	return filter
}

func (m mutator) patch(row map[string]any) map[string]any {
	for _, name := range []string{"genre", "category"} {
		delete(row, name)
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if m.chance(60) {
			delete(row, name)
		}
	}
	return row
}

func (m mutator) mutation() (document string, variables any) {
	kind := m.IntN(3)
	noun, nouns := []string{"Book", "Genre", "Category"}[kind], []string{"Books", "Genres", "Categories"}[kind]
	row := []func() map[string]any{m.book, m.genre, m.category}[kind]
	one := strings.ToLower(noun)
	fields := one + " { id version name"
	if noun == "Book" {
		fields += " pages price genre { id name category { id name } }"
	}
	fields += " }"
	const many = "count results { index %s error { code message fields { field message } } }"
	input := map[string]any{}
	verb, selection := "", fmt.Sprintf(many, fields)
	switch m.IntN(8) {
	case 0, 1:
		var rows []map[string]any
		for range m.IntN(6) {
			rows = append(rows, row())
		}
		verb, input[strings.ToLower(nouns)], input["errorPolicy"] = "create"+nouns, append([]map[string]any{}, rows...), m.pick("REJECT_ALL", "REJECT_ROW")
	case 2:
		verb, input["filter"], input["patch"], input["atMost"] = "update"+nouns, m.filter(), m.patch(row()), 1+m.IntN(30)
	case 3:
		verb, input["filter"], input["atMost"] = "delete"+nouns, m.filter(), 1+m.IntN(6)
		if noun != "Book" {
			input["errorPolicy"] = m.pick("REJECT_ALL", "REJECT_ROW")
			m.onChildren(input)
		}
	case 4:
		verb, input["id"], selection = "delete"+noun, m.id(), "deleted"+noun+"Id"
		if noun != "Book" {
			m.onChildren(input)
		}
		m.expect(input)
	case 5:
		verb, input["id"], input["patch"], selection = "update"+noun, m.id(), m.patch(row()), fields
		m.expect(input)
	default:
		input = row()
		delete(input, "genre")
		delete(input, "category")
		for parent, of := range map[string]string{"genreId": "Book", "categoryId": "Genre"} {
			if of == noun {
				input[parent] = m.id()
			}
		}
		if m.chance(30) {
			input["id"] = m.id()
		}
		verb, selection = "upsert"+noun, "created "+fields
		m.expect(input)
	}
	name := strings.ToUpper(verb[:1]) + verb[1:] + "Input!"
	return "mutation ($input: " + name + ") { " + verb + "(input: $input) { " + selection + " } }", map[string]any{"input": input}
}

func (m mutator) onChildren(input map[string]any) {
	input["onChildren"] = m.pick("RESTRICT", "RESTRICT", "CASCADE", "REASSIGN", "REASSIGN")
	if m.chance(45) {
		input["reassignTo"] = m.id()
	}
}

func (m mutator) expect(input map[string]any) {
	if m.chance(20) {
		input["expectedVersion"] = 1 + m.IntN(3)
	}
}
