package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/graph/model/citation"
	"library-catalogue/graph/model/marc"
	"library-catalogue/server"
)

// TestCitations requests citations by suffix, parameter and Accept, with the same response each time.
func TestCitations(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for _, f := range citation.Formats {
			for target, file := range map[string]string{
				"/api/books/2": "book-2", "/api/books": "books", "/api/books?q=hobit": "books", "/api/books?ids=3,1&sort=-id": "books", "/api/books?per_page=2": "books",
			} {
				path, query, _ := strings.Cut(target, "?")
				if query != "" {
					query = "?" + query
				}
				want := s.want(http.StatusOK, "GET", path+f.Suffix+query, "")
				if want.header.Get("Content-Type") != f.ContentType || want.header.Get("Content-Disposition") != `attachment; filename="`+file+f.Suffix+`"` {
					t.Errorf("%s: %v", target, want.header)
				}
				and := "&"
				if query == "" {
					and = "?"
				}
				for range 3 { // from the cache too
					byName := s.want(http.StatusOK, "GET", target+and+"format="+f.Name, "")
					accepted := s.want(http.StatusOK, "GET", target, "", "Accept: "+f.MediaType())
					for _, a := range []answer{byName, accepted} {
						if a.body != want.body || a.header.Get("ETag") != want.header.Get("ETag") || !strings.Contains(strings.Join(a.header.Values("Vary"), ","), "Accept") {
							t.Errorf("%s as %s: %v %s, want %s", target, f.Name, a.header, clip(a.body), clip(want.body))
						}
					}
				}
				tag := "If-None-Match: " + want.header.Get("ETag")
				s.want(http.StatusNotModified, "GET", path+f.Suffix+query, "", tag)
				if plain := s.want(http.StatusOK, "GET", target, "", tag); plain.header.Get("Content-Type") != "application/json" {
					t.Errorf("%s: %v", target, plain.header)
				}
				if head := s.want(http.StatusOK, "HEAD", path+f.Suffix+query, ""); head.body != "" || head.header.Get("ETag") != want.header.Get("ETag") {
					t.Errorf("HEAD %s: %v", target, head)
				}
			}
		}
		var items []struct{ ID string }
		if err := json.Unmarshal([]byte(s.want(http.StatusOK, "GET", "/api/books.csl.json?ids=3,1,99&sort=-id", "").body), &items); err != nil || len(items) != 2 || items[0].ID != "book3" || items[1].ID != "book1" {
			t.Errorf("%v %v", items, err)
		}
		ris := "TY  - BOOK\r\nID  - book1\r\nAU  - Tolkien, J. R. R.\r\nTI  - The Hobbit\r\nPY  - 1937\r\nDA  - 1937/09/21\r\nSP  - 310\r\nKW  - Fantasy\r\nAB  - There and back again.\r\nER  - \r\n"
		if a := s.want(http.StatusOK, "GET", "/api/books.ris?q=hobit", ""); a.body != ris {
			t.Errorf("%q", a.body)
		}
		xml := s.want(http.StatusOK, "GET", "/api/books.marcxml?q=hobit", "").body
		for _, part := range []string{
			marc.CollectionStart + "<record", `"001">1<`, `"a">The Hobbit /<`, `"a">Fantasy<`, `"a">Fiction<`, `"a">There and back again.<`, "</record>\n" + marc.CollectionEnd,
		} {
			if !strings.Contains(xml, part) || strings.Contains(xml, `"005">1970`) || strings.Contains(xml, `"008">700101`) {
				t.Errorf("%s has not %s", xml, part)
			}
		}
		if a := s.want(http.StatusOK, "GET", "/api/books.bib?per_page=1", ""); !strings.HasPrefix(a.header.Get("Link"), `</api/books?format=bibtex&page=1&per_page=1>; rel="first"`) {
			t.Error(a.header.Get("Link"))
		}
		for _, target := range []string{"/api/books/99.bib", "/api/books/x.ris", "/api/books/.csl.json", "/api/genres.bib", "/api/genres/1.bib", "/api/books/1/2.bib", "/api/books.csl"} {
			s.want(http.StatusNotFound, "GET", target, "")
		}
		s.want(http.StatusUnprocessableEntity, "GET", "/api/books.bib?format=ris", "")
		s.want(http.StatusUnprocessableEntity, "GET", "/api/books.bib?ids=x", "")
		s.want(http.StatusNotFound, "POST", "/api/books.bib", hobbit)
		s.want(http.StatusNotFound, "DELETE", "/api/books/1.bib", "")
		s.want(http.StatusOK, "GET", "/api/books/1", "")
	})
}

// TestCitationsOfMany streams a long list: each row is there once, and its file is complete.
func TestCitationsOfMany(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{})
		var items []struct{ ID string }
		if err := json.Unmarshal([]byte(s.want(http.StatusOK, "GET", "/api/books.csl.json", "").body), &items); err != nil || len(items) != long {
			t.Errorf("%d items, %v", len(items), err)
		}
		for suffix, text := range map[string]string{".bib": "\n@book{book", ".ris": "\nER  - \r\n", ".marcxml": "\n</record>\n"} {
			if n := strings.Count("\n"+s.want(http.StatusOK, "GET", "/api/books"+suffix, "").body, text); n != long {
				t.Errorf("%d books in %s, want %d", n, suffix, long)
			}
		}
	})
}
