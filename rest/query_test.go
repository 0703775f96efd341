package rest_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
)

// realBooks puts the books that the program brings along on the shelf.
func (s *service) realBooks() *service {
	s.Helper()
	file, err := os.Open("../resolvers/sample.csv")
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		s.Fatal(err)
	}
	var rows []model.Form
	for _, record := range records[1:] {
		row := model.Form{}
		for i, cell := range record {
			row[records[0][i]] = model.Text(cell)
		}
		if len(rows)%3 == 0 {
			for key, text := range map[string]string{"isbn": "3-16-148410-X", "publisher": "Penguin Books", "language": "English", "shelf_mark": "PR 6005", "subtitle": "A Novel", "series": "Modern Classics", "series_number": "12"} {
				row[key] = model.Text(text)
			}
		}
		rows = append(rows, row)
	}
	catalogue := resolvers.New(s.store)
	ctx := catalogue.WithSnapshot(model.WithCaller(s.Context(), model.Caller{}))
	if _, err := catalogue.ImportBooks(ctx, rows); err != nil {
		s.Fatal(err)
	}
	return s
}

// asked is a list as each endpoint is asked for it.
type asked struct {
	list, parameters string // of /api
	filter           string // of GraphQL; the rest alike
	orderBy, search  string
	all, none        bool // whether it has everything, or nothing
}

