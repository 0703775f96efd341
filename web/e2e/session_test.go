package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// endSessions ends the sessions of an account from elsewhere, and waits until the page's requests have none.
func (b *browser) endSessions(name string) step {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		command := exec.Command(binary(b.t), "user", "sessions", name, "--end")
		command.Dir = b.service.dir
		must(b.t, command.Run())
		return until(`fetch("/account/data").then((r) => { window.ended = r.status === 401 }) && window.ended`)(ctx, t)
	}
}

// signInAgain uses the dialog that a form opens when its session has ended.
func signInAgain(name string) step {
	return chromedp.Steps(until(`document.querySelector("dialog[open] .note").textContent === "You are signed out. Sign in again. What you entered is still here."`),
		write("dialog [name=email]", name), write("dialog [name=password]", password), click("dialog .main"))
}

// TestKeptForms ends the session while a form of an account is filled in: it is sent after a login in the dialog.
func TestKeptForms(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	loaded := until(`customElements.get("welcome-form")`)
	b.do("an admin", b.welcome(s.invite(t, "ada", "admin")))
	b.do("a token", b.goTo("/account"), loaded, click(".new summary"), write("#token-name", "Printer"), click("[value='books:create']"), put("#days", "7"), b.endSessions("ada"),
		click(".new .main"), signInAgain("ada"), until(`document.querySelector("#secret")?.value.startsWith("cat_")`), click("dialog .button:not(.main)"),
		until(`[...document.querySelectorAll(".entries p")].some((p) => p.textContent.startsWith("Add books. Never used."))`))
	b.do("cancelled", b.goTo("/admin"), loaded, write("#name", "eve"), put("#role", "editor"), b.endSessions("ada"), click("[action='/accounts'] .main"),
		until(`document.querySelector("dialog[open] .note")`), click("dialog [data-close]"), until(`document.querySelector("[action='/accounts'] .problems").textContent === "You are signed out. Sign in again."`))
	b.do("an invitation", click("[action='/accounts'] .main"), signInAgain("ada"), until(`document.querySelector("#secret")?.value.includes("/welcome#")`), click("dialog .button:not(.main)"),
		until(`[...document.querySelectorAll(".role select")].at(-1).value === "editor" && document.querySelector("[aria-label='Set role of eve']")`))
	b.do("a webhook", loaded, click(".new summary"), write("#url", "https://example.com/hook"), b.endSessions("ada"), click("[action='/webhooks'] .main"), signInAgain("ada"), until(`document.querySelector("#secret")?.value.startsWith("whsec_")`))
	b.do("a password", b.goTo("/account"), loaded, write("#old_password", password), write("#password", "another long one"), b.endSessions("ada"), click("#change-password"), signInAgain("ada"),
		until(`document.querySelector("#live.shown").textContent === "Your password is changed. You are signed out elsewhere."`))
}

// TestConflictNames names the person who has saved the book that one edits, and who has deleted it.
func TestConflictNames(t *testing.T) {
	b := open(t, startAccounts(t))
	elsewhere := func(mutation string) step {
		return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`fetch("/graphql", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query: %q }) }).then((r) => r.text())`, mutation), chromedp.EvalAwaitPromise)
	}
	b.do("an editor", b.welcome(b.service.invite(t, "grace", "editor")), b.goTo("/books/1/edit"), until(`customElements.get("book-form")`), write("#name", "Mine"), write("#description", "Mine ends in a full stop."))
	b.do("changed", elsewhere(`mutation { updateBook(input: {id: 1, patch: {name: "Theirs"}}) { book { id } } }`), click("book-form .main"),
		until(`document.querySelector(".clash strong").textContent === "grace changed this book"`), until(`document.querySelector(".merged").textContent === "No conflict, both kept:your Description: Mine ends in a full stop."`))
	b.do("deleted", click("[data-back]"), elsewhere(`mutation { deleteBook(input: {id: 1}) { deletedBookId } }`), click("book-form .main"), until(`document.querySelector(".problems").textContent.startsWith("grace deleted this book.")`))
}

