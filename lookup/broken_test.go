package lookup

import (
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"library-catalogue/graph/model"
)

const asked = "9783161484100"

// sourceAt returns a Service with the source of a template, which the operator has named.
func sourceAt(t *testing.T, template string) *Service {
	t.Helper()
	s, err := New(template, "https://books.example")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// first returns the only result of a look-up, as its status with its cause.
func first(t *testing.T, s *Service) (book *model.FoundBook, status string) {
	t.Helper()
	found, err := s.Find(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	status = string(found.Sources[0].Status)
	if message := found.Sources[0].Message; message != nil {
		status += " " + *message
	}
	if len(found.Books) > 0 {
		book = found.Books[0]
	}
	return book, status
}

// TestBroken reads responses that are no plain record. Each gives the book or a plain reason.
func TestBroken(t *testing.T) {
	t.Parallel()
	record := func(title string) string {
		return sruOf(t, "k10plus", "=020  \\\\$a"+asked+"\n=245  00$a"+title+"\n")
	}
	plain := record("Bäche")
	diagnostics := func(number, uri, message string) string {
		return `<zs:searchRetrieveResponse xmlns:zs="http://www.loc.gov/zing/srw/"><zs:version>1.1</zs:version>` + number +
			`<zs:diagnostics><diagnostic xmlns="http://www.loc.gov/zing/srw/diagnostic/"><uri>info:srw/diagnostic/1/` + uri +
			`</uri><details>pica.xyz</details><message>` + message + `</message></diagnostic></zs:diagnostics></zs:searchRetrieveResponse>`
	}
	latin1, err := charmap.ISO8859_1.NewEncoder().String(plain)
	must(t, err)
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(plain)
	must(t, err)
	const notSRU, cut = "UNREACHABLE The response is not of SRU.", "UNREACHABLE The XML of the response is broken or cut off."
	for name, tt := range map[string]struct {
		contentType, body string
		status            int
		header            http.Header
		want              string
	}{
		"plain":                          {body: plain, want: "FOUND"},
		"HTML with 200":                  {contentType: "text/html", body: "<!DOCTYPE html><html><body><p>Maintenance<br></body></html>", want: notSRU},
		"XHTML":                          {body: "<html><body/></html>", want: notSRU},
		"empty":                          {want: notSRU},
		"JSON":                           {body: `{"error": "unknown"}`, want: notSRU},
		"no records":                     {body: `<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version><numberOfRecords>0</numberOfRecords></searchRetrieveResponse>`, want: "UNKNOWN"},
		"diagnostics":                    {body: diagnostics("", "16", "Unsupported index"), want: "REFUSED The source refused the query: Unsupported index pica.xyz."},
		"diagnostics of an end":          {body: diagnostics("<zs:numberOfRecords>0</zs:numberOfRecords>", "61", "First record position out of range"), want: "UNKNOWN"},
		"diagnostics without text":       {body: strings.ReplaceAll(diagnostics("", "4", ""), "pica.xyz", ""), want: "REFUSED The source refused the query: info:srw/diagnostic/1/4."},
		"Latin-1 named by a header":      {contentType: "text/xml; charset=ISO-8859-1", body: latin1, want: "FOUND"},
		"Latin-1 in the XML":             {body: strings.Replace(latin1, "UTF-8", "ISO-8859-1", 1), want: "FOUND"},
		"Latin-1 named UTF-8":            {body: latin1, want: "UNREACHABLE The characters of the response are not in the encoding that it names."},
		"Latin-1 in a made-up name":      {contentType: "text/xml; charset=x-books", body: latin1, want: "UNREACHABLE The characters of the response are not in the encoding that it names."},
		"Latin-1 named x-user-defined":   {contentType: "text/xml; charset=x-user-defined", body: latin1, want: "UNREACHABLE The characters of the response are not in the encoding that it names."},
		"Latin-1 named by a replacement": {contentType: "text/xml; charset=iso-2022-kr", body: latin1, want: "UNREACHABLE The characters of the response are not in the encoding that it names."},
		"UTF-8 named Latin-1":            {contentType: "text/xml; charset=ISO-8859-1", body: plain, want: "FOUND"},
		"UTF-8 with a mark":              {body: "\uFEFF" + plain, want: "FOUND"},
		"UTF-16":                         {body: strings.Replace(utf16, "UTF-8", "UTF-16", 1), want: "FOUND"},
		"900 kB":                         {body: strings.Replace(plain, "</zs:version>", "</zs:version><!--"+strings.Repeat("x", 900<<10)+"-->", 1), want: "FOUND"},
		"longer than 1 MiB":              {body: plain + strings.Repeat(" ", 1<<20), want: "UNREACHABLE The response is longer than 1 MiB."},
		"a cut body":                     {body: plain[:len(plain)*2/3], want: cut},
		"a shorter body than said":       {body: plain, header: http.Header{"Content-Length": {"99999"}}, want: "UNREACHABLE The response ended too early."},
		"a document type":                {body: strings.Replace(plain, "<zs:search", `<!DOCTYPE x [<!ENTITY a "aaaa">]><zs:search`, 1), want: "UNREACHABLE The XML has a document type (DTD), which is not read: remove it."},
		"a damaged record":               {body: strings.ReplaceAll(plain, `code="a"`, `code="ab"`), want: `UNREACHABLE The record is damaged: field 020 has a subfield with the code "ab".`},
		"a long name":                    {body: strings.Replace(plain, "<leader", "<"+strings.Repeat("x", 90_000)+"/><leader", 1), want: `UNREACHABLE The record is damaged: the record has an element "xxxxxxxxxxxxxxxxxxxx", which is not of MARCXML.`},
		"a long code":                    {body: strings.ReplaceAll(plain, `code="a"`, `code="`+strings.Repeat("x", 90_000)+`"`), want: `UNREACHABLE The record is damaged: field 020 has a subfield with the code "xxxxxxxxxxxxxxxxxxxx".`},
		"a deleted record":               {body: sruOf(t, "k10plus", "=LDR  00000dam a2200000 c 4500\n=020  \\\\$a"+asked+"\n=245  00$aOld\n"), want: "UNKNOWN"},
		"not found":                      {status: 404, want: "REFUSED The source responded with 404."},
		"forbidden":                      {status: 403, want: "REFUSED The source responded with 403."},
		"failed":                         {status: 500, want: "UNREACHABLE The source responded with 500."},
		"no content":                     {status: 204, want: "UNREACHABLE The source responded with 204."},
		"too many requests":              {status: 429, want: "REFUSED The source responded with 429 and asks for a pause."},
		"busy":                           {status: 503, header: http.Header{"Retry-After": {"120"}}, want: "REFUSED The source responded with 503 and asks for a pause."},
		"redirected for ever":            {status: 302, header: http.Header{"Location": {"/again"}}, want: "UNREACHABLE The source redirects more than 3 times."},
		"redirected to a file":           {status: 302, header: http.Header{"Location": {"file:///etc/passwd"}}, want: "UNREACHABLE The source redirects to another host or an insecure address."},
		"redirected to a host":           {status: 302, header: http.Header{"Location": {"https://169.254.169.254/"}}, want: "UNREACHABLE The source redirects to another host or an insecure address."},
		"redirected as a user":           {status: 302, header: http.Header{"Location": {"//me:secret@{host}/again"}}, want: "UNREACHABLE The source redirects to another host or an insecure address."},
		"redirected to a port":           {status: 302, header: http.Header{"Location": {"http://127.0.0.1:1/"}}, want: "UNREACHABLE The source redirects to another host or an insecure address."},
		"redirected to no port":          {status: 302, header: http.Header{"Location": {"https://127.0.0.1:" + strings.Repeat("9", 9000) + "/"}}, want: "UNREACHABLE The source redirects to another host or an insecure address."},
		"redirected to https":            {status: 302, header: http.Header{"Location": {"https://127.0.0.1:1/"}}, want: "UNREACHABLE The connection to the source failed: the host has an address that is not public: only the host and port of the setting may be private."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) > 4 {
					t.Error("more than three redirects were followed")
				}
				if got := r.Header.Get("User-Agent"); got != "library-catalogue (+https://books.example)" {
					t.Errorf("User-Agent %s", got)
				}
				for name, values := range tt.header {
					w.Header().Set(name, strings.ReplaceAll(values[0], "{host}", r.Host))
				}
				w.Header().Set("Content-Type", tt.contentType)
				w.WriteHeader(max(tt.status, http.StatusOK))
				fmt.Fprint(w, tt.body)
			}))
			defer to.Close()
			book, status := first(t, sourceAt(t, to.URL+"/sru?query=isbn%3D{isbn}"))
			if status != tt.want {
				t.Errorf("%s, want %s", status, tt.want)
			}
			if tt.want == "FOUND" && (book == nil || *book.Name != "Bäche") {
				t.Errorf("the book is %+v", book)
			}
		})
	}
}

