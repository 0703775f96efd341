package e2e

import (
	"fmt"
	"testing"
)

// TestHistory changes and deletes a book, looks at what was changed and by whom, and takes it back.
func TestHistory(t *testing.T) {
	s := start(t)
	b := open(t, s)
	token := run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token))
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {name: "Another name", publisher: "Two  spaces"}}) { book { id } } }`)
	b.do("the history", b.goTo("/books/1"), click(`[href="/books/1/history"]`), untilAt("^/books/1/history$"),
		until(`document.querySelectorAll(".history > li").length === 2 && document.querySelector(".differences ins").textContent === "Another name"`),
		until(`[...document.querySelectorAll(".differences ins")].some((e) => e.innerText === "Two  spaces")`), until(`!document.querySelector("[data-actor]").textContent`))
	b.do("with a token", token, b.goTo("/books/1/history"), until(`document.querySelector("[data-actor]").textContent.startsWith(", by ")`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	b.do("restored", click("restore-button button"), untilAt("^/books/1$"), says("Restored. Undo"), until(`document.querySelector("h1").textContent !== "Another name"`))
	b.do("its undo", click("#live button"), says("The previous values are back."), until(`document.querySelector("h1").textContent === "Another name"`))
	s.graphQL(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`)
	b.do("a deleted book", b.goTo("/books/1"), until(`document.querySelector("h1").textContent === "Another name was deleted."`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	b.do("its restore", click("restore-button button"), untilAt("^/books/1$"), says("The book is back."), until(`document.querySelector("h1").textContent === "Another name"`))
	s.graphQL(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`)
	b.do("from its history", b.goTo("/books/1/history"), click(".note restore-button button"), untilAt("^/books/1$"), says("The book is back."))
}

// TestLivePages changes books as another program would: the pages follow, but not while the user types.
func TestLivePages(t *testing.T) {
	s := start(t)
	b := open(t, s)
	rename := func(id int, name string) {
		t.Helper()
		s.graphQL(t, fmt.Sprintf(`mutation { updateBook(input: {id: %d, patch: {name: %q}}) { book { id } } }`, id, name))
	}
	b.do("a book", b.goTo("/books/2"), followed)
	rename(2, "First")
	b.do("it follows", until(`document.querySelector("h1").textContent === "First" && document.querySelector(".fresh")`))
	held := run(`window.later = []; window.setTimeout = ((set) => (act, delay, ...rest) => delay === 1000 ? later.push(act) : set(act, delay, ...rest))(setTimeout)`)
	b.do("the list", b.goTo("/?q=first"), until(`document.querySelector(".row[data-book='2']")`), followed, held, focus("#q"))
	rename(2, "First again")
	b.do("not while typing", until(`later.length === 1`), run(`later[0]()`), until(`later.length === 2 && document.querySelector(".row[data-book='2'] h2").textContent === "First"`))
	b.do("then", run(`document.getElementById("q").blur(); later[1]()`), until(`document.querySelector(".row.fresh[data-book='2'] h2").textContent === "First again"`))
	b.do("the list again", b.goTo("/?q=first"), until(`document.querySelector(".row[data-book='2']")`), followed)
	b.do("hidden", hide(true))
	rename(2, "First once more")
	b.do("visible again", hide(false), until(`document.querySelector(".row[data-book='2'] h2").textContent === "First once more"`))
	b.do("an own change", run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), b.goTo("/books/2/edit"), until(`customElements.get("book-form") && document.querySelector("#price")`),
		write("#price", "1.23"), click("book-form .main"), untilAt(`^/books/2$`), says("Saved."))
	b.do("is there already", held, until(`document.querySelector(".facts").textContent.includes("1.23")`))
	rename(2, "By others")
	b.do("those of others are not", until(`later.length`), run(`later.length === 1 && later[0]()`), until(`document.querySelector(".book.fresh h1").textContent === "By others"`), says("Saved."))
}
