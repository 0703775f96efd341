package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// formAt opens a form in a tab with a token.
func formAt(b *browser, path string) step {
	open := chromedp.Steps(b.goTo(path), until(`customElements.get("book-form") && document.documentElement.classList.contains("scripted")`))
	return chromedp.Steps(open, run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, b.service.token)), open)
}

// fill fills the form of a new book in an existing genre.
func fill(name, price string) step {
	return chromedp.Steps(write("#name", name), write("#author", "Michael Ende"), write("#publishedAt", "1973-01-01"), write("#pages", "304"), write("#price", price),
		put("#genreId", "1"), run(`document.querySelector("#genreId").dispatchEvent(new Event("input", {bubbles: true}))`))
}

// choose chooses a new genre, with a category.
func choose(genre, category string) step {
	return chromedp.Steps(put("#genreId", "new"), run(`document.querySelector("#genreId").dispatchEvent(new Event("input", {bubbles: true}))`),
		write("#newGenre", genre), write("#newCategory", category))
}

// TestWrongFields sends a form in which all is wrong: each field has a message in the words of the page, beside its hint.
// Mended fields have their hint only.
func TestWrongFields(t *testing.T) {
	b := open(t, start(t))
	b.do("the form", formAt(b, "/books/1/edit"))
	says := func(field, text string) step {
		return until(fmt.Sprintf(`document.getElementById(%q)?.textContent === %q`, field+"-wrong", text))
	}
	describedBy := func(field, ids string) step {
		return until(fmt.Sprintf(`document.getElementById(%q).getAttribute("aria-describedby") === %q`, field, ids))
	}
	b.do("the hints", describedBy("pages", "pages-hint"), describedBy("price", "price-hint"), describedBy("publishedAt", "publishedAt-hint"))
	b.do("wrong", write("#pages", "12o"), write("#price", "1.250"), write("#publishedAt", "03/04/2001"), write("#author", ""), write("#isbn", "12"), choose("", ""), click("book-form .main"),
		says("isbn", "This has 2 digits. An ISBN has 10 or 13."), // only the server knows ISBNs
		says("pages", "Write a whole number, like 304."), says("price", "“1.250” can be read in two ways. Write 1250.00 or 1.25."),
		says("publishedAt", "“03/04/2001” can be read in two ways. Write 2001-03-04 or 2001-04-03."), says("author", "Required"), says("newGenre", "Required"),
		describedBy("author", "author-hint author-wrong"), describedBy("pages", "pages-hint pages-wrong"),
		until(`document.querySelector(".problems").textContent === "Not saved. Check these fields: Author, New genre, Its category, Published, Pages, Price, ISBN."`))
	b.do("too many", write("#pages", "1000001"), click("book-form .main"), says("pages", "Write 1,000,000 or less."))
	b.do("mended", write("#pages", "12"), write("#author", "Ende, Michael"), run(`document.getElementById("author").dispatchEvent(new Event("change"))`),
		until(`document.querySelector(".offer")?.textContent === "One person: Michael Ende"`), click(".offer"), until(`document.getElementById("author").value === "Michael Ende"`), click("book-form .main"), until(`!document.getElementById("pages-wrong")`),
		describedBy("author", "author-hint"), describedBy("pages", "pages-hint"))
}

// TestAuthorOffers writes authors with a comma, and chooses between one person and two.
func TestAuthorOffers(t *testing.T) {
	b := open(t, start(t))
	wrote := func(author, offers string) step {
		return chromedp.Steps(write("#author", author), run(`document.getElementById("author").dispatchEvent(new Event("change"))`),
			until(fmt.Sprintf(`[...document.querySelectorAll(".offer")].map((e) => e.textContent).join(" | ") === %q`, offers)),
			until(fmt.Sprintf(`document.getElementById("author").value === %q`, author)))
	}
	b.do("the form", formAt(b, "/books/1/edit"))
	b.do("three names", wrote("King, Martin Luther, Jr.", "Write “Martin Luther King Jr.”"))
	b.do("two names", wrote("Goscinny, Uderzo", "One person: Uderzo Goscinny | Two persons: Goscinny; Uderzo"),
		until(`(([one, two]) => one.bottom <= two.top)([...document.querySelectorAll(".offer")].map((e) => e.getBoundingClientRect()))`))
	b.do("two persons", click(".offer + .offer"), until(`document.getElementById("author").value === "Goscinny; Uderzo" && document.activeElement.id === "author" && !document.querySelector(".offer")`))
	b.do("saved", click("book-form .main"), untilAt(`^/books/1$`), until(`[...document.querySelectorAll(".authors a")].map((e) => e.textContent).join(" | ") === "Goscinny | Uderzo"`))
}

