package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// library is a source with the records of a test.
type library struct {
	*httptest.Server
	mu    sync.Mutex
	held  map[string]chan struct{} // by ISBN: responds when closed
	asked []string
}

// fields are subfields of MARC 21, as "245a".
type fields map[string]string

const (
	river   = "9783161484100"
	spring  = "9780306406157"
	poor    = "9781861972712"
	unknown = "9791090636071"
)

// whole is a record with all that a book has.
var whole = fields{"020c": "Pp. : EUR 16.90 (DE)", "041a": "ger", "100a": "Müller, Anna", "245a": "Der Fluss", "245b": "ein Roman", "264b": "Rotverlag", "264c": "[1998]",
	"300a": "304 S.", "490a": "Ufer", "490v": "3", "520a": "Von der Quelle.", "655a": "RIVERS "}

// wholeForm has the values of whole in the form.
var wholeForm = map[string]string{"name": "Der Fluss", "author": "Anna Müller", "publishedAt": "1998", "pages": "304", "price": "16.90", "publisher": "Rotverlag", "language": "de",
	"subtitle": "ein Roman", "series": "Ufer", "seriesNumber": "3", "description": "Von der Quelle."}

// marc returns a response of SRU with a record.
func marc(isbn string, values fields) string {
	var text strings.Builder
	for _, tag := range []string{"020", "041", "100", "245", "264", "300", "490", "520", "655"} {
		fmt.Fprintf(&text, `<datafield tag="%s" ind1=" " ind2="1">`, tag)
		if tag == "020" {
			fmt.Fprintf(&text, `<subfield code="a">%s</subfield>`, isbn)
		}
		for _, code := range []string{"a", "b", "c", "v"} {
			if value := values[tag+code]; value != "" {
				fmt.Fprintf(&text, `<subfield code="%s">%s</subfield>`, code, value)
			}
		}
		text.WriteString(`</datafield>`)
	}
	return `<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><numberOfRecords>1</numberOfRecords><records><record><recordData><record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a2200000 c 4500</leader>` +
		text.String() + `</record></recordData></record></records></searchRetrieveResponse>`
}

