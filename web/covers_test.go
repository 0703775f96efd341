package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestCovers shows covers on the list and on the page of a book. The policy of these pages alone has their hosts.
func TestCovers(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	create(t, c, "/api/books", `{"name": "Rivers", "author": "Ann One", "pages": 9, "published_at": "1999-12-31", "price": 1, "genre_id": 1, "isbn": "9783161484100"}`)
	picture := regexp.MustCompile(`<img[^>]*>`)
	serve := func(setting, target string) (policy, pictures, page string) {
		t.Helper()
		covers, err := server.ParseCovers(setting)
		if err != nil {
			t.Fatal(err)
		}
		c.Reconfigure(t, server.Config{Covers: covers, CacheBytes: 1 << 20})
		w := c.Do(http.MethodGet, target, "")
		page = w.Body.String()
		return w.Header().Get("Content-Security-Policy"), strings.Join(picture.FindAllString(page, -1), "\n"), page
	}
	const setting = "https://covers.example/b/{isbn}-M.jpg?default=false&a=1, archive.example ,*.us.archive.example:8443"
	usual, none, page := serve("", "/")
	if none != "" || strings.Contains(page, "with-covers") || strings.Contains(page, "data-policy") {
		t.Errorf("without covers the list has %s", none)
	}
	own := strings.Replace(usual, "img-src 'self'", "img-src 'self' https://covers.example https://archive.example https://*.us.archive.example:8443", 1)
	const image = `<img class="picture" src="https://covers.example/b/9783161484100-M.jpg?default=false&amp;a=1" alt="" width="40" height="60" loading="lazy" decoding="async" referrerpolicy="no-referrer">`
	for target, want := range map[string]struct{ policy, pictures string }{
		"/": {own, image}, "/books/4": {own, image}, "/books/1": {own, ""}, "/genres": {usual, ""}, "/books/4/edit": {usual, ""},
		"/books/4/history": {usual, ""}, "/books/9": {usual, ""}, "/import": {usual, ""},
	} {
		policy, pictures, page := serve(setting, target)
		if policy != want.policy || pictures != want.pictures || strings.Contains(page, "data-policy") != (policy == own) {
			t.Errorf("%s has the policy %s and %s", target, policy, pictures)
		}
	}
	if policy, pictures, _ := serve("http://10.0.0.1:8081/{isbn}", "/books/4"); !strings.Contains(policy, "img-src 'self' http://10.0.0.1:8081;") || !strings.Contains(pictures, ` src="http://10.0.0.1:8081/9783161484100" `) {
		t.Errorf("%s %s", policy, pictures)
	}
}

// TestParseCovers refuses settings that name no picture, or a host that a policy cannot have.
func TestParseCovers(t *testing.T) {
	t.Parallel()
	const address, host = "the address must be like https://HOST/{isbn}.jpg: plain http is only for localhost and private addresses", "is not a host: write it like books.example"
	for setting, want := range map[string]string{
		"https://a.example/{isbn}": "", "https://A.example:8443/x?isbn={isbn},B.example": "", "http://127.0.0.1:1/{isbn}": "", "http://localhost/{isbn}": "",
		"http://10.0.0.1/{isbn},10.0.0.2:81": "", "http://[fd00::1]/{isbn}": host, "http://a.example/{isbn}": address, "http://93.184.216.34/{isbn}": address,
		"a.example/{isbn}": address, "ftp://a.example/{isbn}": address, "data:image/png,{isbn}": address, "javascript:{isbn}": address, "//a.example/{isbn}": address, ",b.example": address,
		"https://me:secret@a.example/{isbn}": "remove the user", "https://a.example/{isbn}#x": "or the fragment", "https://a.example/x": "write {isbn} in place of the number",
		"https://{isbn}.example/{isbn}": address, "https:///{isbn}": host, "https://a.example;script-src/{isbn}": host, "https://*.example/{isbn}": host,
		"https://a.example/{isbn},": host, "https://a.example/{isbn},*": host, "https://a.example/{isbn},*.": host, "https://a.example/{isbn},b.example; script-src *": host,
		"https://a.example/{isbn},https://b.example": host, "https://a.example/{isbn},b.*.example": host, "https://a.example/{isbn},'self'": host, "https://a.example/{isbn},b example": host,
		"https://a.example:65536/{isbn}": `the port of "a.example:65536" must be from 1 to 65535`, "https://a.example/{isbn},b.example:0": "must be from 1 to 65535",
	} {
		_, err := server.ParseCovers(setting)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", setting, err, want)
		}
	}
}