// TestBrokenFormats breaks an answer of each source in four ways.
func TestBrokenFormats(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range readAnswers(t) {
		if seen[a.source] {
			continue
		}
		seen[a.source] = true
		read, notFormat, cut := readSRU, "the response is not of SRU", "the XML of the response is broken or cut off"
		if a.source == "openlibrary" {
			read, notFormat = readOpenLibrary, "the response is not the JSON of Open Library, or is cut off"
			cut = notFormat
		}
		for body, want := range map[string]string{
			"": notFormat, "<!DOCTYPE html><html><body><p>Maintenance<br></body></html>": notFormat, a.body[:len(a.body)*2/3]: cut,
			a.body + "\xFC": errEncoding.Error(), a.body: "",
		} {
			text, err := decode([]byte(body), "text/plain; charset=utf-8")
			if err == nil {
				_, err = read(text, a.isbn, now)
			}
			if (err == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("%s: %.30q…: %v, want %s", a.source, body, err, want)
			}
		}
	}
	if len(seen) != 5 {
		t.Errorf("there are answers of %d sources", len(seen))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCompressed counts the bytes of a compressed response after decompression.
func TestCompressed(t *testing.T) {
	t.Parallel()
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		out := gzip.NewWriter(w)
		for range 100 {
			_, _ = out.Write(make([]byte, 1<<20))
		}
		_ = out.Close()
	}))
	defer to.Close()
	if _, status := first(t, sourceAt(t, to.URL+"?query={isbn}")); status != "UNREACHABLE The response is longer than 1 MiB." {
		t.Error(status)
	}
}