var alikes = append(sorted(), []asked{
	{list: "books", all: true},
	{list: "books", parameters: "ids=3", filter: `{id: {eq: 3}}`},
	{list: "books", parameters: "ids=9,2&ids[]=5&sort=-id", filter: `{id: {in: [2, 5, 9]}}`, orderBy: `{field: ID, direction: DESC}`},
	{list: "books", parameters: "genre_id=3", filter: `{genreId: {eq: 3}}`},
	{list: "books", parameters: "genre_id=1,4", filter: `{genreId: {in: [1, 4]}}`},
	{list: "books", parameters: "genre_id=1&genre_id=4,,2,1", filter: `{genreId: {in: [1, 2, 4]}}`},
	{list: "books", parameters: "genre_id[]=1&genre_id%5B%5D=4", filter: `{genreId: {in: [1, 4]}}`},
	{list: "books", parameters: "genre_id=%201%20,04", filter: `{genreId: {in: [1, 4]}}`},
	{list: "books", parameters: "genre_id=9223372036854775807", filter: `{genreId: {eq: "9223372036854775807"}}`, none: true},
	{list: "books", parameters: "category_id=2", filter: `{genre: {categoryId: {eq: 2}}}`},
	{list: "books", parameters: "category_id=1,2&genre_id=1,3", filter: `{genre: {category: {id: {in: [1, 2]}}}, genreId: {in: [1, 3]}}`},
	{list: "books", parameters: "author=John+McPhee", filter: `{author: {eq: "John McPhee"}}`},
	{list: "books", parameters: "author=john+MCPHEE%20", filter: `{author: {eq: "John McPhee"}}`},
	{list: "books", parameters: "author=anais+nin,+gunther+stuhlmann", filter: `{author: {eq: "Anaïs Nin, Gunther Stuhlmann"}}`},
	{list: "books", parameters: "author=john", filter: `{author: {eq: "john"}}`, none: true},
	{list: "books", parameters: "isbn=978-3-16-148410-0", filter: `{isbn: {eq: "316148410x"}}`},
	{list: "books", parameters: "publisher=penguin+BOOKS", filter: `{publisher: {eq: "Penguin Books"}}`},
	{list: "books", parameters: "language=eng&sort=-language", filter: `{language: {in: ["English"]}}`, orderBy: `{field: LANGUAGE, direction: DESC}`},
	{list: "books", parameters: "shelf_mark=pr+6005", filter: `{shelfMark: {eq: "PR 6005"}}`},
	{list: "books", parameters: "series=modern+classics&sort=series,-series_number", filter: `{series: {eq: "Modern Classics"}}`, orderBy: `{field: SERIES}, {field: SERIES_NUMBER, direction: DESC}`},
	{list: "books", parameters: "language=de&sort=isbn,publisher,shelf_mark", filter: `{language: {eq: "deu"}}`, orderBy: `{field: ISBN}, {field: PUBLISHER}, {field: SHELF_MARK}`, none: true},
	{list: "books", parameters: "price_min=9.99", filter: `{price: {gte: 9.99}}`},
	{list: "books", parameters: "price_max=9.99", filter: `{price: {lte: "9.99"}}`},
	{list: "books", parameters: "price_min=7&price_max=8.5e0", filter: `{price: {gte: 7, lte: 8.5}}`},
	{list: "books", parameters: "price_min=6.985&price_max=6.9949", filter: `{price: {eq: 6.99}}`},
	{list: "books", parameters: "price_min=6.991&price_max=6.999", filter: `{price: {eq: 6.994}}`, none: true},
	{list: "books", parameters: "price_min=8&price_max=7", filter: `{price: {gte: 8, lte: 7}}`, none: true},
	{list: "books", parameters: "price_min=-1&price_max=1e400", filter: `{price: {gte: -1}}`, all: true},
	{list: "books", parameters: "published_from=2004-01-01", filter: `{publishedAt: {gte: "2004-01-01"}}`},
	{list: "books", parameters: "published_to=2003-12-31", filter: `{not: {publishedAt: {gt: "2003-12-31"}}}`},
	{list: "books", parameters: "published_from=1999-01-01T23:00:00Z&published_to=1999-12-31", filter: `{publishedAt: {gte: "1999-01-01", lt: "2000-01-01"}}`},
	{list: "books", parameters: "author=&genre_id=&genre_id=,&price_min=&published_to=&sort=&q=&unknown=x", all: true},
	{list: "books", parameters: "author=+&q=%20%09", all: true},
	{list: "books", parameters: "sort=name", orderBy: `{field: NAME}`, all: true},
	{list: "books", parameters: "sort=-price,name", orderBy: `{field: PRICE, direction: DESC}, {field: NAME}`, all: true},
	{list: "books", parameters: "sort=genre_name,-author,+pages", orderBy: `{field: GENRE_NAME}, {field: AUTHOR, direction: DESC}, {field: PAGES}`, all: true},
	{list: "books", parameters: "sort=-category_name", orderBy: `{field: CATEGORY_NAME, direction: DESC}`, all: true},
	{list: "books", parameters: "sort=created_at,-updated_at", orderBy: `{field: CREATED_AT}, {field: UPDATED_AT, direction: DESC}`, all: true},
	{list: "books", parameters: "q=wodehose", search: "wodehose"},
	{list: "books", parameters: "q=the%20mcph%C3%89e&sort=relevance,-price", search: "the mcphée", orderBy: `{field: RELEVANCE}, {field: PRICE, direction: DESC}`},
	{list: "books", parameters: "q=the&sort=-name&price_max=10&genre_id=1,2,3,4,5&published_from=1990-01-01", search: "the", orderBy: `{field: NAME, direction: DESC}`,
		filter: `{price: {lte: 10}, genreId: {in: [1, 2, 3, 4, 5]}, publishedAt: {gte: "1990-01-01"}}`},
	{list: "genres", all: true},
	{list: "genres", parameters: "category_id=1", filter: `{categoryId: {eq: 1}}`},
	{list: "genres", parameters: "category_id=2,4&category_id=1&sort=-name", filter: `{categoryId: {in: [1, 2, 4]}}`, orderBy: `{field: NAME, direction: DESC}`},
	{list: "genres", parameters: "sort=-category_name,name&genre_id=1&price_min=x", orderBy: `{field: CATEGORY_NAME, direction: DESC}, {field: NAME}`, all: true},
	{list: "genres", parameters: "q=fictoin&sort=name", search: "fictoin", orderBy: `{field: NAME}`},
	{list: "genres", parameters: "q=romance&sort=-relevance", search: "romance", orderBy: `{field: RELEVANCE, direction: DESC}`},
	{list: "genres", parameters: "sort=-updated_at,created_at,-id", orderBy: `{field: UPDATED_AT, direction: DESC}, {field: CREATED_AT}, {field: ID, direction: DESC}`, all: true},
	{list: "categories", parameters: "q=ch", search: "ch"},
	{list: "categories", parameters: "q=ch&sort=-relevance,updated_at", search: "ch", orderBy: `{field: RELEVANCE, direction: DESC}, {field: UPDATED_AT}`},
	{list: "categories", parameters: "sort=-name&category_id=1", orderBy: `{field: NAME, direction: DESC}`, all: true},
	{list: "categories", parameters: "sort=-created_at,id", orderBy: `{field: CREATED_AT, direction: DESC}, {field: ID}`, all: true},
}...)

