package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const password = "a long enough one"

// startAccounts is start with accounts.
func startAccounts(t *testing.T) *service {
	t.Helper()
	return start(t, "--accounts=on")
}

// invite returns the path of the link of a new account.
func (s *service) invite(t *testing.T, name, role string) string {
	t.Helper()
	command := exec.Command(binary(t), "user", "add", name, "--role="+role)
	command.Dir = s.dir
	out, err := command.CombinedOutput()
	link := regexp.MustCompile(`/welcome#[\w-]+`).FindString(string(out))
	if err != nil || link == "" {
		t.Fatalf("user add: %v: %s", err, out)
	}
	return link
}

// welcome opens a link and chooses a password.
func (b *browser) welcome(link string) step {
	return chromedp.Steps(b.goTo("/genres"), b.goTo(link), until(`customElements.get("welcome-form") && document.activeElement.id === "password"`),
		write("#password", password), click("main .button.main"), untilAt(`^/$`), until(`document.querySelector(".account")`))
}

// signIn uses the form of /login.
func (b *browser) signIn(name string) step {
	return chromedp.Steps(b.goTo("/login"), write("#email", name), write("#password", password), click("main .button.main"), untilAt(`^/$`), until(`document.querySelector(".account")`))
}

var signOut = chromedp.Steps(click(".account summary"), click(".account form button"), untilAt(`^/$`), until(`document.querySelector("[data-sign-in]")`))

// tab opens another tab of the browser.
func (b *browser) tab() *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.Context)
	b.t.Cleanup(cancel)
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}) // the tab lives as long as the first context
	must(b.t, err)
	b.hasTabs = true
	return &browser{Context: ctx, t: b.t, service: b.service, hasTabs: true}
}

// TestInvitation uses a link once, says what is too weak before it is sent, and gives password managers their fields.
func TestInvitation(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	link := s.invite(t, "ada", "editor")
	b.do("a weak password", b.goTo(link), until(`document.activeElement.id === "password"`), until(`location.hash === "" && !document.querySelector("[data-first]")`),
		until(`document.querySelector("#password").autocomplete === "new-password" && document.querySelector("#password").type === "password"`), write("#password", "short"))
	b.sent()
	b.do("refused", click("main .button.main"), until(`document.querySelector(".wrong-text").textContent.includes("at least 10")`))
	if sent := b.sent(); len(sent) > 0 {
		t.Errorf("a weak password: %q", sent)
	}
	b.do("accepted", b.welcome(link), until(`document.querySelector(".account summary").textContent.includes("ada")`))
	b.do("used", b.goTo("/genres"), b.goTo(link), until(`document.querySelector("main [role=alert]")?.textContent === "This link was used. Ask for another."`))
	b.do("signed out", b.goTo("/"), signOut)
	b.do("by keys", b.goTo("/login?next=/genres"), until(`document.activeElement.id === "email" && document.activeElement.autocomplete === "username" && document.querySelector("#password").autocomplete === "current-password"`),
		chromedp.KeyEvent("ada"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("wrong password"), chromedp.KeyEvent(kb.Enter), until(`document.querySelector(".problems").textContent.startsWith("The name or the password is not right")`),
		until(`document.activeElement.id === "email"`), chromedp.KeyEvent(kb.Tab), write("#password", password), focus("#password"), chromedp.KeyEvent(kb.Enter), untilAt(`^/genres$`), until(`document.querySelector(".account")`))
	b.do("the menu by keys", focus(".account summary"), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab), until(`document.activeElement.textContent === "Your account"`), chromedp.KeyEvent(kb.Enter), untilAt(`^/account$`), until(`document.querySelector("h1").textContent === "ada"`))
}

// TestFirstMinute makes the first admin by the link of the banner, adds a book in two tabs, closes the browser, and is
// signed in when it comes back.
func TestFirstMinute(t *testing.T) {
	s, link := startTerminal(t)
	profile := t.TempDir()
	b := openWith(t, s, chromedp.UserDataDir(profile))
	b.do("the first admin", b.goTo(link), until(`document.activeElement.id === "name"`), write("#name", "Ada"), write("#password", password), click("main .button.main"), untilAt(`^/$`),
		until(`document.querySelector(".account summary").textContent.includes("Ada")`), until(`document.querySelector("[href='/admin']")`))
	for i, b := range []*browser{b, b.tab()} {
		name := fmt.Sprintf("Momo %d", i)
		b.do("a book", b.goTo("/books/new"), until(`customElements.get("book-form")`), write("#name", name), write("#author", "Michael Ende"), put("#genreId", "1"),
			write("#publishedAt", "1973"), write("#pages", "304"), write("#price", "9.99"), click("book-form .main"), untilAt(`^/books/\d+$`), until(fmt.Sprintf(`document.querySelector("h1").textContent === %q`, name)))
	}
	b.do("who did it", click("main [href$='/history']"), until(`document.querySelector("[data-actor]").textContent === ", by Ada"`))
	must(t, chromedp.Cancel(b.Context))
	b = openWith(t, s, chromedp.UserDataDir(profile))
	b.do("again", b.goTo("/"), until(`document.querySelector(".account summary").textContent.includes("Ada")`), until(`document.querySelector(".title-row [href='/books/new']").checkVisibility()`))
}

// TestTabs signs in and out in one tab, which the other shows.
func TestTabs(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an account", b.welcome(s.invite(t, "ada", "admin")), signOut) // whose menu is the longest
	other := b.tab()
	other.do("nobody", other.goTo("/books/1"), until(`document.querySelector("[data-sign-in]") && document.documentElement.classList.contains("scripted") && !document.querySelector("[data-edit]").checkVisibility()`))
	b.do("in", b.signIn("ada"))
	other.do("seen", until(`document.querySelector(".account") && document.querySelector("[data-edit]").checkVisibility()`))
	b.do("out", signOut)
	other.do("seen too", until(`document.querySelector("[data-sign-in]") && !document.querySelector("[data-edit]").checkVisibility()`))
}