// startLibrary serves records by ISBN. Without the record of an ISBN the book is unknown; nil is a failure.
func startLibrary(t *testing.T, records map[string]fields) *library {
	t.Helper()
	l := &library{held: map[string]chan struct{}{}}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isbn := r.FormValue("isbn")
		l.mu.Lock()
		l.asked = append(l.asked, isbn)
		held := l.held[isbn]
		l.mu.Unlock()
		if held != nil {
			select {
			case <-held:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		values, isKnown := records[isbn]
		switch {
		case isKnown && values == nil:
			http.Error(w, "", http.StatusBadGateway)
		case isKnown:
			_, _ = w.Write([]byte(marc(isbn, values)))
		default:
			_, _ = w.Write([]byte(`<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><numberOfRecords>0</numberOfRecords></searchRetrieveResponse>`))
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// hold returns a channel, and holds the responses for an ISBN until it is closed.
func (l *library) hold(isbn string) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[isbn] = make(chan struct{})
	return l.held[isbn]
}

// name returns the name of the source.
func (l *library) name() string { return strings.TrimPrefix(l.URL, "http://") }

// count returns how often an ISBN was asked.
func (l *library) count(isbn string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, asked := range l.asked {
		if asked == isbn {
			n++
		}
	}
	return n
}

// startLooking starts the service with sources.
func startLooking(t *testing.T, libraries ...*library) *service {
	t.Helper()
	var addresses []string
	for _, l := range libraries {
		addresses = append(addresses, l.URL+"/?isbn={isbn}")
	}
	t.Setenv("CATALOGUE_LOOKUP", strings.Join(addresses, ","))
	s := start(t)
	s.graphQL(t, `mutation { createGenre(input: {name: "Rivers", category: {create: {name: "Water"}}}) { genre { id } } }`)
	return s
}

// line waits for the line under the ISBN.
func line(text string) step {
	return until(fmt.Sprintf(`document.querySelector(".met[role=status]").textContent === %q`, text))
}

// has waits for values of the form.
func has(values map[string]string) step {
	var all []step
	for name, value := range values {
		all = append(all, until(fmt.Sprintf(`document.getElementById(%q).value === %q`, name, value)))
	}
	return chromedp.Steps(all...)
}

// isAt waits for the focus.
func isAt(selector string) step {
	return until(fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
}

// isGenre waits for the name of the genre.
func isGenre(name string) step {
	return until(fmt.Sprintf(`document.querySelector("#genreId").selectedOptions[0].textContent === %q`, name))
}

// paste pastes a text into a field.
func paste(selector, text string) step {
	return chromedp.Steps(focus(selector), run(fmt.Sprintf(`document.querySelector(%q).select()`, selector)),
		run(fmt.Sprintf(`document.querySelector(%[1]q).value = %[2]q; document.querySelector(%[1]q).dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste" }))`, selector, text)))
}

// scanned types the digits of a hand scanner, which ends with Enter.
func scanned(isbn string) step {
	return chromedp.Steps(focus("#isbn"), run(`document.querySelector("#isbn").select()`), chromedp.KeyEvent(isbn), step(enter))
}

// enter presses Enter as a keyboard does: without the text of a keydown that the page has handled.
func enter(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	for _, event := range kb.Encode('\r') {
		if event.Type == input.DispatchKeyEventTypeKeyDown {
			event.Type = input.DispatchKeyEventTypeRawKeyDown
		}
		if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *event); err != nil {
			return chromedp.Void{}, err
		}
	}
	return chromedp.Void{}, nil
}

// TestLookUp fills the form by a hand scanner, by typing, and by pasting, and saves a whole book with Enter.
func TestLookUp(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, poor: {"245a": "Kaum", "490a": "Reihe"}})
	s := startLooking(t, l)
	b := open(t, s)
	from := line("From " + l.name() + ".")
	empty := map[string]string{"author": "", "publishedAt": "", "pages": "", "price": "", "publisher": "", "language": "", "subtitle": "", "seriesNumber": "", "description": "", "genreId": "", "shelfMark": ""}
	b.do("the form", formAt(b, "/books/new"), isAt("#isbn"), until(`document.querySelector("form .field input").id === "isbn"`))
	b.do("scanned", scanned(river), from, has(wholeForm), isGenre("Rivers"), isAt("[data-another]"), until(`document.querySelector(".plate-name").textContent === "Der Fluss"`))
	b.do("a poor record", scanned(poor), from, has(map[string]string{"name": "Kaum", "series": "Reihe"}), has(empty), isAt("#author"))
	b.do("pasted", paste("#isbn", "ISBN 978-3-16-148410-0"), from, has(wholeForm), isAt("[data-another]"))
	b.do("ten digits", paste("#isbn", "1-86197-271-7"), from, has(empty), has(map[string]string{"name": "Kaum"}), isAt("#author"))
	b.do("typed", write("#isbn", "978-3-16-148410-0"), from, has(wholeForm), isAt("#isbn"), step(enter), isAt("[data-another]"))
	b.do("saved", step(enter), says("“Der Fluss” was saved."), untilAt(`^/books/new$`), isAt("#isbn"), until(`document.querySelector("#isbn").value === "" && document.querySelector("#name").value === ""`))
	if l.count(river) != 1 {
		t.Errorf("%d requests for one book", l.count(river))
	}
}

// TestLookUpKeepsTyped looks up an ISBN after each field was typed, before and while the source responds.
func TestLookUpKeepsTyped(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, spring: {"245a": "Quelle", "100a": "Roth, Eva", "264c": "2001", "300a": "12 S."}})
	other := startLibrary(t, map[string]fields{river: {"245a": "The River", "100a": "Miller, Ann", "264c": "2002", "300a": "10 p.", "264b": "P", "041a": "eng", "520a": "D", "490a": "S", "490v": "1", "245b": "T"}})
	s := startLooking(t, l, other)
	b := open(t, s)
	typed := map[string]string{"name": "N", "author": "A", "publishedAt": "1900", "pages": "1", "price": "2.50", "publisher": "P", "language": "fr", "subtitle": "S", "series": "R", "seriesNumber": "9", "description": "D", "shelfMark": "M"}
	steps := []step{put("#genreId", "1"), run(`document.querySelector("#genreId").dispatchEvent(new Event("input", {bubbles: true}))`)}
	for name, value := range typed {
		steps = append(steps, write("#"+name, value))
	}
	kept := chromedp.Steps(has(typed), has(map[string]string{"genreId": "1"}))
	chosen := until(`document.querySelector(".met select")`)
	second := chromedp.Steps(put(".met select", other.name()), run(`document.querySelector(".met select").dispatchEvent(new Event("change"))`))
	b.do("before", formAt(b, "/books/new"))
	b.do("typed", steps...)
	b.do("looked up", scanned(river), chosen, kept, second, kept)

	held := l.hold(spring)
	b.do("while", run(`document.querySelector("book-form").forget()`), formAt(b, "/books/new"), scanned(spring), line("Looking it up…"))
	b.do("typed meanwhile", write("#author", "Mine"))
	close(held)
	b.do("the rest", has(map[string]string{"name": "Quelle", "author": "Mine", "pages": "12"}), isAt("#author"))
	b.do("the next one", scanned(river), chosen, has(map[string]string{"name": "Der Fluss", "author": "Mine", "pages": "304"}))
	b.do("a filled one touched", write("#pages", "30"), second, has(map[string]string{"name": "The River", "author": "Mine", "pages": "30", "price": "", "subtitle": "T"}),
		put(".met select", l.name()), run(`document.querySelector(".met select").dispatchEvent(new Event("change"))`), has(map[string]string{"name": "Der Fluss", "pages": "30", "price": "16.90"}))
	b.do("a draft keeps who typed what", reload(b, "/books/new"), has(map[string]string{"name": "Der Fluss", "author": "Mine"}),
		scanned(spring), has(map[string]string{"name": "Quelle", "author": "Mine", "pages": "30", "price": ""}))
	b.do("the same value typed", write("#name", "Quelle"), scanned(river), chosen, has(map[string]string{"name": "Quelle", "author": "Mine", "price": "16.90"}))
}

