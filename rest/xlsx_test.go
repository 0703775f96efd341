package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"library-catalogue/graph/model/bookfile"
)

// TestXLSX asks for pages and whole lists as workbooks, which have the rows of CSV.
func TestXLSX(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.want(http.StatusOK, "PUT", "/api/books/2", `{"name":"=1+1 <b>","pages":256,"published_at":"1888-04-01","author":"-5","price":"12.5","genre_id":2}`)
		for range 2 { // the second answers come from caches
			for _, target := range []string{"/api/books?sort=name", "/api/books?per_page=2&sort=-id", "/api/books?genre_id=2"} {
				csv := s.want(http.StatusOK, "GET", target+"&format=csv", "")
				got := s.want(http.StatusOK, "GET", target+"&format=xlsx", "")
				if got.header.Get("Content-Type") != bookfile.XLSXType || got.header.Get("Content-Disposition") != `attachment; filename="books.xlsx"` ||
					got.header.Get("ETag") != strings.Replace(csv.header.Get("ETag"), "-csv", "-xlsx", 1) || got.header.Get("X-Total-Count") != csv.header.Get("X-Total-Count") {
					t.Errorf("%s: %v", target, got.header)
				}
				file, err := excelize.OpenReader(strings.NewReader(got.body))
				if err != nil {
					t.Fatalf("%s: %v", target, err)
				}
				rows, err := file.GetRows("Books")
				if err != nil {
					t.Fatalf("%s: %v", target, err)
				}
				want := records(t, csv.body)
				for i, row := range want {
					for k := range row {
						row[k] = strings.TrimPrefix(row[k], "'")
					}
					for len(row) > 0 && row[len(row)-1] == "" {
						row = row[:len(row)-1]
					}
					want[i] = row
				}
				if diff := cmp.Diff(want, rows[1:]); diff != "" {
					t.Errorf("%s (-csv +xlsx):\n%s", target, diff)
				}
				if same := s.want(http.StatusNotModified, "GET", target+"&format=xlsx", "", "If-None-Match: "+got.header.Get("ETag")); same.body != "" {
					t.Errorf("%s: %d bytes unchanged", target, len(same.body))
				}
			}
		}
		if got := s.want(http.StatusOK, "GET", "/api/books", "", "Accept: "+bookfile.XLSXType); !strings.HasPrefix(got.body, "PK") {
			t.Errorf("Accept gives %s", clip(got.body))
		}
	})
}
