package rest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/rest"
	"library-catalogue/server"
)

// records takes CSV apart, which must begin with the header, and returns the rest.
func records(t *testing.T, text string) [][]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 || !slices.Equal(all[0], model.ImportFields) {
		t.Fatalf("%v: %s", err, clip(text))
	}
	return all[1:]
}

// TestCSV asks for lists as CSV, in both ways, and for JSON at the same addresses in
// turn, so often that answers come from the cache.
func TestCSV(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.want(http.StatusOK, "PUT", "/api/books/2", `{"name":"=HYPERLINK(\"http://x\")","pages":256,"published_at":"1988-04-01","author":"-5","price":"12.5","genre_id":2}`)
		for range 4 {
			for _, target := range []string{"/api/books", "/api/books?per_page=2&sort=-id", "/api/books?genre_id=2"} {
				plain := s.want(http.StatusOK, "GET", target, "")
				want := plain.rows(t)
				a := s.want(http.StatusOK, "GET", target, "", "Accept: text/csv")
				got := records(t, a.body)
				cell := func(i int, field string) string { return got[i][slices.Index(model.ImportFields, field)] }
				for i, row := range want {
					name, id := strings.ReplaceAll(string(row["name"]), `"=`, `"'=`), string(row["id"])
					if decode[string](t, name) != cell(i, "name") || decode[string](t, string(row["price"])) != cell(i, "price") || id == "2" && cell(i, "author") != "-5" {
						t.Errorf("%s: %q, want %s", target, got[i], row)
					}
				}
				tag := strings.TrimSuffix(plain.header.Get("ETag"), `"`) + `-csv"`
				if len(got) != len(want) || a.header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" ||
					a.header.Get("Content-Disposition") != `attachment; filename="books.csv"` || a.header.Get("ETag") != tag ||
					a.header.Get("Link") != plain.header.Get("Link") || a.header.Get("X-Total-Count") != plain.header.Get("X-Total-Count") {
					t.Errorf("%s: %d records, want %d; %v", target, len(got), len(want), a.header)
				}
				for _, header := range []http.Header{plain.header, a.header} {
					if vary := strings.Join(header.Values("Vary"), ", "); !strings.Contains(vary, "Accept,") && !strings.HasSuffix(vary, "Accept") || strings.Count(vary, "Accept") != 2 {
						t.Errorf("%s: Vary: %s", target, vary)
					}
				}
				and := "?"
				if strings.Contains(target, and) {
					and = "&"
				}
				names, rows, _ := strings.Cut(a.body, "\n")
				const labels = "Name,Description,Pages,Published,Author,Price,Genre,Category,ISBN,Publisher,Language,Shelf mark,Subtitle,Series,Number in the series"
				for format, header := range map[string]string{"csv": names, "spreadsheet": "\uFEFF" + labels} {
					if b := s.want(http.StatusOK, "GET", target+and+"format="+format, ""); b.body != header+"\n"+rows || !strings.HasSuffix(b.header.Get("ETag"), "-"+format+`"`) {
						t.Errorf("%s as %s: %s %s", target, format, b.header.Get("ETag"), clip(b.body))
					}
				}
				if head := s.want(http.StatusOK, "HEAD", target, "", "Accept: text/csv"); head.body != "" || head.header.Get("ETag") != tag || head.header.Get("Content-Type") != a.header.Get("Content-Type") {
					t.Errorf("HEAD %s: %v", target, head)
				}
				s.want(http.StatusNotModified, "GET", target, "", "Accept: text/csv", "If-None-Match: "+tag)
				s.want(http.StatusOK, "GET", target, "", "If-None-Match: "+tag)
			}
		}
		for _, target := range []string{"/api/books/1", "/api/genres", "/api/categories?per_page=1", "/api/books?format=json", "/api/genres?format=csv"} {
			if a := s.want(http.StatusOK, "GET", target, "", "Accept: text/csv"); a.header.Get("Content-Type") != "application/json" || a.header.Get("Content-Disposition") != "" {
				t.Errorf("%s: %v", target, a.header)
			}
		}
	})
}

// TestAccept tries what clients send.
func TestAccept(t *testing.T) {
	t.Parallel()
	s := serve(t, catalogtest.SQLite(t), rest.Options{}).shelf()
	for accept, csv := range map[string]bool{
		"text/csv": true, "TEXT/CSV;charset=utf-8": true, "text/csv, application/json;q=0.9": true, "text/csv, */*": true, "text/csv;q=0.5, */*;q=0.1": true,
		"": false, "*/*": false, "text/*": false, "application/json, text/csv": false, "text/csv;q=0": false, "text/csv;q=0.5, */*": false, "text/csvx": false, ";;": false,
		"application/json, text/plain, */*": false, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": false, "text/csv;q=0.4, application/json;q=0.5": false,
	} {
		if a := s.want(http.StatusOK, "GET", "/api/books", "", "Accept: "+accept); strings.HasPrefix(a.body, "name,") != csv {
			t.Errorf("Accept: %s: %s", accept, clip(a.body))
		}
	}
}

// TestCSVOfMany streams a long list as CSV, beside the same one as JSON, and with gzip.
func TestCSVOfMany(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{})
		client := s.readSlowly("/api/books", "Accept: text/csv")
		other := s.readSlowly("/api/books")
		read, err := client.rest()
		got := records(t, "n"+read)
		if err != nil || len(got) != long || got[long-1][0] != fmt.Sprintf("Book %d", long) {
			t.Errorf("%d records, %v", len(got), err)
		}
		if read, err := other.rest(); err != nil || len(answer{body: "{" + read}.rows(t)) != long {
			t.Error(err)
		}
		a := s.want(http.StatusOK, "GET", "/api/books", "", "Accept: text/csv", "Accept-Encoding: gzip")
		unpacked, err := gzip.NewReader(bytes.NewReader([]byte(a.body)))
		if err != nil || !strings.HasSuffix(a.header.Get("ETag"), `-csv-gzip"`) {
			t.Fatal(a.header, err)
		}
		if text, err := io.ReadAll(unpacked); err != nil || string(text) != "n"+read {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		s.want(http.StatusNotModified, "GET", "/api/books", "", "Accept: text/csv", "If-None-Match: "+header(a.header.Get("ETag")))
	})
}