// TestLookUpLine says in one line that a book is unknown, that a source fails, and what is wrong with an ISBN.
func TestLookUpLine(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, poor: nil})
	other := startLibrary(t, map[string]fields{river: whole, spring: nil, poor: nil})
	p := behindProxy(t, startLooking(t, l, other))
	b := open(t, p.service)
	none := has(map[string]string{"name": "", "author": "", "pages": ""})
	b.do("sources that agree", formAt(b, "/books/new"), scanned(river), line("From "+l.name()+"."))
	b.do("unknown", scanned(unknown), line("Not found. Fill in the form."), none, isAt("#name"))
	b.do("a failure", scanned(spring), line("Not found. No answer from "+other.name()+". Try again"), none)
	b.do("failures", scanned(poor), line("No answer from "+l.name()+", "+other.name()+". Try again"), none, click(".met button"), line("No answer from "+l.name()+", "+other.name()+". Try again"))
	b.do("no ISBN", scanned("9783161484101"), line("The last digit should be 0, or another digit is wrong."))
	b.do("too many", p.fail(tooMany), scanned(river), line("Too many requests. Try again in 7 s. Try again"), p.fail(nil), click(".met button"), line("From "+l.name()+"."), has(wholeForm))
}

// TestLookUpDropsEarlier responds to the second ISBN first.
func TestLookUpDropsEarlier(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, spring: {"245a": "Quelle"}})
	b := open(t, startLooking(t, l))
	held := l.hold(river)
	counted := `window.answers = 0; window.fetch = ((real) => async (...request) => { const response = await real(...request); if (/lookup/.test(request[1]?.body)) { const text = await response.text(); answers += 1; return new Response(text, response); } return response; })(window.fetch)`
	b.do("two", formAt(b, "/books/new"), run(counted), scanned(river), line("Looking it up…"), scanned(spring), until(`answers === 1`), has(map[string]string{"name": "Quelle"}))
	close(held)
	b.do("the first", until(`answers === 2`), run(`new Promise((done) => setTimeout(done))`), has(map[string]string{"name": "Quelle", "author": "", "isbn": spring}), line("From "+l.name()+"."))
}

