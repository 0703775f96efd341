package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// drop drops a file with this text on the page.
func drop(name, text string) step {
	return run(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		document.querySelector("book-import").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	})()`, base64.StdEncoding.EncodeToString([]byte(text)), name))
}

// figure waits for a number of a check or an import.
func figure(word, number string) step {
	return until(fmt.Sprintf(`[...document.querySelectorAll(".figures div")].some((d) => d.querySelector("dt").textContent === %q && d.querySelector("dd").textContent === %q)`, word, number))
}

// press presses the button whose text begins so.
func press(text string) step {
	button := fmt.Sprintf(`[...document.querySelectorAll("book-import button")].find((b) => b.textContent.startsWith(%q))`, text)
	return chromedp.Steps(until(button), run(button+".click()"))
}

// reply chooses the radio button of a question whose label begins so. A value goes into the control next to it.
func reply(question, label, value string) step {
	choice := fmt.Sprintf(`[...document.querySelectorAll("fieldset")].find((f) => f.querySelector("legend").textContent.includes(%q))
		?.querySelectorAll("label").values().find((l) => l.textContent.startsWith(%q))`, question, label)
	fill := fmt.Sprintf(`(() => { const choice = %s; choice.click(); const control = choice.parentElement.querySelector("select, input:not([type=radio])"); if (%[2]q) { control.value = %[2]q; control.dispatchEvent(new Event("input", {bubbles: true})); } })()`, choice, value)
	return chromedp.Steps(until(choice), run(fill))
}

// TestImport drops a file: what it leaves open is asked, what is bad is shown, and only
// the button imports. The rejects that are saved go in when they are mended.
func TestImport(t *testing.T) {
	s := start(t)
	b := open(t, s)
	var file strings.Builder
	file.WriteString("Title;author;published;pages;price;Shelf\n")
	for n := range 300 {
		fmt.Fprintf(&file, "<b>Dropped</b> %d;Somebody;3/4/2005;%d;1,50;Imported\n", n, n)
	}
	page := chromedp.Steps(b.goTo("/import"), until(`customElements.get("book-import")`))
	b.do("the page", b.goTo("/"), until(`document.documentElement.classList.contains("scripted")`), click(`.actions a[href="/import"]`), untilAt("^/import$"))
	b.do("a token is asked for", page, drop("books.csv", file.String()), until(`document.querySelector("dialog textarea")`), put("dialog textarea", s.token), click("dialog [value=use]"))
	b.do("a column is missing, and day or month", reply("Which column is Genre?", "A column", "Shelf"), reply("Which column is Category?", "A value for all", "Files"),
		reply("two ways, as 3/4/2005 (line 2)", "Day first: 2005-04-03", ""), press("Check again"))
	b.do("the check", figure("new", "299"), figure("rejected", "1"),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent === "2005-04-03")`),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent === "<b>Dropped</b> 0")`))
	b.do("nothing is stored", until(`(fetch("/api/books?q=Dropped&per_page=1").then((r) => { window.found = r.headers.get("X-Total-Count"); }), window.found === "0")`))
	b.do("the import", press("Import 299 books"), figure("created", "299"), until(`document.querySelector("#live").textContent === "The file is imported."`))

	b.do("the rejects", run(`(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make(blob); }; })()`),
		press("Download"), until("window.saved"))
	rejects, err := chromedp.Run(b.Context, chromedp.Evaluate[string]("window.saved"))
	must(t, err)
	mended := strings.Replace(rejects, ",0,1.50,", ",7,1.50,", 1)
	if mended == rejects {
		t.Fatalf("the rejects are %s", rejects)
	}
	b.do("mended", drop("rejects.csv", mended), reply("Which column is Genre?", "A column", "Shelf"), reply("Which column is Category?", "A value for all", "Files"), press("Check again"),
		figure("new", "1"), press("Import 1 book"), figure("created", "1"))
	b.do("its books", click(`book-import a[href^="/?since="]`), untilAt(`^/\?since=`), until(`document.querySelector("h1").textContent.startsWith("1 book")`))
	b.do("all books", click(`.chips a.chip`), untilAt(`^/$`), until(`document.querySelector("h1").textContent.startsWith("600")`))
}

// TestImportChanges: the check lists the books that will change, with old and new values, and says that an author cannot be
// corrected by an import.
func TestImportChanges(t *testing.T) {
	b := openImport(t)
	const header = "name,author,pages,published_at,price,genre,category,publisher\n"
	b.do("stored", drop("a.csv", header+"Red <i>river</i>,Ann One,10,2000-01-01,1,G,C,Old Press\nBlue hat,Bob Two,10,2001-01-01,1,G,C,\n"), press("Import 2 books"), figure("created", "2"))
	b.do("checked", drop("b.csv", header+"Red <i>river</i>,Ann One,10,1999-01-01,1,G,C,New Press\nBlue hat,Bob Tow,10,2001-01-01,1,G,C,\n"), figure("changed", "1"), figure("new", "1"),
		until(`document.querySelector("book-import .history h3").textContent === "Red <i>river</i>"`),
		until(`[...document.querySelectorAll("book-import .differences div")].map((d) => d.textContent.trim()).join("; ") === "Published2000 1999; PublisherOld Press New Press"`),
		until(`document.querySelector("book-import .note.warn").textContent.startsWith("1 new book has a name that is stored with another author.")`))
	books := func(publisher string) string {
		rows := header
		for n := range 102 {
			rows += fmt.Sprintf("Book %d,Ann One,10,2000-01-01,1,G,C,%s\n", n, publisher)
		}
		return rows
	}
	b.do("more than are shown", drop("c.csv", books("A Press")), press("Import 102 books"), figure("created", "102"), drop("d.csv", books("A  Press")), figure("changed", "102"),
		until(`[...document.querySelectorAll("section > p")].some((p) => p.textContent === "And 2 more books.")`))
	b.do("a second space is seen", until(`document.querySelector("book-import .differences del").innerText === "A Press" && document.querySelector("book-import .differences ins").innerText === "A  Press"`))
}

// TestImportInItalian imports a list with the labels of the page: nothing is asked, and the page says in its language how
// the file is read.
func TestImportInItalian(t *testing.T) {
	b := openImport(t)
	b.do("in Italian", run(`document.cookie = "language=it; path=/"`), b.goTo("/import"), until(`document.documentElement.lang === "it" && customElements.get("book-import")`))
	b.do("a list", drop("libri.csv", "Titolo;Autore;Pagine;Pubblicazione;Prezzo;Genere;Categoria;Collocazione\nMomo;Ende;304;1973;12.50;Romanzo;Narrativa;R 12\n"),
		until(`document.querySelector("[data-result] .soft")?.textContent === "CSV in UTF-8, separatore: punto e virgola, 1 riga"`), until(`!document.querySelector("fieldset")`),
		until(`document.querySelector("section:last-of-type td.number[data-column=Prezzo]").textContent === "12,50"`),
		until(`document.querySelector("section:last-of-type td[data-column=Collocazione]").textContent === "R 12"`))
}

// openImport opens the import page with a token.
func openImport(t *testing.T) *browser {
	t.Helper()
	s := start(t)
	b := open(t, s)
	b.do("the page", b.goTo("/import"), until(`customElements.get("book-import")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
	return b
}

