package soak

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// kind is a request that honest clients repeat.
type kind struct {
	name    string
	every   time.Duration // pause between two requests, unless the response takes longer
	request func(s *target, n int) (path, body string)
	check   func(s *target, n int, body []byte) error
}

var kinds = []kind{
	{"book", 100 * time.Millisecond, path("/api/books/%d"), checkBook},
	{"page", 100 * time.Millisecond, path("/api/books?per_page=20&page=%d"), checkPage},
	{"nested page", 100 * time.Millisecond, query(`{ books(first: 20, filter: {id: {gt: %d}}) {
		nodes { id name genre { name category { name } } } } }`), checkNested},
	{"search", 250 * time.Millisecond, query(`{ books(first: 20, search: "shelf %d") { totalCount nodes { name }
		facets { genres(first: 5) { count } years(first: 5) { count } } } }`), checkSearch},
	{"list", time.Second, requestList, checkList},
	{"create", 250 * time.Millisecond, create(10), checkCreated(10)},
	{"12 kB body", 500 * time.Millisecond, create(12_000), checkCreated(12_000)},
}

// path returns a GET of a path with the number of the request.
func path(format string) func(*target, int) (path, body string) {
	return func(_ *target, n int) (string, string) { return fmt.Sprintf(format, n), "" }
}

func query(format string) func(*target, int) (path, body string) {
	return func(_ *target, n int) (string, string) {
		return "/graphql?query=" + url.QueryEscape(fmt.Sprintf(format, n)), ""
	}
}

func requestList(s *target, _ int) (path, body string) {
	s.listed = s.created.Load()
	return "/api/books", ""
}

// create returns a request that creates a book with a description of so many bytes.
func create(description int) func(*target, int) (path, body string) {
	const format = `{"name":"Novelty %d","description":%q,
		"pages":1,"published_at":"2001-02-03","author":"A","price":1,"genre_id":1}`
	return func(s *target, n int) (path, body string) {
		s.begun.Add(1)
		return "/api/books", fmt.Sprintf(format, n, strings.Repeat("d", description))
	}
}

// book is a book of a response.
type book struct {
	ID                json.Number
	Name, Description string
	Genre             struct {
		Name     string
		Category struct{ Name string }
	}
}

// wantBooks checks that books are count imported books in order, from the one numbered first.
func wantBooks(books []book, first, count int) error {
	if len(books) != count {
		return fmt.Errorf("%d books, want %d", len(books), count)
	}
	for i, b := range books {
		want := book{ID: json.Number(fmt.Sprint(first + i)), Name: bookName(first + i), Description: b.Description}
		want.Genre.Name, want.Genre.Category.Name = genreName(first+i), categoryName(first+i)
		if b != want {
			return fmt.Errorf("%+v, want %+v", b, want)
		}
	}
	return nil
}

func checkBook(_ *target, n int, body []byte) error {
	var response struct{ Data book }
	err := json.Unmarshal(body, &response)
	return cmp.Or(err, wantBooks([]book{response.Data}, n, 1))
}

func checkPage(_ *target, n int, body []byte) error {
	var response struct{ Data []book }
	err := json.Unmarshal(body, &response)
	return cmp.Or(err, wantBooks(response.Data, 20*(n-1)+1, 20))
}

func checkNested(_ *target, n int, body []byte) error {
	var response struct {
		Data struct{ Books struct{ Nodes []book } }
	}
	err := json.Unmarshal(body, &response)
	return cmp.Or(err, wantBooks(response.Data.Books.Nodes, n+1, 20))
}

func checkSearch(_ *target, n int, body []byte) error {
	var response struct {
		Data struct {
			Books struct {
				TotalCount int
				Nodes      []book
				Facets     struct{ Genres, Years []struct{ Count int } }
			}
		}
	}
	if err := json.Unmarshal(body, &response); err != nil {
		return err
	}
	b := response.Data.Books
	genres, years := len(b.Facets.Genres), len(b.Facets.Years)
	if b.TotalCount < drillBooks/shelves || len(b.Nodes) != 20 || genres != 5 || years != 5 {
		return fmt.Errorf("%d of %d books, facets %v", len(b.Nodes), b.TotalCount, b.Facets)
	}
	for _, found := range b.Nodes {
		if !strings.HasSuffix(found.Name, fmt.Sprint(" shelf ", n)) {
			return fmt.Errorf("found %q", found.Name)
		}
	}
	return nil
}

// checkList checks that a list has all imported books, and those created before the request.
func checkList(s *target, _ int, body []byte) error {
	rows := int64(bytes.Count(body, []byte(`"published_at":`)))
	low, high := drillBooks+s.listed, drillBooks+s.begun.Load()
	if !json.Valid(body) || rows < low || rows > high {
		return fmt.Errorf("%d bytes with %d rows, want %d to %d", len(body), rows, low, high)
	}
	return nil
}

// checkCreated checks a created book, and that a read after it finds the same.
func checkCreated(description int) func(*target, int, []byte) error {
	return func(s *target, n int, body []byte) error {
		var created, found struct{ Data book }
		if err := json.Unmarshal(body, &created); err != nil {
			return err
		}
		s.created.Add(1)
		response, err := s.people[0].Get(s.public + "/api/books/" + created.Data.ID.String())
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
			return err
		}
		b := found.Data
		if b != created.Data || b.Name != fmt.Sprint("Novelty ", n) || len(b.Description) != description {
			return fmt.Errorf("found %q with a description of %d bytes", b.Name, len(b.Description))
		}
		return nil
	}
}