// sorted returns the order of each list by each of its fields.
func sorted() (all []asked) {
	for list, typename := range map[string]string{"books": "Book", "genres": "Genre", "categories": "Category"} {
		for _, f := range model.Entities[typename].Fields {
			if f.Is(model.Orderable) {
				all = append(all, asked{list: list, parameters: "sort=-" + f.Key, orderBy: "{field: " + f.OrderName() + ", direction: DESC}", all: true})
			}
		}
	}
	return all
}

// TestQueryParity asks for lists by both endpoints: each has the same rows in the
// same order and counts as many, whole and in pages, on both engines.
func TestQueryParity(t *testing.T) {
	t.Parallel()
	byEngine := map[string][][]string{}
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		s := serve(t, databaseURL, rest.Options{}).realBooks()
		total := map[string]int{}
		for _, list := range []string{"books", "genres", "categories"} {
			total[list] = len(s.want(http.StatusOK, "GET", "/api/"+list, "").ids(t))
		}
		for _, a := range alikes {
			target := "/api/" + a.list + "?" + a.parameters
			want := s.idsByGraphQL(a)
			if !strings.Contains(a.parameters, "created_at") && !strings.Contains(a.parameters, "updated_at") { // which are others on each
				byEngine[a.list+"?"+a.parameters] = append(byEngine[a.list+"?"+a.parameters], want)
			}
			if (len(want) == total[a.list]) != a.all || (len(want) == 0) != a.none {
				t.Errorf("%+v has %d rows: it tells nothing", a, len(want))
			}
			whole := s.want(http.StatusOK, "GET", target, "")
			if diff := gocmp.Diff(want, whole.ids(t)); diff != "" {
				t.Errorf("%s (-GraphQL +REST):\n%s", target, diff)
			}
			var walked []string
			next := target + "&per_page=" + fmt.Sprint(len(want)/3+1)
			for next != "" {
				page := s.want(http.StatusOK, "GET", next, "")
				walked = append(walked, page.ids(t)...)
				if got := page.header.Get("X-Total-Count"); got != fmt.Sprint(len(want)) {
					t.Errorf("%s: X-Total-Count is %s, want %d", next, got, len(want))
				}
				next = page.links(t)["next"]
			}
			if diff := gocmp.Diff(want, walked); diff != "" {
				t.Errorf("%s (-GraphQL +pages):\n%s", target, diff)
			}
			second := s.want(http.StatusOK, "GET", target+"&page=2&per_page=2", "").ids(t)
			if diff := gocmp.Diff(strings.Join(want[min(2, len(want)):min(4, len(want))], " "), strings.Join(second, " ")); diff != "" {
				t.Errorf("%s&page=2&per_page=2 (-want +got):\n%s", target, diff)
			}
		}
	})
	if testing.Short() {
		return // there is one engine
	}
	for list, ids := range byEngine {
		if len(ids) != 2 || !slices.Equal(ids[0], ids[1]) {
			t.Errorf("%s differs by engine: %v", list, ids)
		}
	}
}

// TestLongListsInOrder streams lists that take more than a chunk.
func TestLongListsInOrder(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(1_700)
		for _, a := range []asked{
			{parameters: "sort=-name", orderBy: `{field: NAME, direction: DESC}`},
			{parameters: "sort=genre_name,-price", orderBy: `{field: GENRE_NAME}, {field: PRICE, direction: DESC}`},
			{parameters: "price_min=0.1&sort=-published_at", filter: `{price: {gte: "0.10"}}`, orderBy: `{field: PUBLISHED_AT, direction: DESC}`},
			{parameters: "author=SOMEBODY", filter: `{author: {eq: "Somebody"}}`},
			{parameters: "q=words", search: "words"},
		} {
			a.list = "books"
			want := s.idsByGraphQL(a)
			got := s.want(http.StatusOK, "GET", "/api/books?"+a.parameters, "").ids(t)
			if len(want) < 1_000 || !slices.Equal(got, want) {
				t.Errorf("%s: %d rows by GraphQL, %d by REST, or not in the same order", a.parameters, len(want), len(got))
			}
		}
	})
}

