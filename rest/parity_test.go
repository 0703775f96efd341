package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/graph/model"

	gocmp "github.com/google/go-cmp/cmp"
)

// twin is a noun as both endpoints speak of it.
type twin struct {
	target         string // of /api
	one, list      string // fields of GraphQL's Query
	typename       string
	selection      string // what /api writes, in GraphQL's words and the order of /api
	body, input    string // a new object, for either endpoint
	change, patch  string // and the same change of it
	parent, refuse string // the id of one that something points at, and what is said when it is deleted
}

// selectionOf returns the fields of a type in /api, by their keys, as a selection of GraphQL.
func selectionOf(typename string) string {
	var fields []string
	for _, f := range model.Entities[typename].Fields {
		if f.Is(model.InREST) {
			fields = append(fields, f.Key+":"+f.Name)
		}
	}
	return strings.Join(fields, " ")
}

var twins = []twin{
	{
		target: "/api/categories", one: "category", list: "categories", typename: "Category",
		selection: selectionOf("Category"),
		body:      `{"name":"Music","description":"<Loud> & \"low\"\n🎵"}`, input: `{"name":"Music","description":"<Loud> & \"low\"\n🎵"}`,
		change: `{"name":" Songs ","description":null}`, patch: `{"name":" Songs ","description":null}`,
		parent: "1", refuse: "Category has 2 genres",
	},
	{
		target: "/api/genres", one: "genre", list: "genres", typename: "Genre",
		selection: strings.Replace(selectionOf("Genre"), " category_id", " genre_id:id category_id", 1) + ` category{id name description}`,
		body:      `{"name":"Odes","category_id":"1"}`, input: `{"name":"Odes","categoryId":"1"}`,
		change: `{"name":"Hymns","description":"new","category_id":2}`, patch: `{"name":"Hymns","description":"new","categoryId":2}`,
		parent: "1", refuse: "Genre has 2 books",
	},
	{
		target: "/api/books", one: "book", list: "books", typename: "Book",
		selection: selectionOf("Book") +
			` genre{` + selectionOf("Genre") + ` category{` + selectionOf("Category") + `}}`,
		body:   `{"name":"Emma","pages":"474","published_at":"1815-12-23T10:00:00Z","author":"Jane Austen","price":1.005,"genre_id":1}`,
		input:  `{"name":"Emma","pages":474,"publishedAt":"1815-12-23T10:00:00Z","author":"Jane Austen","price":1.005,"genreId":1}`,
		change: `{"name":"Emma","description":"d","pages":1,"published_at":"0001-01-01","author":"J. A.","price":"99999999.99","genre_id":"2"}`,
		patch:  `{"description":"d","pages":1,"publishedAt":"0001-01-01","author":"J. A.","price":"99999999.99","genreId":"2"}`,
	},
}

// asNumbers makes the ids numbers: GraphQL writes them as strings.
func asNumbers(data string) string {
	return idPattern.ReplaceAllString(data, `"$1":$2`)
}

var idPattern = regexp.MustCompile(`"(id|genre_id|category_id)":"(\d+)"`)

// alike reads an object by both endpoints, and demands that they write the same, but
// for the quotes of ids, and the version in the tag.
func (s *service) alike(tw twin, id string) {
	s.Helper()
	a := s.call("GET", tw.target+"/"+id, "")
	data := s.mutate(fmt.Sprintf(`{x:%s(id:%s){%s}v:%[1]s(id:%[2]s){version}}`, tw.one, id, tw.selection), "")
	got := decode[struct {
		X json.RawMessage
		V *struct{ Version int }
	}](s.T, data)
	if got.V == nil {
		if a.status != http.StatusNotFound {
			s.Errorf("%s %s: GraphQL has none, and /api %d %s", tw.one, id, a.status, a.body)
		}
		return
	}
	if diff := gocmp.Diff(string(decode[struct{ Data json.RawMessage }](s.T, a.body).Data), asNumbers(string(got.X))); diff != "" {
		s.Errorf("%s %s (-REST +GraphQL):\n%s", tw.one, id, diff)
	}
	if tag := a.header.Get("ETag"); versionIn(tag) != fmt.Sprint(got.V.Version) {
		s.Errorf("%s %s: the tag is %s, and the version %d", tw.one, id, tag, got.V.Version)
	}
}

