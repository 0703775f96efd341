package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// scripted waits for the scripts of a page.
var scripted = until(`document.documentElement.classList.contains("scripted")`)

// TestView uses the menu of a list: it copies the link, if the browser allows it, shows the query, and closes at Escape and at a press elsewhere.
func TestView(t *testing.T) {
	b := open(t, start(t))
	b.do("the list", b.goTo("/?q=love"), scripted, run(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`))
	b.do("escape", click(".view summary"), until(`document.querySelector(".view[open]")`), chromedp.KeyEvent(kb.Escape), until(`!document.querySelector(".view[open]") && document.activeElement.matches(".view summary")`))
	b.do("elsewhere", click(".view summary"), until(`document.querySelector(".view[open]")`), click("h1"), until(`!document.querySelector(".view[open]")`))
	b.do("copy", click(".view summary"), click("copy-button button"), until(`window.copied === location.href && document.querySelector("#live").textContent === "The link was copied."`))
	b.do("no copy", run(`navigator.clipboard.writeText = async () => { throw new DOMException("", "NotAllowedError"); }`), click(".view summary"), click("copy-button button"), says("The link was not copied."))
	b.do("JSON", until(`(fetch(document.querySelector(".view a[href*='format=json']").href).then((r) => r.json()).then((list) => { window.found = list.data.length; }), window.found === document.querySelectorAll(".row").length)`))
	b.do("the query", click(".view summary"), click(`.view a[href^="/playground"]`), untilAt("^/playground"))
}

// TestFindInFilter finds genres and authors that the filter does not show, and ticks one of them.
func TestFindInFilter(t *testing.T) {
	b := open(t, start(t))
	find := func(name, text string) step {
		field := "#find_" + name
		return chromedp.Steps(focus(field), run(fmt.Sprintf(`document.querySelector(%q).value = ""`, field)), chromedp.KeyEvent(text))
	}
	shown := func(name, text string) step {
		return until(fmt.Sprintf(`[...document.querySelector("#find_%s").closest("fieldset").querySelectorAll(".value")].every((v) => v.textContent.toLowerCase().includes(%q))`, name, text))
	}
	b.do("the list", b.goTo("/"), scripted)
	b.do("a genre", find("genre", "po"), shown("genre", "po"), chromedp.KeyEvent(kb.Enter), until(`location.search === "" && document.querySelector("#find_genre").value === "po"`))
	b.do("an author", find("author", "lewis"), shown("author", "lewis"), until(`document.querySelector("#find_author").closest("fieldset").querySelector(".values input")`))
	b.do("the books", click("[name=author]"), untilAt("^/\\?author="), until(`document.querySelector(".chip").textContent.toLowerCase().includes("lewis")`),
		until(`[...document.querySelectorAll(".by")].every((by) => by.textContent.toLowerCase().includes("lewis"))`))
	b.do("none", find("author", "zzzz"), until(`document.querySelector("#find_author").closest("fieldset").textContent.includes("None found.") || document.querySelectorAll("[name=author]").length === 1`))
}

// TestTabsReachBooksFirst tabs from the heading: books come before the filter, and a link leads there.
func TestTabsReachBooksFirst(t *testing.T) {
	b := open(t, start(t))
	b.do("the list", b.goTo("/?q=love"), scripted, focus("#main"))
	const tabs = 20
	for range tabs {
		b.do("a tab", chromedp.KeyEvent(kb.Tab))
		at, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`document.activeElement.closest(".row") ? "row" : document.activeElement.closest(".facets") ? "filter" : document.activeElement.getAttribute("href") === "#filter" ? "skip" : ""`))
		must(t, err)
		switch at {
		case "row":
			return
		case "filter":
			t.Fatal("the filter comes before the books")
		case "skip":
			b.do("the filter", chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab), until(`document.activeElement.closest(".facets")`), focus(`a[href="#filter"]`))
		}
	}
	t.Fatalf("no book after %d tabs", tabs)
}

// TestKeys lists the keys, and turns single keys off and on.
func TestKeys(t *testing.T) {
	b := open(t, start(t))
	b.do("the keys", b.goTo("/"), scripted, chromedp.KeyEvent("?"), until(`document.querySelector("dialog[open] .keys").textContent.includes("Next book")`))
	b.do("off", click("#single-keys"), chromedp.KeyEvent(kb.Escape), until(`!document.querySelector("dialog")`), b.goTo("/"), scripted, focus("#main"), chromedp.KeyEvent("j"), chromedp.KeyEvent("?"), chromedp.KeyEvent("/"),
		until(`document.activeElement.id === "main" && !document.querySelector("dialog")`))
	b.do("on", click("[data-keys]"), click("#single-keys"), click("dialog .button"), until(`!document.querySelector("dialog")`), focus("#main"), chromedp.KeyEvent("j"), until(`document.activeElement.closest(".row")`))
}

// TestGenreTools looks for the buttons of a genre: they are there with a token, and seen at the genre alone.
func TestGenreTools(t *testing.T) {
	s := start(t)
	b := open(t, s)
	seen := `getComputedStyle(document.querySelector(".genre-list .tools")).opacity`
	hidden := `document.querySelector(".genre-list delete-button").checkVisibility()`
	b.do("without a token", b.goTo("/genres"), scripted, until(`document.querySelector(".genre-list delete-button button")`), until("!"+hidden))
	b.do("with a token", run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), b.goTo("/genres"), scripted, until(hidden))
	b.do("focus", focus(".genre-list delete-button button"), until(seen+` === "1"`), focus("#main"), until(seen+` === "0"`))
}

// TestNothingOnPhones looks for nothing on a phone: the ways out can be seen at once.
func TestNothingOnPhones(t *testing.T) {
	b := open(t, start(t))
	b.do("nothing", screen("light", 360), b.goTo("/?q=zzzzqq&genre=1"), scripted, until(`document.querySelector(".ways-out").getBoundingClientRect().bottom < 400`))
	b.do("a form", b.goTo("/books/new"), scripted, until(`!document.querySelector(".cover").checkVisibility() && !document.querySelector(".by-key").checkVisibility()`))
}

// isAtMessage waits until no dialog is open and the focus is at the message, or at its button.
func isAtMessage(selector string) step {
	return until(fmt.Sprintf(`!document.querySelector("dialog") && document.activeElement === document.querySelector(%q)`, selector))
}

// The buttons of the dialog that changes ticked books.
const (
	showChanges  = "dialog [data-values] .main"
	writeChanges = "dialog [data-preview] .main"
)

// TestTickedBooks ticks books: it exports them, gives them a genre and deletes them. A dialog is for the books that were
// ticked when it opened.
func TestTickedBooks(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	s := p.service
	tick := func(n int) step { return click(fmt.Sprintf(".row:nth-child(%d) .tick", n)) }
	ticked := func(text string) step {
		return until(fmt.Sprintf(`document.querySelector(".ticked strong").textContent === %q`, text))
	}
	b.do("the list", b.goTo("/?sort=name"), scripted, until(`document.querySelector("copy-button button")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
	b.do("two", tick(1), tick(3), ticked("2 books ticked"), run(`window.chosen = [1, 3].map((n) => document.querySelector(".row:nth-child(" + n + ")").dataset.book)`))
	b.do("export", until(`(fetch(document.querySelector(".ticked [data-format=json]").href).then((r) => r.json()).then((list) => { window.found = list.data.map((book) => String(book.id)).sort().join(); }), window.found === chosen.toSorted().join())`))
	b.do("too many requests", until(`performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/undo.js"))`), p.fail(tooMany), click("[data-change]"), says("Try again in 7 s."), click("#live button"), says("Try again in 7 s."), p.fail(nil), click("#live button"))
	b.do("a genre", until(`document.querySelectorAll("dialog option").length > 20`), run(`document.querySelector("dialog select").value = [...document.querySelectorAll("dialog option")].find((o) => o.textContent === "Horror").value`),
		run(`document.querySelector(".tick:checked").checked = false`), click(showChanges), click(writeChanges), until(`document.querySelector("#live").textContent.startsWith("Changed: 2 books.")`), isAtMessage("#live button"),
		until(`[1, 3].every((n) => document.querySelector(".row:nth-child(" + n + ") .genre").textContent === "Horror") && document.querySelector(".ticked").hidden`))
	b.do("the same genre", tick(1), click("[data-change]"), until(`document.querySelectorAll("dialog option").length > 20`), run(`document.querySelector("dialog select").value = [...document.querySelectorAll("dialog option")].find((o) => o.textContent === "Horror").value`),
		click(showChanges), until(`document.querySelector("dialog h2").textContent === "No book changes" && document.querySelector("[data-same]").textContent === "1 book has these values already."`),
		click("[data-back]"), click("dialog [data-close]"), until(`!document.querySelector("dialog")`), click("[data-none]"))
	b.do("delete by keys", focus("#main"), chromedp.KeyEvent("j"), chromedp.KeyEvent("x"), ticked("1 book ticked"), tick(3), ticked("2 books ticked"), click("[data-delete]"),
		until(`document.querySelectorAll("dialog .names li").length === 2`), click("dialog .danger"),
		until(`document.querySelector("#live").textContent.startsWith("Deleted: 2 books.") && document.querySelector("h1").textContent === "298 books"`), isAtMessage("#live button"))
	b.do("all and none", tick(1), click("[data-all]"), ticked("30 of 298 books ticked"), click("[data-none]"), until(`document.querySelector(".ticked").hidden && document.activeElement.closest(".row")`))
}

// TestTickedFound ticks all books that a list has found, also those of its other pages, gives them a genre and deletes them. Each has an
// Undo, which leaves the books that someone has changed since and names them.
func TestTickedFound(t *testing.T) {
	s := start(t)
	b := open(t, s)
	s.graphQL(t, `mutation { updateBooks(input: {filter: {id: {in: [2, 3]}}, patch: {author: "Found Author"}, atMost: 2}) { count } }`)
	s.graphQL(t, `mutation { updateBooks(input: {filter: {id: {gt: 3, lte: 37}}, patch: {author: "Found Author"}, atMost: 34}) { count } }`)
	ticked := func(text string) step {
		return until(fmt.Sprintf(`document.querySelector(".ticked strong").textContent === %q`, text))
	}
	all := chromedp.Steps(click(".row .tick"), click("[data-all]"), ticked("30 of 36 books ticked"), until(`document.querySelector("[data-all]").textContent === "Tick all 36"`),
		click("[data-all]"), ticked("36 books ticked"), until(`document.querySelector("[data-all]").hidden`))
	genre := func(id int) step {
		choose := fmt.Sprintf(`document.querySelector("dialog select").value = %d`, id)
		return chromedp.Steps(click("[data-change]"), until(`document.querySelectorAll("dialog option").length > 20`), run(choose), click(showChanges), click(writeChanges))
	}
	genres := `fetch("/api/books?author=Found+Author&sort=id").then((r) => r.json()).then((list) => { window.found = list.data.map((book) => book.id + ":" + book.genre_id + ":" + book.name).join(); })`
	b.do("the list", b.goTo("/?author=Found+Author"), scripted, run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)),
		chromedp.Evaluate[chromedp.Void](genres, chromedp.EvalAwaitPromise), run(`window.before = found`))
	same := until(`(` + genres + `, found === before)`)
	b.do("a part", all, click(".row .tick"), ticked("35 books ticked"), click("[data-none]"))
	b.do("a genre", all, genre(6), says("Changed: "), until(`(`+genres+`, found.split(",").every((book) => book.includes(":6:")))`), until(`document.querySelectorAll(".row").length === 30`))
	b.do("its undo", click("#live button"), says("The previous values are back: "), same)
	b.do("a genre again", all, genre(6), says("Changed: "))
	s.graphQL(t, `mutation { updateBook(input: {id: 20, patch: {price: "7.77"}}) { book { id } } }`)
	b.do("its undo but for one", click("#live button"), says("Undone for 34 books. Not undone for “The Compleat Works of"), says("was changed by someone else"),
		until(`(`+genres+`, found.split(",").filter((book) => !before.includes(book)).map((book) => book.slice(0, 5)).join() === "20:6:")`))
	b.do("deleted", all, click("[data-delete]"), until(`document.querySelectorAll("dialog .names li").length === 36`), click("dialog .danger"), says("Deleted: 36 books."), until(`document.querySelector("h1").textContent === "Nothing found"`))
	b.do("its undo", click("#live button"), says("Back again: 36 books."), until(`document.querySelector("h1").textContent === "36 books"`))
}