// idsByGraphQL gives the ids of a whole list, as the pages of GraphQL have them.
func (s *service) idsByGraphQL(a asked) []string {
	s.Helper()
	document := fmt.Sprintf(`query ($after: String) { x: %s(first: 1000, after: $after, filter: %s, orderBy: [%s]%s) { totalCount nodes { id } pageInfo { endCursor hasNextPage } } }`,
		a.list, cmp.Or(a.filter, "{}"), a.orderBy, map[bool]string{true: ", search: " + quote(a.search)}[a.search != ""])
	var ids []string
	for after := "null"; ; {
		x := decode[struct {
			X struct {
				TotalCount int
				Nodes      []struct{ ID string }
				PageInfo   struct {
					EndCursor   string
					HasNextPage bool
				}
			}
		}](s.T, s.mutate(document, `{"after":`+after+`}`)).X
		for _, node := range x.Nodes {
			ids = append(ids, node.ID)
		}
		if !x.PageInfo.HasNextPage {
			if x.TotalCount != len(ids) {
				s.Errorf("%+v: totalCount is %d of %d rows", a, x.TotalCount, len(ids))
			}
			return ids
		}
		after = quote(x.PageInfo.EndCursor)
	}
}

// TestSortNames holds the names that sort takes to the fields of GraphQL.
func TestSortNames(t *testing.T) {
	t.Parallel()
	s := serve(t, catalogtest.SQLite(t), rest.Options{})
	types := graph.NewExecutableSchema(graph.Config{}).Schema().Types
	for list, enum := range map[string]string{"books": "BookOrderField", "genres": "GenreOrderField", "categories": "CategoryOrderField"} {
		var want []string
		for _, value := range types[enum].EnumValues {
			want = append(want, strings.ToLower(value.Name))
		}
		_, got, _ := strings.Cut(refusalOf(t, s.want(http.StatusUnprocessableEntity, "GET", "/api/"+list+"?sort=x", "")).says, ": ")
		if diff := gocmp.Diff(want, strings.Split(strings.TrimSuffix(got, "."), ", ")); diff != "" {
			t.Errorf("%s (-GraphQL +REST):\n%s", list, diff)
		}
	}
}

// TestLinksKeepParameters wants the links of a page to ask for the same list.
func TestLinksKeepParameters(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(9)
		given := "author=SOMEBODY&genre_id=1&genre_id=2,3&sort=-price&x=%26%3C%3E%25&price_min=0.01"
		for _, paging := range []string{"&per_page=2", "&per_page=2&page=2"} {
			links := s.want(http.StatusOK, "GET", "/api/books?"+given+paging, "").links(t)
			if len(links) < 3 {
				t.Errorf("%s: the links are %v", paging, links)
			}
			for rel, target := range links {
				got, err := url.Parse(target)
				must(t, err)
				values := got.Query()
				for _, own := range []string{"page", "after", "per_page"} {
					values.Del(own)
				}
				want, _ := url.ParseQuery(given)
				if diff := gocmp.Diff(want, values); diff != "" {
					t.Errorf("%s (-given +kept):\n%s", rel, diff)
				}
			}
		}
	})
}

// TestListConditions asks for parts of a list by HEAD, under the condition of an
// ETag, and twice, so that the answer may be a kept one.
func TestListConditions(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for _, target := range []string{"/api/books?sort=-price", "/api/books?author=stephen+hawking", "/api/books?genre_id=1&per_page=1&sort=name", "/api/genres?category_id=2"} {
			first := s.want(http.StatusOK, "GET", target, "")
			for range 3 {
				if again := s.want(http.StatusOK, "GET", target, ""); again.body != first.body || again.header.Get("Link") != first.header.Get("Link") {
					t.Errorf("%s: %s, and again %s", target, first.body, again.body)
				}
			}
			s.want(http.StatusNotModified, "GET", target, "", "If-None-Match: "+first.header.Get("ETag"))
			head := s.want(http.StatusOK, "HEAD", target, "")
			if head.body != "" {
				t.Errorf("HEAD %s has %s", target, head.body)
			}
			for _, name := range []string{"ETag", "Link", "X-Total-Count", "Content-Type"} {
				if head.header.Get(name) != first.header.Get(name) {
					t.Errorf("HEAD %s: %s is %q, by GET %q", target, name, head.header.Get(name), first.header.Get(name))
				}
			}
		}
		tag := s.want(http.StatusOK, "GET", "/api/books", "").header.Get("ETag")
		for _, bad := range []string{"sort=x", "q=" + strings.Repeat("a", 201)} {
			for _, method := range []string{"GET", "HEAD"} {
				s.want(http.StatusUnprocessableEntity, method, "/api/books?"+bad, "", "If-None-Match: "+tag)
			}
		}
	})
}

