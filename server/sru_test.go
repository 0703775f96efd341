package server_test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestSRU asks for records in both schemas and packings, and for what cannot be answered.
func TestSRU(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		c := servertest.Serve(t, databaseURL)
		c.Ask(t, `mutation { createGenre(input: {name: "Tales & more", category: {create: {name: "Novels"}}}) { genre { id } } }`, "")
		for _, book := range []string{
			`name: "The Blue Hat", author: "Ann Lee; J. R. R. Tolkien", isbn: "3-16-148410-X", publisher: "Ink", language: "de", publishedAt: "1999-01-01", description: "<a>"`,
			`name: "Blue Art", author: "Bo Ek", publishedAt: "2001-02-03"`, `name: "Start", author: "Bo Ek", publishedAt: "2002-01-01"`,
		} {
			c.Get(t, `mutation { createBook(input: {`+book+`, pages: 7, price: 1, genreId: 1}) { book { id } } }`, "")
		}
		if a := c.Do(http.MethodGet, "/sru", ""); a.Code != http.StatusNotFound {
			t.Errorf("SRU that is off: %d", a.Code)
		}
		c.Reconfigure(t, server.Config{SRU: true})
		for query, want := range map[string]string{
			`query=cql.allRecords%3D1`:                                 "3",
			`query=blue`:                                               "2",
			`query=blue+hat`:                                           "diagnostic/1/10",
			`query=blue+and+hat`:                                       "1",
			`query=title%3D%22-%22`:                                    "0",
			`query=any+any+%22-+-%22`:                                  "0",
			`query=blue+sortBy+title+title`:                            "diagnostic/1/10",
			`query=bleu`:                                               "0", // corrections are for people
			`query=title%3Dart`:                                        "1",
			`query=title%3Dart+or+title%3Dhat`:                         "3",
			`query=dc.creator%3D%22Tolkien%2C+J.R.R.%22`:               "1",
			`query=bath.isbn%3D9783161484100`:                          "1",
			`query=bath.isbn%3D9783161484101`:                          "0",
			`query=blue+not+year%3D1999`:                               "1",
			`query=publisher%3Dink+and+date%3C2000+and+language%3Dger`: "1",
			`query=subject%3Dtales&startRecord=3`:                      "3",
			`query=subject%3Dnovels&startRecord=4`:                     "diagnostic/1/61",
			`query=nothing&startRecord=1&maximumRecords=0`:             "0",
			`query=blue&startRecord=0`:                                 "diagnostic/1/61",
			`query=blue&startRecord=x`:                                 "diagnostic/1/6",
			`query=blue&recordSchema=mods`:                             "diagnostic/1/66",
			`query=blue&recordPacking=json`:                            "diagnostic/1/71",
			`query=blue&version=2.0`:                                   "diagnostic/1/5",
			`query=blue&operation=scan`:                                "diagnostic/1/4",
			`query=blue&stylesheet=a`:                                  "diagnostic/1/110",
			`query=blue&x-any=1&resultSetTTL=1&unknown=1`:              "diagnostic/1/8",
			`operation=searchRetrieve`:                                 "diagnostic/1/7",
			`query=` + strings.Repeat("(a+or+b)+and+", 11) + "c":       "0",
			`query=` + strings.Repeat("a+or+b+and+", 11) + "c":         "diagnostic/1/38",
		} {
			for method, a := range map[string]func() string{
				http.MethodGet: func() string { return c.Do(http.MethodGet, "/sru?"+query, "").Body.String() },
				http.MethodPost: func() string {
					return c.Do(http.MethodPost, "/sru", query, "Content-Type: application/x-www-form-urlencoded").Body.String()
				},
			} {
				got := a()
				if !strings.Contains(got, "<zs:numberOfRecords>"+want+"</zs:numberOfRecords>") && !strings.Contains(got, "info:srw/"+want+"<") {
					t.Errorf("%s %s: %s, want %s", method, query, got, want)
				}
				wellFormed(t, got)
			}
		}
		body := func(query string) string { return c.Do(http.MethodGet, "/sru?"+query, "").Body.String() }
		for _, part := range []string{"<dc:title>The Blue Hat</dc:title>", "<dc:creator>Tolkien, J. R. R.</dc:creator>", "<dc:identifier>urn:isbn:9783161484100</dc:identifier>",
			"<dc:date>1999</dc:date>", "<dc:subject>Tales &amp; more</dc:subject>", "<dc:description>&lt;a&gt;</dc:description>", "<zs:recordPosition>1<"} {
			if got := body("recordSchema=dc&query=isbn%3D316148410X"); !strings.Contains(got, part) {
				t.Errorf("Dublin Core lacks %s: %s", part, got)
			}
		}
		marcxml := body("query=isbn%3D316148410X")
		if !strings.Contains(marcxml, `<subfield code="a">The Blue Hat`) || !strings.Contains(marcxml, `<controlfield tag="001">1</controlfield>`) {
			t.Errorf("MARCXML: %s", marcxml)
		}
		if packed := body("recordPacking=string&query=isbn%3D316148410X"); !strings.Contains(packed, "&lt;leader&gt;") {
			t.Errorf("a record as a string: %s", packed)
		}
		first := body("maximumRecords=1&query=blue+sortBy+date%2Fdescending")
		if !strings.Contains(first, "Blue Art") || !strings.Contains(first, "<zs:nextRecordPosition>2<") {
			t.Errorf("the first record: %s", first)
		}
		explain := c.Do(http.MethodGet, "/sru", "", "Host: books.example")
		if explain.Header().Get("Content-Type") != "text/xml; charset=utf-8" || !strings.Contains(explain.Body.String(), `<name set="bath">isbn</name>`) {
			t.Errorf("explain: %s", explain.Body)
		}
		wellFormed(t, explain.Body.String())
		if a := c.Do(http.MethodPost, "/sru", "query="+strings.Repeat("a", 17<<10), "Content-Type: application/x-www-form-urlencoded"); !strings.Contains(a.Body.String(), "diagnostic/1/6<") {
			t.Errorf("a body over the limit: %d, %s", a.Code, a.Body)
		}
		c.Reconfigure(t, server.Config{SRU: true, Rate: ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 1}})
		for range 2 {
			c.Do(http.MethodGet, "/sru?query=blue", "")
		}
		if a := c.Do(http.MethodGet, "/sru?query=blue", ""); a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") == "" || !strings.Contains(a.Body.String(), "info:srw/diagnostic/1/2<") {
			t.Errorf("over the rate: %d, %s", a.Code, a.Body)
		}
		c.Reconfigure(t, server.Config{SRU: true})
		if a := c.Do(http.MethodGet, "/sru?query="+url.QueryEscape("a\x00\xff"), ""); a.Code != http.StatusOK {
			t.Errorf("no UTF-8: %d, %s", a.Code, a.Body)
		} else {
			wellFormed(t, a.Body.String())
		}
	})
}

// wellFormed reads a document of XML to its end.
func wellFormed(t *testing.T, document string) {
	t.Helper()
	if err := xml.Unmarshal([]byte(document), &struct{ XMLName xml.Name }{}); err != nil {
		t.Errorf("%v: %s", err, document)
	}
}