// TestWelcomeLinks keeps a link for a reload, takes another one in the same tab, and names the account of each.
func TestWelcomeLinks(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	ada, eve := s.invite(t, "ada", "editor"), s.invite(t, "eve", "reader")
	named := func(name string) step {
		return until(`location.hash === "" && document.activeElement.id === "password" && document.querySelector("[data-known] strong")?.textContent === "` + name + `" &&
			document.querySelector("[autocomplete=username]").value === "` + name + `" && document.querySelector("[data-known]").checkVisibility() && !document.querySelector("[data-first]")`)
	}
	b.do("a link", b.goTo(ada), named("ada"), run(`window.old = true`))
	b.do("reloaded", run(`location.reload()`), until(`!window.old`), named("ada"))
	b.do("cut", run(`sessionStorage.removeItem("link")`), run(`location.reload()`), until(`document.querySelector("main [role=alert]")?.textContent.startsWith("This link is not whole.")`), run(`window.old = true`))
	b.do("the whole one in the same tab", b.goTo(eve), named("eve"), until(`window.old`))
	b.do("another one", b.goTo(ada), named("ada"), until(`window.old`))
	for _, sent := range b.sent() {
		if path, fragment, _ := strings.Cut(sent, "#"); strings.Contains(path, strings.SplitN(ada, "#", 2)[1]) {
			t.Errorf("the secret is in the address of a request: %s %s", path, fragment)
		}
	}
	b.do("used", write("#password", password), click("main .button.main"), untilAt(`^/$`), until(`document.querySelector(".account") && sessionStorage.getItem("link") === null`))
	b.do("kept no more", b.goTo("/welcome"), until(`document.querySelector("main [role=alert]")?.textContent.startsWith("This link is not whole.")`))
}

// TestPlainHTTP says at the sign-in page, before a password is typed, that the browser would not keep the session.
func TestPlainHTTP(t *testing.T) {
	s := startAccounts(t)
	s.url = strings.Replace(s.url, "127.0.0.1", "library.test", 1)
	b := openWith(t, s, chromedp.Flag("host-resolver-rules", "MAP library.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	b.do("by http", b.goTo("/login"), until(`document.querySelector(".problems:not([hidden])")?.textContent.startsWith("Signing in needs https")`))
}

// TestSignedInElsewhere withdraws the note of a form that its session has ended.
func TestSignedInElsewhere(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an account", b.welcome(s.invite(t, "ada", "editor")))
	form := b.tab()
	form.do("a form", form.goTo("/books/1/edit"), until(`customElements.get("book-form")`), write("#name", "Typed before"))
	b.do("out", signOut)
	form.do("said", until(`document.querySelector("#live.shown")?.textContent.startsWith("You are signed out.")`))
	b.do("in", b.signIn("ada"))
	form.do("withdrawn", until(`document.body.dataset.account && document.querySelector("#live").textContent === "" && !document.querySelector("#live.shown")`), until(`document.querySelector("#name").value === "Typed before"`))
}

// TestDone says what a form has done, and leaves the focus where it was.
func TestDone(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	s.invite(t, "eve", "reader")
	b.do("an admin", b.welcome(s.invite(t, "ada", "admin")), b.goTo("/admin"), until(`customElements.get("welcome-form")`), run(`window.kept = true`))
	said := func(text, control string) step {
		return until(`window.kept && document.querySelector("#live.shown")?.textContent === "` + text + `" && document.activeElement.matches("` + control + `")`)
	}
	b.do("a role", put("#role-1", "editor"), click("[aria-label='Set role of eve']"), said("The role of eve is set.", "[aria-label='Set role of eve']"), until(`document.querySelector("#role-1").value === "editor"`))
	b.do("disabled", click("[aria-label='Disable eve']"), said("eve is disabled, and signed out everywhere.", "[aria-label='Enable eve']"))
	b.do("enabled", click("[aria-label='Enable eve']"), said("eve is enabled.", "[aria-label='Disable eve']"))
	b.do("refused", run(`document.querySelector("#enable-1").form.action = "/accounts/99/disable"`), click("#enable-1"),
		until(`document.querySelector(".problems:not([hidden])")?.textContent.startsWith("There is no account 99.") && document.activeElement.id === "enable-1"`))
	b.do("the present password", b.goTo("/account"), until(`customElements.get("welcome-form")`), run(`window.kept = true`), write("#old_password", password), write("#password", password), click("#change-password"),
		until(`document.querySelector(".wrong-text")?.textContent === "Choose another password than the present one."`))
	b.do("another password", write("#password", "another long one"), click("#change-password"), said("Your password is changed. You are signed out elsewhere.", "#change-password"), until(`document.querySelector("#password").value === ""`))
}