// TestListParametersAreRefused gives values that cannot be meant. The message
// and the field are in the words of /api.
func TestListParametersAreRefused(t *testing.T) {
	t.Parallel()
	const (
		number = " field must be a number."
		date   = " field must be a valid date."
		once   = " field must be given only once."
		utf    = " field must be valid UTF-8 without NUL characters."
	)
	sorts := "The sort field must be a comma-separated list of these, with a minus for descending order: " +
		strings.ToLower(strings.Join(model.Entities["Book"].OrderNames(), ", ")) + "."
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		s := serve(t, databaseURL, rest.Options{}).shelf()
		for parameters, message := range map[string]string{
			"genre_id=x":                         "The genre id field must be an integer.",
			"genre_id=1,x":                       "The genre id field must be an integer.",
			"genre_id=1.0":                       "The genre id field must be an integer.",
			"genre_id=-1":                        "The genre id field must be an integer.",
			"genre_id=1%00":                      "The genre id field must be an integer.",
			"genre_id=%FF":                       "The genre id field must be an integer.",
			"genre_id=1'+OR+1=1;--":              "The genre id field must be an integer.",
			"genre_id=%D9%A1":                    "The genre id field must be an integer.",
			"genre_id[]=%":                       "The genre id field must be an integer.",
			"genre_id=0":                         "The selected genre id is invalid.",
			"genre_id=9223372036854775808":       "The selected genre id is invalid.",
			"category_id=1,18446744073709551617": "The selected category id is invalid.",
			"genre_id=" + strings.Repeat("1,", 10_001): "The genre id field must not have more than 10000 values.",
			"price_min=cheap":                          "The price min" + number,
			"price_min=1,50":                           "The price min" + number,
			"price_max=NaN":                            "The price max" + number,
			"price_max=Infinity":                       "The price max" + number,
			"price_max=0x10":                           "The price max" + number,
			"price_min=+":                              "The price min" + number,
			"price_min=1;--":                           "The price min" + number,
			"price_min=%FF":                            "The price min" + number,
			"price_min=1&price_min=2":                  "The price min" + once,
			"published_from=yesterday":                 "The published from" + date,
			"published_from=2023-02-29":                "The published from" + date,
			"published_to=0000-01-01":                  "The published to" + date,
			"published_to=10000-01-01":                 "The published to" + date,
			"published_to=2000-01-01%00":               "The published to" + date,
			"isbn=9783161484101":                       "The isbn field must be a valid ISBN.",
			"isbn=9.78316E%2B12":                       "The isbn field must be a valid ISBN.",
			"language=Klingonese":                      "The language field must be a valid language.",
			"author=%FF":                               "The author" + utf,
			"author=a%00b":                             "The author" + utf,
			"author=%ED%A0%80":                         "The author" + utf,
			"author=a&author=b":                        "The author" + once,
			"q=%FF":                                    "The q" + utf,
			"q=a%00":                                   "The q" + utf,
			"q=%ED%B0%80":                              "The q" + utf,
			"q=a&q=b":                                  "The q" + once,
			"sort=unknown":                             sorts,
			"sort=name,":                               sorts,
			"sort=name;price":                          sorts,
			"sort=NAME":                                sorts,
			"sort=--name":                              sorts,
			"sort=name%20desc":                         sorts,
			"sort=%FF":                                 sorts,
			"sort=name'%00":                            sorts,
			"sort=name,-name":                          "The sort field must not name name twice.",
			"sort=name&sort=price":                     "The sort" + once,
			"sort=relevance":                           "The sort field must not name relevance without a search: give q.",
			"per_page=1&per_page=2":                    "The per page" + once,
			"after=x&after=y":                          "The after" + once,
		} {
			field, _, _ := strings.Cut(parameters, "=")
			want := refusal{strings.TrimSuffix(field, "[]"), message}
			for _, paging := range []string{"", "&x=1&per_page=5"} {
				if strings.HasPrefix(parameters, "per_page") {
					paging = ""
				}
				if got := refusalOf(t, s.want(http.StatusUnprocessableEntity, "GET", "/api/books?"+parameters+paging, "")); got != want {
					t.Errorf("?%s: %v, want %v", clip(parameters), got, want)
				}
			}
		}
		if got := refusalOf(t, s.want(http.StatusUnprocessableEntity, "GET", "/api/books?q="+strings.Repeat("a", 201), "")); got.field != "q" || !strings.HasPrefix(got.says, "The q field must not have more than 200 characters") {
			t.Errorf("a long search: %v", got)
		}
		a := s.want(http.StatusUnprocessableEntity, "GET", "/api/books?price_min=a&sort=b&page=c&author=%00", "")
		fields := decode[struct{ Errors map[string][]string }](t, a.body).Errors
		if len(fields) != 4 || len(fields["price_min"]) != 1 {
			t.Errorf("four are wrong, and the answer is %s", a.body)
		}
		if got := s.want(http.StatusOK, "GET", "/api/books", "").ids(t); len(got) != 3 {
			t.Errorf("there are %v", got)
		}
	})
}