// TestChangeMany merges an author in three spellings over 290 books at 360 px, beside a change by someone else, and
// undoes it.
func TestChangeMany(t *testing.T) {
	s := start(t)
	b := open(t, s)
	for from, author := range map[int]string{0: "Le Guin, Ursula K.", 100: "U. K. LeGuin", 200: "Ursula LeGuin; Ann One (ed.)"} {
		s.graphQL(t, fmt.Sprintf(`mutation { updateBooks(input: {filter: {id: {gt: %d, lte: %d}}, patch: {author: %q}, atMost: 100}) { count } }`, from, min(from+100, 290), author))
	}
	found := `fetch("/graphql", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({query: "{ books(first: 1000, orderBy: [{field: ID}]) { nodes { id author } } }"})}).then((r) => r.json()).then(({data}) => { window.found = data.books.nodes.map(({ id, author }) => id + ":" + author).join("|"); })`
	read := chromedp.Evaluate[chromedp.Void](found, chromedp.EvalAwaitPromise)
	preview := func(condition string) step {
		return until(`!document.querySelector("[data-preview]").hidden && ` + condition)
	}
	b.do("the list", screen("light", 360), b.goTo("/?sort=name"), scripted, run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), read, run(`window.before = found`))
	b.do("all", click(".row .tick"), click("[data-all]"), click("[data-all]"), until(`document.querySelector(".ticked strong").textContent === "300 books ticked"`), click("[data-change]"),
		until(`document.querySelectorAll("dialog [name=from]").length >= 4`))
	b.do("nothing", click(showChanges), until(`document.querySelector("dialog [role=alert]").textContent === "Fill in at least one value."`))
	b.do("the author", run(`for (const box of document.querySelectorAll("dialog [name=from]")) if (/Gu/.test(box.value)) box.click()`), put("dialog [name=to]", "Ursula K. Le Guin"),
		click(showChanges), preview(`document.querySelector("dialog h2").textContent === "Change 290 books?" && document.querySelectorAll("[data-preview] .names > li").length === 290 && document.querySelector("[data-preview] .main").textContent === "Change 290 books"`))
	if faults := b.faults(""); faults != "" {
		t.Errorf("the preview: %s", faults)
	}
	s.graphQL(t, `mutation { updateBook(input: {id: 20, patch: {pages: 777}}) { book { id } } }`)
	b.do("a conflict", click(writeChanges), until(`/^Nothing was changed yet, because others changed these books: “[^”]+”\./.test(document.querySelector("dialog [role=status]").textContent)`), read, until(`found === before`))
	b.do("written", click(writeChanges), says("Changed: 290 books."), read,
		until(`found.split("|").filter((book) => book.endsWith(":Ursula K. Le Guin")).length === 200 && found.split("|").filter((book) => book.endsWith(":Ursula K. Le Guin; Ann One (ed.)")).length === 90`))
	b.do("undone", click("#live button"), says("The previous values are back: 290 books."), read, until(`found === before`))
	b.do("prices", click(".row .tick"), click("[data-change]"), until(`document.querySelector("dialog [name=percent]")`), put("dialog [name=percent]", "-100"), click(showChanges),
		preview(`document.querySelector("[data-preview] .names ins").textContent === "0.00"`))
	b.do("refused", click("[data-back]"), put("dialog [name=language]", "nonsense"), click(showChanges),
		until(`document.querySelector("dialog [role=alert]").textContent.includes("language")`))
}