// TestRequest shows what a source gets, and that three redirects within the host are followed.
func TestRequest(t *testing.T) {
	t.Parallel()
	var paths []string
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if paths = append(paths, r.URL.EscapedPath()); len(paths) <= 3 {
			http.Redirect(w, r, fmt.Sprintf("/%d?%s", len(paths), r.URL.RawQuery), http.StatusFound)
			return
		}
		want := url.Values{"query": {"isbn=" + asked}, "operation": {"searchRetrieve"}, "version": {"1.1"},
			"maximumRecords": {"10"}, "recordSchema": {"unimarc"}}
		if got := r.URL.Query().Encode(); got != want.Encode() {
			t.Errorf("%s, want %s", got, want.Encode())
		}
		fmt.Fprint(w, sruOf(t, "sudoc", "=010  \\\\$a"+asked+"\n=200  1\\$aEau\n"))
	}))
	defer to.Close()
	book, status := first(t, sourceAt(t, to.URL+"/a%2Fb/{isbn}?query=isbn%3D{isbn}&recordSchema=unimarc"))
	if book == nil || *book.Name != "Eau" || book.Source != strings.TrimPrefix(to.URL, "http://") {
		t.Errorf("%s %+v", status, book)
	}
	if got := strings.Join(paths, " "); got != "/a%2Fb/"+asked+" /1 /2 /3" {
		t.Error(got)
	}
}

// TestPrivateAddresses reaches this machine only by the host and port of the setting. A name and other forms of an
// address are refused, also if they are no template but a preset, whose name might lead here one day.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	to := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the server got a request")
	}))
	to.Listener = listener
	to.Start()
	defer to.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1]", "0.0.0.0", "[::]"} {
		from, err := newSource(preset{name: "books", template: "http://" + host + ":" + port + "/?query={isbn}", schema: marcxml})
		must(t, err)
		s := sourceAt(t, "dnb")
		s.sources = []*source{from}
		_, status := first(t, s)
		const want = "UNREACHABLE The connection to the source failed: the host has an address that is not public: "
		if !strings.HasPrefix(status, want) {
			t.Errorf("%s: %s", host, status)
		}
	}
}