// TestLostSession ends the session while a book is edited: what was typed is still there, and is saved after a login.
func TestLostSession(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an account", b.welcome(s.invite(t, "ada", "editor")))
	b.do("typed", b.goTo("/books/1/edit"), until(`customElements.get("book-form")`), write("#name", "Typed before"))
	command := exec.Command(binary(t), "user", "disable", "ada")
	command.Dir = s.dir
	must(t, command.Run())
	command = exec.Command(binary(t), "user", "enable", "ada")
	command.Dir = s.dir
	must(t, command.Run())
	b.do("refused", until(`fetch("/account/data").then((r) => { window.ended = r.status === 401 }) && window.ended`), click("book-form .main"), until(`document.querySelector("dialog[open] .note").textContent.startsWith("You are signed out. Sign in again.")`))
	b.do("signed in", write("dialog [name=email]", "ada"), write("dialog [name=password]", password), click("dialog .main"), untilAt(`^/books/1$`), until(`document.querySelector("h1").textContent === "Typed before"`))
}

// TestOwnAccount makes and revokes a token, and ends another session.
func TestOwnAccount(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an account", b.welcome(s.invite(t, "ada", "editor")))
	other := open(t, s)
	other.do("elsewhere", other.signIn("ada"))
	b.do("a token", b.goTo("/account"), until(`document.querySelectorAll(".entries li").length === 2`), click(".new summary"), write("#token-name", "Printer"), click("[value='books:create']"), click(".new .main"),
		until(`document.querySelector("#secret").value.startsWith("cat_")`), click("dialog .button:not(.main)"), until(`[...document.querySelectorAll(".entries p")].some((p) => p.textContent.startsWith("Add books. Never used."))`))
	b.do("revoked", click("[aria-label='Revoke Printer']"), until(`!document.querySelector("[aria-label='Revoke Printer']") && document.querySelector("h1")`))
	b.do("ended", run(`[...document.querySelectorAll(".entries li")].find((li) => !li.textContent.includes("(here)")).querySelector("button").click()`), until(`document.querySelectorAll(".entries li").length === 1`))
	other.do("seen at the next page", other.goTo("/account"), untilAt(`^/login\?next=%2Faccount$`))
	b.do("a wrong password", write("#old_password", "not this one"), write("#password", "quite another one"), click("[action='/account/password'] .main"), until(`document.querySelector(".wrong-text").textContent.includes("not correct")`))
	b.do("the right one", write("#old_password", password), click("[action='/account/password'] .main"), until(`!document.querySelector(".wrong-text") && document.querySelector("#old_password").value === ""`))
}

// TestPeople invites a reader, who may not write, makes an editor of them, and disables them.
func TestPeople(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an admin", b.welcome(s.invite(t, "ada", "admin")))
	b.do("an invitation", b.goTo("/admin"), until(`customElements.get("welcome-form")`), write("#name", "eve"), click("[action='/accounts'] .main"), until(`document.querySelector("#secret").value.includes("/welcome#")`))
	link, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`document.querySelector("#secret").value.replace(location.origin, "")`))
	must(t, err)
	eve := open(t, s)
	eve.do("a reader", eve.welcome(link), eve.goTo("/books/1"), until(`document.querySelector(".account") && !document.querySelector("[data-edit], delete-button")`),
		eve.goTo("/books/new"), until(`document.querySelector(".lead").textContent.includes("can only read")`), eve.goTo("/admin"), until(`document.querySelector(".lead").textContent.includes("for admins")`))
	b.do("an editor", click("dialog .button:not(.main)"), until(`!document.querySelector("dialog") && document.querySelector("[aria-label='Set role of eve']")`), run(`[...document.querySelectorAll(".role")].at(-1).querySelector("select").value = "editor"`),
		click("[aria-label='Set role of eve']"), until(`[...document.querySelectorAll(".role select")].at(-1).value === "editor" && document.readyState === "complete"`))
	eve.do("may write", eve.signIn("eve"), eve.goTo("/books/1"), until(`document.querySelector("[data-edit]").checkVisibility()`))
	b.do("disabled", click("[aria-label='Disable eve']"), until(`document.querySelector("[aria-label='Enable eve']")`))
	eve.do("out", eve.goTo("/"), until(`document.querySelector("[data-sign-in]")`))
	b.do("the last admin", until(`document.querySelector("[aria-label='New link for ada']") && !document.querySelector("[aria-label='Disable ada'], [aria-label='Set role of ada']")`))
}

// startTerminal is start on a terminal, where the banner has the link of the first admin.
func startTerminal(t *testing.T) (*service, string) {
	t.Helper()
	dir := t.TempDir()
	out := dir + "/banner"
	command := exec.Command("script", "--quiet", "--flush", "--return", "--command", "exec '"+binary(t)+"' serve --addr=127.0.0.1:0", out)
	command.Dir = dir
	stdin, err := command.StdinPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_, _ = stdin.Write([]byte{3}) // Ctrl+C
		_ = command.Wait()
	})
	found := regexp.MustCompile(`(http://127\.0\.0\.1:\d+)(/welcome#[\w-]+)`)
	var match []string
	for deadline := time.Now().Add(patience); match == nil; time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(out)
		if match = found.FindStringSubmatch(string(text)); match == nil && time.Now().After(deadline) {
			t.Fatalf("the banner has no link: %s", text)
		}
	}
	return &service{url: strings.TrimSpace(match[1]), dir: dir}, match[2]
}