// chooseFile presses the file field, and takes a file in the dialog of the browser.
func chooseFile(b *browser, path string) step {
	return func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		opened := make(chan *page.EventFileChooserOpened, 1)
		listening, cancel := context.WithCancel(b.Context)
		defer cancel()
		err = chromedp.Listen(listening, func(event any) {
			if event, ok := event.(*page.EventFileChooserOpened); ok {
				opened <- event
			}
		})
		if err != nil {
			return none, err
		}
		if _, err = cdp.Call(ctx, t, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true}); err != nil {
			return none, err
		}
		if _, err = click(".drop label")(ctx, t); err != nil {
			return none, err
		}
		select {
		case event := <-opened:
			_, err = cdp.Call(ctx, t, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{path}, BackendNodeID: event.BackendNodeID})
			return none, err
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
}

// posts returns the imports that the page has begun since sent was called last.
func (b *browser) posts() []string {
	return slices.DeleteFunc(b.sent(), func(sent string) bool { return !strings.HasPrefix(sent, "POST /api/imports") })
}

const importHeader = "name,author,description,pages,published_at,price,genre,category\n"

// legends is an expression for the questions of the page.
const legends = `[...document.querySelectorAll("fieldset legend")].map((l) => l.textContent).join("; ")`

// TestImportQuestions answers questions by radio buttons. Each field without a column is a question, with the columns
// that may be it and their first values; the focus goes to the first.
func TestImportQuestions(t *testing.T) {
	b := openImport(t)
	var file strings.Builder
	file.WriteString("Titel;Verfasser;published_at;Seitenzahl;Betrag;Standort\n")
	for n := range 10 {
		fmt.Fprintf(&file, "Twice %s;Ann One;2005-01-01;%s;%d,50;%d\n", []string{"upon a time", "in a lifetime", "over", "round the house", "told"}[n%5], []string{"", "112", "213"}[min(n, 2)], 12+n%2, n+1)
	}
	b.do("what is open", drop("books.csv", file.String()), until(legends+`.includes("1 row has no Pages; ")`),
		until(`document.activeElement === document.querySelector("fieldset input")`),
		until(`document.querySelector("book-import").textContent.includes("Not used: ")`),
		until(`![...document.querySelectorAll("[data-result] :is(p, legend, label)")].some((e) => e.textContent.includes("published_at"))`))
	b.do("nothing is sent without answers", press("Check again"), until(`document.querySelector("fieldset :invalid")`))
	b.do("answers", reply("Which column is Price?", "Betrag: 12,50; 13,50", ""), reply("1 row has no Pages", "A value for it", "9"),
		reply("Which column is Genre?", "A value for all", "G"), reply("Which column is Category?", "A value for all", "C"),
		until(`document.querySelector("fieldset li").textContent.startsWith("Line 2 and line 7: Twice upon a time, Ann One: pages 1 or 213")`),
		until(`[...document.querySelectorAll("fieldset:last-of-type label")].map((b) => b.textContent).join() === "Keep all: they are different books,Use the last row,Use the first row,Skip these books"`),
		reply("several rows", "Use the first row", ""), press("Check again"), figure("new", "5"), figure("skipped", "5"),
		until(`document.querySelector("input[name=genre]").value === "G"`))
}