// TestLookUpOfEdited looks up an ISBN again that was changed and restored while it was looked up.
func TestLookUpOfEdited(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole})
	b := open(t, startLooking(t, l))
	held := l.hold(river)
	b.do("changed", formAt(b, "/books/new"), write("#isbn", river), line("Looking it up…"), chromedp.KeyEvent(kb.Backspace))
	close(held)
	b.do("restored", line(""), chromedp.KeyEvent(river[12:]), line("From "+l.name()+"."), has(wholeForm))
}

// TestLookUpOff has a catalogue without sources, which says how they are turned on.
func TestLookUpOff(t *testing.T) {
	b := open(t, start(t))
	b.do("the form", formAt(b, "/books/new"), until(`document.querySelector(".met").parentElement.nextElementSibling.textContent === "To have books looked up by ISBN, the operator sets CATALOGUE_LOOKUP=dnb,openlibrary."`))
	b.sent()
	b.do("an ISBN", scanned(river), isAt("#name"), line(""))
	if sent := b.sent(); !slices.Equal(sent, []string{"POST /graphql"}) { // for books that have the ISBN
		t.Errorf("%q", sent)
	}
	b.do("saved", fill("Momo", "9.99"), click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts").textContent.includes("9783161484100")`))
	b.do("a book that is there", b.goTo("/books/1/edit"), scripted, until(`!document.querySelector("code")`))
}

// TestOffers saves books of one shelf in a row. What they have in common is offered, unless a record has it.
func TestOffers(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, poor: {"245a": "Kaum"}})
	b := open(t, startLooking(t, l))
	offers := func(n int) step { return until(fmt.Sprintf(`document.querySelectorAll(".offer").length === %d`, n)) }
	begun := chromedp.Steps(untilAt(`^/books/new$`), isAt("#isbn"), until(`document.querySelector("#isbn").value === "" && document.querySelector("#name").value === "" && !document.querySelector("book-form").dirty()`))
	b.do("a first book", formAt(b, "/books/new"), fill("Momo", "9.99"), write("#publisher", "Thienemann"), write("#shelfMark", "A 1"), click("[data-another]"), begun, offers(3),
		has(map[string]string{"genreId": "1", "price": "9.99", "shelfMark": "A 1", "publisher": "Thienemann", "author": ""}))
	b.do("unknown", scanned(unknown), line("Not found. Fill in the form."), until(`!document.querySelector("#live").textContent`), offers(3), has(map[string]string{"publisher": "Thienemann", "price": "9.99"}))
	b.do("a record without them", scanned(poor), isAt("#author"), offers(3), has(map[string]string{"name": "Kaum", "genreId": "1", "price": "9.99", "shelfMark": "A 1", "publisher": ""}))
	b.do("a record with them", scanned(river), isAt("[data-another]"), offers(1), isGenre("Rivers"), has(wholeForm), has(map[string]string{"shelfMark": "A 1"}))
	b.do("dropped", click(".offer"), offers(0), isAt("#shelfMark"), has(map[string]string{"shelfMark": ""}), scanned(poor), isAt("#author"), has(map[string]string{"shelfMark": "", "price": "9.99"}), offers(2))
	b.do("another price", write("#price", "5"), offers(1), scanned(river), isAt("[data-another]"), has(map[string]string{"price": "5"}))
}

