package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLog filters the log of changes, and opens the history of a book from it.
func TestLog(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an editor", b.welcome(s.invite(t, "ada", "editor")))
	b.do("a change", b.goTo("/books/1/edit"), until(`customElements.get("book-form")`), write("#name", "Renamed"), click("book-form .main"), untilAt(`^/books/1$`))
	b.do("the log", click(".account summary"), click("[href='/changes']"), untilAt(`^/changes$`),
		until(`document.querySelector(".entries li").textContent.replace(/\s+/g, " ").includes("Changed book Renamed") && document.querySelector(".entries li").textContent.includes("version 2") && document.querySelector(".entries li").textContent.includes("by ada")`),
		until(`document.querySelector(".entries > li:nth-child(2) summary").textContent.startsWith("Added 300 books · Added ") && !document.querySelector("[rel=next]")`))
	b.do("a filter", put("[name=what]", "UPDATE"), click(".filters .button"), untilAt(`^/changes\?.*what=UPDATE`), until(`document.querySelectorAll(".entries li").length === 1 && document.querySelector("[name=what]").value === "UPDATE"`))
	if faults := b.faults(""); faults != "" {
		t.Errorf("the log: %s", faults)
	}
	b.do("its history", click(".entries [href='/books/1/history']"), untilAt(`^/books/1/history$`))
	b.do("many books", b.goTo("/?sort=name"), scripted, click(".tick"), click("[data-all]"), click("[data-change]"), until(`document.querySelectorAll("dialog option").length > 20`), run(`document.querySelector("dialog select").value = 5`),
		click(showChanges), click(writeChanges), says("Changed: "), b.goTo("/changes"), until(`/^Changed (29|30) books$/.test(document.querySelector(".entries summary").textContent)`))
	b.do("their names", click(".entries summary"), until(`document.querySelector(".entries details[open] ol [href^='/books/']").checkVisibility()`))
	b.do("their values", click("[href^='/changes/books']"), untilAt(`^/changes/books`), until(`document.querySelectorAll(".differences").length >= 29 && [...document.querySelectorAll(".differences")].every((d) => d.querySelectorAll("dt").length === 1 && d.querySelector("dt").textContent === "Genre" && d.querySelector("del") && d.querySelector("ins"))`))
	if faults := b.faults(""); faults != "" {
		t.Errorf("the values: %s", faults)
	}
}

// TestUndoOfChanges undoes a change set on the page of changes after a preview, then the undo. A book that was changed since stays
// as it is, and is named.
func TestUndoOfChanges(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an editor", b.welcome(s.invite(t, "ada", "editor")))
	b.do("many books", b.goTo("/?sort=name"), scripted, click(".tick"), click("[data-all]"), click("[data-change]"), until(`document.querySelectorAll("dialog option").length > 20`), run(`document.querySelector("dialog select").value = 5`),
		click(showChanges), click(writeChanges), says("Changed: "))
	first := `.entries > li:first-child`
	open := chromedp.Steps(b.goTo("/changes"), until(`customElements.get("undo-button")`), click(first+" undo-button button"), until(`document.querySelector("dialog[open]")`))
	b.do("a preview", open, until(`/^Set back to earlier values: (29|30) books$/.test(document.querySelector("[data-back]").innerText.trim()) && !document.querySelector("[data-left]").checkVisibility()`))
	if faults := b.faults(""); faults != "" {
		t.Errorf("the preview: %s", faults)
	}
	b.do("undone", click("dialog .main"), says("Undone. Undo"), until(`document.querySelectorAll(".entries > li").length === 3`))
	b.do("the undo is undone", click("#live button"), says("The undo was undone."), until(`document.querySelectorAll(".entries > li").length === 4`))
	b.do("a change of another", click(first+" summary"), run(`window.left = document.querySelector("`+first+` a[href^='/books/']").textContent`), run(`window.address = document.querySelector("`+first+` a[href^='/books/']").getAttribute("href")`),
		run(`sessionStorage.setItem("left", left); location.assign(address + "/edit")`), until(`customElements.get("book-form")`), write("#pages", "77"), click("book-form .main"), says("Saved."))
	second := `.entries > li:nth-child(2)`
	b.do("a conflict", b.goTo("/changes"), until(`customElements.get("undo-button")`), click(second+" undo-button button"), until(`document.querySelector("[data-left]")?.checkVisibility() && document.querySelector("[data-left] li").textContent === sessionStorage.getItem("left") + " was changed since."`))
	b.do("the others", click("dialog .main"), says("Undone. Left as they are: 1. Undo"))
}

