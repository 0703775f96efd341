package rest_test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/server"
)

// sitemap is a sitemap or an index of sitemaps.
type sitemap struct {
	XMLName xml.Name
	Entries []struct {
		Loc     string `xml:"loc"`
		Lastmod string `xml:"lastmod"`
	} `xml:",any"`
}

func (s *service) sitemap(target, element string) (addresses []string) {
	s.Helper()
	a := s.want(http.StatusOK, "GET", target, "")
	var m sitemap
	if err := xml.Unmarshal([]byte(a.body), &m); err != nil || a.header.Get("Content-Type") != "application/xml" || a.header.Get("Content-Disposition") != "" ||
		m.XMLName != (xml.Name{Space: "http://www.sitemaps.org/schemas/sitemap/0.9", Local: element}) {
		s.Errorf("%s: %v, %v: %s", target, err, a.header, clip(a.body))
	}
	for _, entry := range m.Entries {
		if _, err := time.Parse(time.RFC3339Nano, entry.Lastmod); (err == nil) != (element == "urlset") {
			s.Errorf("%s: %q", target, entry.Lastmod)
		}
		addresses = append(addresses, entry.Loc)
	}
	s.want(http.StatusNotModified, "GET", target, "", "If-None-Match: "+a.header.Get("ETag"))
	s.want(http.StatusOK, "HEAD", target, "")
	return addresses
}

// TestSitemap has books on both sides of the bounds of parts, and a part without books.
func TestSitemap(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serveWith(t, url, server.Config{PublicURL: "https://books.example"}, func(*http.Server) {}).shelf()
		s.exec(`UPDATE books SET id = 50000 WHERE id = 2`)
		s.exec(`UPDATE books SET id = 100001 WHERE id = 3`)
		for range 3 { // from the cache too
			const part = "https://books.example/sitemap.xml?part="
			if got := s.sitemap("/sitemap.xml", "sitemapindex"); !slices.Equal(got, []string{part + "1", part + "3"}) {
				t.Error(got)
			}
			const book = "https://books.example/books/"
			for n, want := range [][]string{1: {book + "1", book + "50000"}, 2: nil, 3: {book + "100001"}} {
				if n == 0 {
					continue
				}
				if got := s.sitemap(fmt.Sprintf("/sitemap.xml?part=%d", n), "urlset"); !slices.Equal(got, want) {
					t.Errorf("part %d: %v, want %v", n, got, want)
				}
			}
		}
		s.exec(`UPDATE books SET id = 50001 WHERE id = 50000`)
		if got := s.sitemap("/sitemap.xml", "sitemapindex"); len(got) != 3 {
			t.Errorf("after a change: %v", got)
		}
		for _, part := range []string{"0", "x", "9223372036854775807"} {
			s.want(http.StatusUnprocessableEntity, "GET", "/sitemap.xml?part="+part, "")
		}
		s.want(http.StatusMethodNotAllowed, "POST", "/sitemap.xml", "{}")
		for _, cfg := range []server.Config{{}, {PublicURL: "https://books.example", NoPages: true}} {
			serveWith(t, url, cfg, func(*http.Server) {}).want(http.StatusNotFound, "GET", "/sitemap.xml", "")
		}
	})
}

var remaining = regexp.MustCompile(`r=(\d+)`)

// TestSitemapPrice compares the price of a sitemap with the price of the list of the same books.
func TestSitemapPrice(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		prices := map[string]string{}
		for _, target := range []string{"/api/books", "/sitemap.xml?part=1"} {
			s := serveLong(t, url, server.Config{PublicURL: "https://books.example", Rate: ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 1000}})
			a := s.want(http.StatusOK, "GET", target, "")
			if n := strings.Count(a.body, "<loc>"); strings.HasPrefix(target, "/sitemap") && n != long {
				t.Errorf("%d addresses", n)
			}
			prices[target] = remaining.FindString(a.header.Get("RateLimit"))
		}
		if left := prices["/api/books"]; left == "" || left == "r=1000" || prices["/sitemap.xml?part=1"] != left {
			t.Errorf("left: %v", prices)
		}
	})
}