// versionIn gives the version of the row itself that a tag speaks of.
func versionIn(tag string) string { return strings.Split(strings.Trim(tag, `"`), ".")[0] }

// listsAlike reads all lists by both endpoints.
func (s *service) listsAlike() {
	s.Helper()
	for _, tw := range twins {
		a := s.want(http.StatusOK, "GET", tw.target, "")
		data := s.mutate(fmt.Sprintf(`{x:%s(first:1000){nodes{%s}}}`, tw.list, tw.selection), "")
		got := decode[struct {
			X struct{ Nodes json.RawMessage }
		}](s.T, data)
		if diff := gocmp.Diff(string(decode[struct{ Data json.RawMessage }](s.T, a.body).Data), asNumbers(string(got.X.Nodes))); diff != "" {
			s.Errorf("%s (-REST +GraphQL):\n%s", tw.list, diff)
		}
	}
}

// create creates an object by GraphQL, and gives its id.
func (s *service) create(tw twin) string {
	s.Helper()
	data := s.mutate(fmt.Sprintf(`mutation($input:Create%sInput!){x:create%[1]s(input:$input){o:%s{%s}}}`, tw.typename, tw.one, tw.selection), `{"input":`+tw.input+`}`)
	o := asNumbers(string(decode[struct{ X struct{ O json.RawMessage } }](s.T, data).X.O))
	id := string(decode[row](s.T, o)["id"])
	if stored := decode[struct{ Data json.RawMessage }](s.T, s.want(http.StatusOK, "GET", tw.target+"/"+id, "").body).Data; string(stored) != o {
		s.Errorf("create%s answers %s, and stored is %s", tw.typename, o, stored)
	}
	return id
}

// patchTo changes an object by GraphQL, where version is not empty only if it is
// still at that version.
func (s *service) patchTo(tw twin, id, version string) graphQLAnswer {
	s.Helper()
	if version != "" {
		version = `,"expectedVersion":` + version
	}
	return s.graphQL(fmt.Sprintf(`mutation($input:Update%sInput!){update%[1]s(input:$input){%s{version}}}`, tw.typename, tw.one),
		`{"input":{"id":`+id+`,"patch":`+tw.patch+version+`}}`)
}

func (s *service) deleteBy(tw twin, id, more string) graphQLAnswer {
	s.Helper()
	return s.graphQL(fmt.Sprintf(`mutation{delete%s(input:{id:%s%s}){deleted%[1]sId}}`, tw.typename, id, more), "")
}

// TestParity carries out every operation by each endpoint, and reads it by the other.
func TestParity(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.listsAlike()
		for _, tw := range twins {
			byREST := s.want(http.StatusCreated, "POST", tw.target, tw.body).id(t)
			s.alike(tw, byREST)
			byGraphQL := s.create(tw)
			s.alike(tw, byGraphQL)

			s.want(http.StatusOK, "PUT", tw.target+"/"+byREST, tw.change)
			s.alike(tw, byREST)
			if a := s.patchTo(tw, byGraphQL, ""); len(a.Errors) > 0 {
				t.Errorf("%v", a.Errors)
			}
			s.alike(tw, byGraphQL)
			if a, b := s.fields(tw, byREST), s.fields(tw, byGraphQL); a != b {
				t.Errorf("the same change makes\n%s\n%s", a, b)
			}
			s.listsAlike()

			s.want(http.StatusOK, "DELETE", tw.target+"/"+byREST, "")
			s.alike(tw, byREST)
			if a := s.deleteBy(tw, byGraphQL, ""); len(a.Errors) > 0 {
				t.Errorf("%v", a.Errors)
			}
			s.alike(tw, byGraphQL)
			s.want(http.StatusNotFound, "GET", tw.target+"/"+byGraphQL, "")
			s.listsAlike()
		}
	})
}

// fields gives what a client can choose in an object.
func (s *service) fields(tw twin, id string) string {
	s.Helper()
	data := s.want(http.StatusOK, "GET", tw.target+"/"+id, "").data(s.T)
	for _, own := range []string{"id", "created_at", "updated_at"} {
		delete(data, own)
	}
	if tw.one == "genre" {
		delete(data, "genre_id")
	}
	return fmt.Sprintf("%s", data)
}

