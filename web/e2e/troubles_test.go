package e2e

import (
	"fmt"
	"testing"
)

// TestTroubles goes from a pair of authors to their books, and marks it as different and not, on a phone.
func TestTroubles(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an editor", window(360, 800), b.welcome(s.invite(t, "ada", "editor")))
	for i, author := range []string{"Flann O'Brien", "Flann O'Brian", "A very long name that ends in a word without a space, Donaudampfschifffahrtsgesellschaftskapitaen", "A very long name that ends in a word without a space, Donaudampfschifffahrtsgesellschaftskapitaenn"} {
		b.do(author, run(fmt.Sprintf(`fetch("/graphql", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query: "mutation ($author: String!) { createBook(input: {name: \"Found %d\", pages: 2, publishedAt: \"2000-01-01\", author: $author, price: 1, genreId: 1}) { book { id } } }", variables: { author: %q } }) }).then((r) => window.stored = r.ok)`, i, author)), until(`window.stored`), run(`window.stored = false`))
	}
	b.do("the page", b.goTo("/"), click(".menu-button"), click(".account summary"), click("[href='/troubles']"), untilAt(`^/troubles$`), until(`document.querySelectorAll("differ-button button").length === 2`),
		until(`[...document.querySelectorAll("h2")].map((e) => e.textContent).join().startsWith("Authors that may be one 2")`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	b.do("their books", click("[href*='Flann']"), untilAt(`^/\?author=`), until(`document.querySelectorAll(".row").length === 2`))
	b.do("not the same", b.goTo("/troubles"), until(`document.querySelectorAll("differ-button button").length === 2`), click("[data-first^='Flann'] button"), says("Marked as not the same. Undo"),
		until(`document.querySelector("h2 .count").textContent === "1" && document.querySelector("details [data-first^='Flann']")`))
	b.do("its undo", click("#live button"), says("The mark was taken back. Undo"), until(`document.querySelector("h2 .count").textContent === "2" && !document.querySelector("#main details")`))
	b.do("later", click("[data-first^='Flann'] button"), says("Marked as not the same. Undo"), b.goTo("/troubles"), until(`document.querySelector("details [data-first^='Flann'] button")`),
		click("#main summary"), click("details differ-button button"), says("The mark was taken back. Undo"))
}