// TestWebhooks adds a webhook, whose secret is shown once, disables and deletes it.
func TestWebhooks(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an admin", b.welcome(s.invite(t, "ada", "admin")), b.goTo("/admin"), until(`customElements.get("welcome-form")`))
	b.do("refused", click(".new summary"), write("#url", "http://example.com/"), click("[action='/webhooks'] .main"), until(`document.querySelector(".wrong-text").textContent.includes("must begin with https")`))
	b.do("added", write("#url", "https://example.com/hook"), click("[value=genre]"), click("[action='/webhooks'] .main"), until(`document.querySelector("#secret").value.startsWith("whsec_")`),
		click("dialog .button:not(.main)"), until(`document.querySelector("[aria-label='Disable https://example.com/hook']")?.closest("li").textContent.includes("Changes of genres. Nothing delivered yet.")`))
	if faults := b.faults(""); faults != "" {
		t.Errorf("the page of admins: %s", faults)
	}
	b.do("disabled", click("[aria-label='Disable https://example.com/hook']"), until(`document.querySelector("[aria-label='Enable https://example.com/hook']")?.closest("li").textContent.includes("Disabled: by an admin.")`))
	b.do("deleted", click("summary[aria-label='Delete https://example.com/hook']"), click("[aria-label='Delete https://example.com/hook now']"), until(`!document.body.textContent.includes("example.com/hook\u00a0") && !document.querySelector("[aria-label^='Enable https']") && document.querySelector("h1").textContent === "People"`))
}

// TestCommonPassword chooses one of the most common passwords, which leaves the link as it is, and then a better one.
func TestCommonPassword(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("refused", b.goTo(s.invite(t, "ada", "editor")), until(`document.activeElement.id === "password"`), write("#password", "Password123"))
	b.sent()
	b.do("said", click("main .button.main"), until(`document.querySelector(".wrong-text")?.textContent.includes("most common passwords")`))
	for _, sent := range b.sent() {
		if strings.Contains(sent, "/welcome") {
			t.Errorf("a common password: sent %s", sent)
		}
	}
	b.do("accepted", write("#password", password), click("main .button.main"), untilAt(`^/$`), until(`document.querySelector(".account")`))
}

// TestOwnToken enters a token that a person made, in the dialog of a tab that nobody has signed in to.
func TestOwnToken(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("a token", b.welcome(s.invite(t, "ada", "editor")), b.goTo("/account"), until(`customElements.get("welcome-form")`), click(".new summary"), write("#token-name", "This tab"), click("[value='catalogue:write']"), click(".new .main"),
		until(`document.querySelector("#secret").value.startsWith("cat_")`), run(`localStorage.setItem("made", document.querySelector("#secret").value)`), click("dialog .button:not(.main)"), until(`!document.querySelector("dialog")`), b.goTo("/"), signOut)
	b.do("entered", b.goTo("/login?next=/books/1/edit"), until(`customElements.get("welcome-form")`), click("main details summary"), click("[data-enter-token]"), until(`document.querySelector("dialog[open] #token")`),
		run(`document.querySelector("#token").value = localStorage.getItem("made")`), click("dialog .main"), untilAt(`^/books/1/edit$`))
	b.do("a write", until(`customElements.get("book-form")`), write("#name", "By a token"), click("book-form .main"), untilAt(`^/books/1$`), until(`document.querySelector("h1").textContent === "By a token"`))
}