// TestImportReading reads a file in ways that the check does not find: another encoding, a header that looks like a
// book, columns by number, and two columns as one, which further checks keep.
func TestImportReading(t *testing.T) {
	b := openImport(t)
	b.do("an encoding", drop("e.csv", "name,pages,published_at,author,price,genre,category\n\xca,1,2000-01-01,X,1,G,C\n"),
		reply("encoding", "Another encoding", "Windows-1251"), press("Check again"), figure("new", "1"), until(`document.querySelector("[data-result]").textContent.includes("К")`))
	b.do("again without an answer", drop("e.csv", "name,pages,published_at,author,price,genre,category\n\xca,1,2000-01-01,X,1,G,C\n"), until("document.querySelector('fieldset')"),
		run(`document.querySelector("details").open = true`), put("#read-encoding", "KOI8-R"), press("Read again"), figure("new", "1"), until(`document.querySelector("[data-result]").textContent.includes("й")`))
	b.do("the first row", drop("n.csv", "A One,B Two,100,12.50,2001\nC One,D Two,100,12.50,2001\n"),
		reply("looks like a book", "The first row is a book", ""), reply("Which column is Name?", "#1: A One; C One", ""), reply("Which column is Author?", "#2: ", ""),
		reply("Which column is Pages?", "#3: ", ""), reply("Which column is Price?", "#4: ", ""), reply("Which column is Published?", "#5: ", ""),
		reply("Which column is Genre?", "A value for all", "G"), reply("Which column is Category?", "A value for all", "C"), press("Check again"), figure("new", "2"))
	b.do("no header after all", run(`document.querySelector("details").open = true`), put("#read-header_row", "1"), put("#read-no_header", ""), press("Read again"),
		until(legends+` === "" && document.querySelector(".figures")`), figure("new", "1"))
	b.do("a joined column", drop("j.csv", "Title,First Name,Last Name,Pages,Year,Price,Genre,Category\nA,Ann,One,1,2000,1,G,C\nB,Bob,Two,1,2000,1,G,C\n"),
		figure("new", "2"), run(`document.querySelector(".figures").remove()`), press("Check again"), figure("new", "2"), until(`document.querySelector("[data-result]").textContent.includes("Ann One")`))
}

// TestImportWords: what is wrong with a row is said in the words of the page.
func TestImportWords(t *testing.T) {
	b := openImport(t)
	b.do("wrong dates", drop("books.csv", "Title,author,pages,Year,price,genre,category\nA,B,1,2005-02-30,1,G,C\nB,B,1,,1,G,C\nC,B,1,2005,1,G,C\n"), figure("rejected", "2"))
	for _, row := range []string{"Line 2,Year,2005-02-30,The Published field must be a valid date.,Write a day that exists, like 1982-06-30.",
		"Line 3,Year,,The Published field is required.,Fill it in, or give a default for Published."} {
		b.do(row, until(fmt.Sprintf(`[...document.querySelectorAll("section tr")].some((r) => [...r.cells].map((c) => c.textContent).join() === %q)`, row)))
	}
}