// TestOddValues gives texts that are something else to a careless database, or
// to a careless reader of addresses: each is itself and nothing more.
func TestOddValues(t *testing.T) {
	t.Parallel()
	odd := []string{
		`'; DROP TABLE books; --`, `%`, `_`, `\`, `\%`, `"`, `$1`, `?`, `:a`, `{a,b}`, `*`, `[a]`, `0x41`, `a;b`, `a&b=c`, `a+b`, `100%`, `%41`, `%zz`, "🐉",
		strings.Repeat("é", 1000), strings.Repeat("ab", 60), strings.Repeat("ab", 60) + "c", "c" + strings.Repeat("ab", 60),
	}
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		s := serve(t, databaseURL, rest.Options{}).shelf()
		ids := map[string]string{}
		for _, author := range odd {
			ids[author] = s.want(http.StatusCreated, "POST", "/api/books", `{"name":"Odd","pages":1,"published_at":"2000-01-01","price":1,"genre_id":1,"author":`+quote(author)+`}`).id(t)
		}
		for _, author := range odd {
			for _, target := range []string{"/api/books?author=", "/api/books?per_page=5&author="} {
				got := s.want(http.StatusOK, "GET", target+url.QueryEscape(author), "").ids(t)
				if !slices.Equal(got, []string{ids[author]}) {
					t.Errorf("%s%s gives %v, want %s", target, clip(author), got, ids[author])
				}
			}
			s.want(http.StatusOK, "GET", "/api/books?q="+url.QueryEscape(clip(author)[:min(len(author), 150)/2*2]), "")
		}
		// Not escaped, as people type it.
		for typed, author := range map[string]string{"a;b": "a;b", "100%": "100%", "%zz": "%zz", "'; DROP TABLE books; --": "'; DROP TABLE books; --"} {
			got := s.want(http.StatusOK, "GET", "/api/books?author="+strings.ReplaceAll(typed, " ", "+"), "").ids(t)
			if !slices.Equal(got, []string{ids[author]}) {
				t.Errorf("?author=%s gives %v, want %s", typed, got, ids[author])
			}
		}
		long := make([]string, 10_000)
		for i := range long {
			long[i] = fmt.Sprint(i%9_000 + 1)
		}
		if got := s.want(http.StatusOK, "GET", "/api/books?genre_id="+strings.Join(long, ","), "").ids(t); len(got) != 3+len(odd) {
			t.Errorf("10,000 ids give %v", got)
		}
		for _, text := range []string{strings.Repeat("a", 50_000), strings.Repeat("%F0%9F%90%89", 4_000)} {
			if got := s.want(http.StatusOK, "GET", "/api/books?author="+text, "").ids(t); len(got) != 0 {
				t.Errorf("a long author gives %v", got)
			}
		}
	})
}

// TestAlikesAreWhole holds the lists that both endpoints are asked for to every
// condition and every order that /api has.
func TestAlikesAreWhole(t *testing.T) {
	t.Parallel()
	h := rest.New(resolvers.New(nil), rest.Options{})
	for _, list := range []string{"books", "genres", "categories"} {
		asked := map[string]bool{}
		for _, a := range alikes {
			values, err := url.ParseQuery(a.parameters)
			must(t, err)
			for name, given := range values {
				if a.list == list && name != "sort" {
					asked[name] = true
				}
				for _, field := range strings.Split(given[0], ",") {
					if a.list == list && name == "sort" {
						asked["sort="+strings.Trim(field, " -")] = true
					}
				}
			}
		}
		names, sorts := rest.ListParameters(h, list)
		for _, name := range names {
			if !asked[name] && !slices.Contains([]string{"sort", "per_page", "page", "after", "format", "include"}, name) {
				t.Errorf("%s: nothing asks for %s", list, name)
			}
		}
		for _, name := range sorts {
			if !asked["sort="+name] {
				t.Errorf("%s: nothing is in order of %s", list, name)
			}
		}
	}
}