// TestVersionParity reads a version by one endpoint, changes the row by the other,
// and writes under the condition of the version that was read.
func TestVersionParity(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for _, tw := range twins {
			id := s.create(tw)
			target := tw.target + "/" + id

			old := s.tag(target)
			if a := s.patchTo(tw, id, versionIn(old)); len(a.Errors) > 0 {
				t.Errorf("%s: the version in the tag does not hold: %v", tw.one, a.Errors)
			}
			s.want(http.StatusPreconditionFailed, "PUT", target, tw.change, "If-Match: "+old)
			s.want(http.StatusPreconditionFailed, "DELETE", target, "", "If-Match: "+old)
			s.want(http.StatusOK, "GET", target, "", "If-None-Match: "+old)

			seen := s.tag(target)
			s.want(http.StatusOK, "PUT", target, tw.change, "If-Match: "+seen)
			for what, a := range map[string]graphQLAnswer{
				"update": s.patchTo(tw, id, versionIn(seen)), "delete": s.deleteBy(tw, id, " expectedVersion:"+versionIn(seen)),
			} {
				if len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "CONFLICT" || !strings.Contains(a.Errors[0].Message, "was changed by someone else") {
					t.Errorf("%s %s at an old version: %v", what, tw.one, a.Errors)
				}
			}
			if a := s.deleteBy(tw, id, " expectedVersion:"+versionIn(s.tag(target))); len(a.Errors) > 0 {
				t.Errorf("%v", a.Errors)
			}
			s.want(http.StatusNotFound, "PUT", target, tw.change, "If-Match: "+seen)
		}
	})
}

// TestErrorParity fails in the same way by both endpoints: in the same words, and
// with nothing changed.
func TestErrorParity(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		same := func(code string, a answer, g graphQLAnswer) {
			t.Helper()
			if len(g.Errors) != 1 || g.Errors[0].Extensions.Code != code || g.Errors[0].Message != a.message(t) {
				t.Errorf("GraphQL says %v, and /api %s", g.Errors, a.body)
			}
		}
		for _, tw := range twins {
			same("NOT_FOUND", s.want(http.StatusNotFound, "PUT", tw.target+"/99", tw.change), s.patchTo(tw, "99", ""))
			same("NOT_FOUND", s.want(http.StatusNotFound, "DELETE", tw.target+"/99", ""), s.deleteBy(tw, "99", ""))
			if tw.refuse != "" {
				a := s.want(http.StatusConflict, "DELETE", tw.target+"/"+tw.parent, "")
				if a.message(t) != tw.refuse {
					t.Errorf("%s, want %s", a.body, tw.refuse)
				}
				same("CONFLICT", a, s.deleteBy(tw, tw.parent, ""))
				same("CONFLICT", a, s.deleteBy(tw, tw.parent, " onChildren:RESTRICT"))
			}

			valid := s.token
			s.token = "forged"
			same("UNAUTHENTICATED", s.want(http.StatusUnauthorized, "POST", tw.target, tw.body),
				s.graphQL(fmt.Sprintf(`mutation($input:Create%sInput!){create%[1]s(input:$input){%s{id}}}`, tw.typename, tw.one), `{"input":`+tw.input+`}`))
			same("UNAUTHENTICATED", s.want(http.StatusUnauthorized, "PUT", tw.target+"/1", tw.change), s.patchTo(tw, "1", ""))
			same("UNAUTHENTICATED", s.want(http.StatusUnauthorized, "DELETE", tw.target+"/1", ""), s.deleteBy(tw, "1", ""))
			s.token = valid
		}
		if diff := gocmp.Diff(everything, s.contents()); diff != "" {
			t.Error(diff)
		}
		if a := s.deleteBy(twins[0], "1", " onChildren:CASCADE"); len(a.Errors) > 0 {
			t.Error(a.Errors)
		}
		if diff := gocmp.Diff("books [2] genres [2] categories [2]", s.contents()); diff != "" {
			t.Error(diff)
		}
	})
}