// TestFieldWords sends values that the server refuses. The form says in its own words what to write.
func TestFieldWords(t *testing.T) {
	b := open(t, start(t))
	b.do("the form", formAt(b, "/books/1/edit"))
	for _, tt := range []struct{ field, value, words string }{
		{"isbn", "978-3-16-148410-1", "The last digit should be 0, or another digit is wrong."},
		{"isbn", "0-8044-2957-1", "The last digit should be X, or another digit is wrong."},
		{"isbn", "3161484105", "The last digit should be X, or another digit is wrong."},
		{"isbn", "ISBN 978316148410", "This has 12 digits. An ISBN has 10 or 13."},
		{"isbn", "4006381333931", "An ISBN of 13 digits begins with 978 or 979."},
		{"isbn", "9.78316E+12", "An ISBN has digits and hyphens only. The last of 10 may be X."},
		{"language", "deutchs", "“deutchs” is not a language. Write its name or its code, like German or de."},
		{"pages", "0", "Write 1 or more."},
		{"pages", "1.5", "Write a whole number, like 304."},
		{"price", "-3", "Write 0 or more."},
		{"price", "100000000", "Write 99,999,999.99 or less."},
		{"price", "abc", "Write an amount, like 15.71."},
		{"publishedAt", "soon", "Write a year or a day, like 1969 or 1969-01-31."},
	} {
		b.do(tt.field+" "+tt.value, run(fmt.Sprintf(`window.old = document.querySelector(%q).value`, "#"+tt.field)), write("#"+tt.field, tt.value), click("book-form .main"),
			until(fmt.Sprintf(`!document.querySelector("book-form .main").disabled && document.getElementById("%s-wrong")?.textContent === %q`, tt.field, tt.words)),
			until(`document.querySelectorAll(".wrong-text").length === 1`), run(fmt.Sprintf(`document.querySelector(%q).value = old`, "#"+tt.field)))
	}
	b.do("too long", run(`document.querySelector("#name").removeAttribute("maxlength"); document.querySelector("#name").value = "é".repeat(1001)`), click("book-form .main"),
		until(`document.getElementById("name-wrong")?.textContent === "Shorten this to 1,000 characters. It has 1,001."`))
}