// TestImportLeftOut leaves a column out that was guessed.
func TestImportLeftOut(t *testing.T) {
	b := openImport(t)
	b.do("a check", drop("books.csv", importHeader+"A,B,Not this,1,2005-01-01,1,G,C\n"), figure("new", "1"))
	b.posts()
	b.do("a choice", until(`document.querySelector("select[name=description]").selectedOptions[0].textContent === "description"`), put("select[name=description]", ""),
		until(`document.querySelector("select[name=description]").selectedOptions[0].textContent === "Do not import"`),
		run(`document.querySelector(".figures").remove()`), press("Check again"), until(`document.querySelector("[data-result] h2")`))
	b.do("no description", until(`![...document.querySelectorAll("td")].some((d) => d.textContent === "Not this")`), figure("new", "1"))
	if posts := b.posts(); len(posts) != 1 || !strings.Contains(posts[0], "map=description%3D&") && !strings.HasSuffix(posts[0], "map=description%3D") {
		t.Errorf("sent %q", posts)
	}
}

// TestImportAgain chooses a file, changes it on the disk, and chooses it again.
func TestImportAgain(t *testing.T) {
	b := openImport(t)
	path := filepath.Join(t.TempDir(), "books.csv")
	write := func(rows string) { must(t, os.WriteFile(path, []byte(importHeader+rows), 0o600)) }
	write("A,B,,1,2005-01-01,1,G,C\n")
	b.do("a file", chooseFile(b, path), figure("new", "1"))
	b.do("the same file", run(`document.querySelector("[data-result]").replaceChildren()`), chooseFile(b, path), figure("new", "1"))
	write("A,B,,1,2005-01-01,1,G,C\nB,B,,1,2005-01-01,1,G,C\n")
	b.do("a changed file", press("Check again"), until(`document.querySelector(".problems").textContent === "“books.csv” was changed or removed after you chose it. Choose it again."`))
	b.do("the changed file", chooseFile(b, path), figure("new", "2"), until(`document.querySelector(".problems").hidden`))
}

// TestImportBack checks a file, leaves and comes back: the buttons work.
func TestImportBack(t *testing.T) {
	b := openImport(t)
	b.do("a check", drop("books.csv", importHeader+"Came back,B,,1,2005-01-01,1,G,C\n"), figure("new", "1"))
	b.do("back", click(".brand"), untilAt("^/$"), until(`document.querySelector(".row")`), chromedp.NavigateBack(), untilAt("^/import$"), figure("new", "1"))
	b.do("the import", press("Import 1 book"), figure("created", "1"))
}

// TestImportOther leaves while a file is uploaded, comes back and checks another one.
func TestImportOther(t *testing.T) {
	b := openImport(t)
	hold := run(`window.confirm = () => true; window.real = fetch; window.fetch = async (...request) => { const response = await real(...request); await new Promise((resolve) => { window.release = resolve; }); return response; }`)
	back := chromedp.Steps(click(".brand"), untilAt("^/$"), until(`document.querySelector(".row")`), chromedp.NavigateBack(), untilAt("^/import$"), until(`document.querySelector("book-import")`))
	b.do("one", hold, drop("one.csv", importHeader+"A,B,,1,2005-01-01,1,G,C\n"), until("window.release"), run("window.fetch = real"), back)
	b.do("another", drop("two.csv", importHeader+"A,B,,1,2005-01-01,1,G,C\nB,B,,1,2005-01-01,1,G,C\n"), figure("new", "2"))
	b.do("the response for the first", run("window.release()"), back, figure("new", "2"))
}

// TestImportFails loses the answer of a check, and tries again.
func TestImportFails(t *testing.T) {
	b := openImport(t)
	b.do("no answer", run(`window.real = fetch; window.fetch = () => Promise.reject(new TypeError())`), drop("books.csv", importHeader+"A,B,,1,2005-01-01,1,G,C\n"),
		until(`document.querySelector(".problems").textContent.startsWith("The catalogue did not respond.")`))
	b.do("again", run(`window.fetch = window.real`), press("Try again"), figure("new", "1"), until(`document.querySelector(".problems").hidden`))
}