// TestAnotherCopy looks up a book that the catalogue has: it is named, and another copy is offered without asking others.
func TestAnotherCopy(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole})
	s := startLooking(t, l)
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {isbn: "9783161484100", name: "Ours", pages: 77, shelfMark: "A 1", genreId: 2}}) { book { id } } }`)
	b := open(t, s)
	b.do("met", formAt(b, "/books/new"), scanned(river), line("You have this book: Ours (A 1)Add another copy"), has(map[string]string{"name": ""}), isAt("#isbn"))
	b.do("another", click(".met button"), has(map[string]string{"name": "Ours", "pages": "77", "genreId": "2", "shelfMark": "", "isbn": river}), isAt("#shelfMark"),
		chromedp.KeyEvent("A 2"), click("book-form .main"), untilAt(`^/books/\d+$`))
	b.do("both", b.goTo("/isbn/"+river), untilAt(`^/\?q=`), until(`document.querySelectorAll(".row").length === 2`))
	if l.count(river) != 0 {
		t.Errorf("others were asked %d times", l.count(river))
	}
}

// TestLookUpOfAddress opens the form at the address of an ISBN, with a draft of another one.
func TestLookUpOfAddress(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, poor: {"245a": "Kaum"}})
	b := open(t, startLooking(t, l))
	from := line("From " + l.name() + ".")
	b.do("an address", formAt(b, "/books/new?isbn="+poor), from, has(map[string]string{"name": "Kaum"}), isAt("#author"), write("#author", "Mine"))
	b.do("another one", reload(b, "/books/new?isbn="+river), from, has(map[string]string{"isbn": river, "name": "Der Fluss", "author": "Mine"}))
	b.do("edited, and again", write("#isbn", poor), from, has(map[string]string{"name": "Kaum"}), reload(b, "/books/new?isbn="+river), from, has(map[string]string{"isbn": poor, "name": "Kaum", "author": "Mine"}))
}

// TestScanToForm reads a barcode with the camera into the form, and after the save the next one.
func TestScanToForm(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, poor: {"245a": "Kaum"}})
	b := openWith(t, startLooking(t, l), chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true))
	see := func(isbns ...string) step { // one after the other; the last one stays
		return run(fmt.Sprintf(`{ const isbns = %q.split(" "); globalThis.BarcodeDetector = class {
			static getSupportedFormats = async () => ["ean_13"];
			detect = async () => [{rawValue: isbns.length > 1 ? isbns.shift() : isbns[0]}];
		}; }`, strings.Join(isbns, " ")))
	}
	b.do("scanned", window(360, 640), formAt(b, "/books/new"), see(river), click(".field .button"), has(wholeForm), has(map[string]string{"isbn": river}), until(`!document.querySelector("dialog")`), isAt("[data-another]"))
	b.do("a look", until(`document.documentElement.scrollWidth <= innerWidth`), holds(`box("#name").top > 0 && box("#name").bottom < box("[data-another]").top && box("[data-another]").bottom <= innerHeight && box("book-form .main").bottom <= innerHeight`))
	b.do("a tap, with the saved book still there", see(river, river, poor), click("[data-another]"), has(map[string]string{"isbn": poor, "name": "Kaum"}), until(`!document.querySelector("dialog")`), isAt("#author"))
	b.do("by hand", run(`navigator.mediaDevices.getUserMedia = () => new Promise(() => {})`), write("#author", "A"), write("#publishedAt", "1999"), write("#pages", "9"), scanned(unknown), line("Not found. Fill in the form."), write("#name", "N"),
		click("[data-another]"), says("“N” was saved."), until(`!document.querySelector("dialog")`), isAt("#isbn"))
}

// TestLookUpLooks looks at the form with the choice of a source, and with a book that is there: narrow and wide.
func TestLookUpLooks(t *testing.T) {
	l := startLibrary(t, map[string]fields{river: whole, spring: {"245a": "Quelle"}})
	other := startLibrary(t, map[string]fields{river: {"245a": "The River"}})
	s := startLooking(t, l, other)
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {isbn: "9781861972712", name: "`+strings.Repeat("Longest ", 20)+`"}}) { book { id } } }`)
	b := open(t, s)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 360, 768, 1440} {
			for isbn, shown := range map[string]string{river: ".met select", poor: ".met button", unknown: ".met"} {
				b.do(fmt.Sprint(scheme, width, isbn), screen(scheme, width), formAt(b, "/books/new"), scanned(isbn), until(`document.querySelector("`+shown+`") && !document.querySelector(".met").textContent.startsWith("Looking")`), until(`document.querySelector(".met").textContent`))
				if found := b.faults(`[]`); found != "" {
					t.Errorf("%s, %d px, %s: %s", scheme, width, isbn, found)
				}
				b.do("forget", run(`document.querySelector("book-form").forget()`))
			}
		}
	}
}