// TestNotations writes values as people do. The form keeps a year, and shows the other values as they are stored.
func TestNotations(t *testing.T) {
	b := open(t, start(t))
	is := func(field, value string) step {
		return until(fmt.Sprintf(`document.querySelector("#%s").value === %q`, field, value))
	}
	b.do("a new book", formAt(b, "/books/new"), fill("Momo", "1 234,50 €"), write("#publishedAt", "1957"), write("#pages", "127 S."), click("book-form .main"), untilAt(`^/books/\d+$`),
		until(`[...document.querySelectorAll(".facts dd")].slice(0, 3).map((d) => d.textContent).join() === "1957,127,1234.50"`))
	b.do("its form", click("[data-edit]"), untilAt("edit$"), is("publishedAt", "1957"), is("pages", "127"), is("price", "1234.50"))
	b.do("a day", write("#publishedAt", "31.12.1999"), click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts dd").textContent === "31 December 1999"`))
}

// loseResponse loses the response to the next request.
var loseResponse = run(`(() => { const real = window.fetch; window.fetch = async (...request) => { window.fetch = real; await real(...request); throw new TypeError("lost"); }; })()`)

// reload loads a form again, without the question of the browser.
func reload(b *browser, path string) step {
	return chromedp.Steps(run(`document.querySelector("book-form").done = true`), formAt(b, path))
}

// TestLostAnswer loses the response to a create. The same form again is the same book; an edited one is a new book only
// after a question.
func TestLostAnswer(t *testing.T) {
	b := open(t, start(t))
	named := func(name string, count int) step {
		return until(fmt.Sprintf(`(fetch("/api/books?per_page=1&q=%s").then((r) => { window.found = r.headers.get("X-Total-Count"); }), window.found === "%d")`, name, count))
	}
	b.do("lost", formAt(b, "/books/new"), fill("Momo", "9.99"), loseResponse, click("book-form .main"), until(`document.querySelector(".problems").textContent.includes("did not respond")`))
	b.do("the same again", click("book-form .main"), untilAt(`^/books/\d+$`), named("Momo", 1))

	b.do("lost again", formAt(b, "/books/new"), fill("Jojo", "9.99"), loseResponse, click("book-form .main"), until(`document.querySelector(".problems").textContent.includes("did not respond")`))
	b.do("edited, in a tab that was loaded again", reload(b, "/books/new"),
		write("#price", "8.88"), click("book-form .main"), until(`document.querySelector(".problems").textContent.includes("“Jojo” may be stored already")`),
		until(`document.querySelector(".problems a").getAttribute("href") === "/?q=Jojo&sort=added"`), named("Jojo", 1))
	b.do("a new book", click(".problems button"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts").textContent.includes("8.88")`), named("Jojo", 2))
}

// TestNextPageFails saves a new book twice. The page after the first save does not load, so that the form stays.
func TestNextPageFails(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	noPages := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/graphql" {
			p.forward.ServeHTTP(w, r)
			return
		}
		http.Error(w, "", http.StatusBadGateway)
	}
	b.do("saved", formAt(b, "/books/new"), fill("Momo", "9.99"), p.fail(noPages), click("book-form .main"), says("Saved."), p.fail(nil))
	b.do("edited", write("#name", "Jojo"), reload(b, "/books/new"), click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector("h1").textContent === "Jojo"`))
}

// TestSaveOnce presses the keys of Save while a save runs.
func TestSaveOnce(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	b.do("the form", formAt(b, "/books/1/edit"), write("#price", "1.23"))
	var saves atomic.Int32
	release := make(chan struct{})
	slow := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			saves.Add(1)
			<-release
		}
		p.forward.ServeHTTP(w, r)
	}
	keys := run(`document.querySelector("book-form").dispatchEvent(new KeyboardEvent("keydown", { key: "s", ctrlKey: true, bubbles: true, cancelable: true }))`)
	b.do("twice", p.fail(slow), keys, until(`document.querySelector("book-form .main").disabled`), keys)
	close(release)
	b.do("saved", untilAt("^/books/1$"), says("Saved."))
	if saves.Load() != 1 {
		t.Errorf("%d saves", saves.Load())
	}
}

// TestNewGenre gives a book a new genre while it is edited, in a category that is there, and in a new one.
func TestNewGenre(t *testing.T) {
	b := open(t, start(t))
	for _, category := range []string{"Tales", "Tales"} {
		b.do(category, formAt(b, "/books/1/edit"), choose("Fairy tales", category), click("book-form .main"), untilAt(`^/books/1$`),
			until(`document.querySelector(".path").textContent.replace(/\s+/g, " ").includes("Tales / Fairy tales")`))
	}
	b.do("one category", until(`(fetch("/api/categories?q=Tales").then((r) => r.json()).then((list) => { window.found = list.data.length; }), window.found === 1)`))
}

// TestAddAnother saves a book and goes on with a form that has the genre, the publisher and the language of the book. Its first field
// has the focus, as that of the first form has.
func TestAddAnother(t *testing.T) {
	b := open(t, start(t))
	begun := until(`location.pathname === "/books/new" && document.querySelector("#name").value === "" && document.activeElement.id === "isbn"`)
	keeps := func(genre string) step {
		return until(fmt.Sprintf(`document.querySelector("#genreId").selectedOptions[0].textContent === %q && document.querySelector("#publisher").value === "Thienemann" && document.querySelector("#language").value === "German" && document.querySelector("#author").value === "" && !document.querySelector("book-form").dirty()`, genre))
	}
	more := chromedp.Steps(write("#publisher", "Thienemann"), write("#language", "German"))
	b.do("by a link", b.goTo("/"), scripted, click(`.actions [href="/books/new"]`), begun)
	b.do("the first", formAt(b, "/books/new"), begun, fill("Momo", "9.99"), more, choose("Fairy tales", "Tales"), click("[data-another]"), begun, says("“Momo” was saved."), keeps("Fairy tales"))
	b.do("the second", fill("Jojo", "9.99"), click("[data-another]"), begun, says("“Jojo” was saved."), until(`document.querySelector("#genreId").value === "1"`))
	b.do("the third", fill("Jim Button", "8.88"), click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector("h1").textContent === "Jim Button" && document.querySelector(".facts").textContent.includes("Thienemann")`))
}

// TestBookMet types an ISBN that a book has.
func TestBookMet(t *testing.T) {
	s := start(t)
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {isbn: "9783161484100"}}) { book { id } } }`)
	b := open(t, s)
	isbn := func(text string) step {
		return chromedp.Steps(write("#isbn", text), run(`document.getElementById("isbn").dispatchEvent(new Event("change"))`))
	}
	b.do("another book", formAt(b, "/books/2/edit"), isbn("3-16-148410-X"), until(`document.querySelector(".met a")?.getAttribute("href") === "/books/1"`),
		isbn("9780306406157"), until(`!document.querySelector(".met").textContent`))
}