// TestImportLayout looks at questions, at the result of a check and at rejected rows on every screen: axe finds
// nothing, nothing is wider than the window, no table is cut beside empty space, and no word is broken.
func TestImportLayout(t *testing.T) {
	b := openImport(t)
	b.do("how a column is read", drop("books.csv", importHeader+"A,B,,1,15.2.2005,1,G,C\n"), figure("new", "1"),
		holds(`[...document.querySelectorAll(".reading .table tbody tr")].filter((row) => row.cells[3].textContent).map(({ cells: [name, column, , read] }) =>
			[textTop(name) - textTop(read), textTop(name) - column.querySelector("select").getBoundingClientRect().top]).map(([off, below]) => Math.abs(off) < 2 && below > 4).join() === "true"`))
	rows := importHeader
	for n := range 7 {
		rows += fmt.Sprintf("The unquestionably long name of a book %d,Ursula K. Le Guin,A description of several words,%d,2005-01-01,1.50,Autobiography,Nonfiction\n", n, n)
	}
	for _, file := range []struct{ name, text, shown string }{
		{"checked", rows, "Import 6 books"},
		{"missing", strings.ReplaceAll(rows, "description,pages,", "description,num_pages of this edition,"), "Check again"},
		{"question", strings.Replace(rows, "genre", "shelf of the shop", 1) + "The unquestionably long name of a book 6,Ursula K. Le Guin,A description,7,2005-01-01,1.50,Autobiography,Nonfiction\n", "Check again"},
	} {
		b.do(file.name, drop("books.csv", file.text), until(fmt.Sprintf(`[...document.querySelectorAll("book-import button")].some((b) => b.textContent === %q)`, file.shown)))
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{320, 360, 480, 640, 719, 720, 768, 1024, 1440} {
				b.do("a screen", screen(scheme, width))
				if found := b.faults(brokenWords + ", " + cutTables); found != "" {
					t.Errorf("%s, %s, %d px: %s", file.name, scheme, width, found)
				}
			}
		}
	}
}

// cutTables is an expression for the tables that are cut although the page has room.
const cutTables = `[...document.querySelectorAll(".table")].filter((e) => e.scrollWidth > e.clientWidth && e.clientWidth < document.querySelector("main").clientWidth).map(() => "a table is cut")`

// brokenWords is an expression for the words that lie on two lines.
const brokenWords = `(() => {
	const broken = [], range = document.createRange();
	const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		for (const word of texts.currentNode.data.matchAll(/[^\s-]+(-\d+)*/g)) {
			range.setStart(texts.currentNode, word.index);
			range.setEnd(texts.currentNode, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1) broken.push("broken: " + word[0]);
		}
	}
	return broken;
})()`

// TestImportLookups completes a list of ISBNs on the page. The sources are shown, and what is not found is rejected.
func TestImportLookups(t *testing.T) {
	library := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := ""
		if isbn := r.URL.Query().Get("query"); isbn == "9783161484100" {
			record = `<records><record><recordData><record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a2200000 c 4500</leader>` +
				`<datafield tag="020" ind1=" " ind2=" "><subfield code="a">` + isbn + `</subfield></datafield>` +
				`<datafield tag="100" ind1="1" ind2=" "><subfield code="a">One, Ann</subfield></datafield><datafield tag="245" ind1="1" ind2=" "><subfield code="a">Rivers</subfield></datafield>` +
				`<datafield tag="264" ind1=" " ind2="1"><subfield code="c">1998</subfield></datafield><datafield tag="300" ind1=" " ind2=" "><subfield code="a">304 p.</subfield></datafield>` +
				`<datafield tag="655" ind1=" " ind2=" "><subfield code="a">Waters</subfield></datafield></record></recordData></record></records>`
		}
		fmt.Fprintf(w, `<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>%s</searchRetrieveResponse>`, record)
	}))
	t.Cleanup(library.Close)
	s := start(t, "--lookup="+library.URL+"/?query={isbn}")
	b := open(t, s)
	b.do("the page", b.goTo("/import"), until(`customElements.get("book-import")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
	b.do("look-ups", drop("isbns.txt", "9783161484100\n9780306406157\n"), press("Look up what is missing"), figure("rejected", "2"),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent.startsWith("Rivers 127.0.0.1:"))`),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent === "No source has the book.")`))
	b.do("values for all", put(`input[aria-label="Value of Price if empty"]`, "5"), put(`input[aria-label="Value of Category if empty"]`, "Nature"),
		press("Check again"), figure("new", "1"), press("Import 1 book"), figure("created", "1"))
	b.do("the book", click(`book-import a[href^="/?since="]`), until(`document.querySelector("main").textContent.includes("Rivers")`))
}
