package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hold keeps the page's timers of a second and more in window.later, to be run by the test, but not the one for silence.
var hold = run(`window.later = []; window.setTimeout = ((set) => (act, delay, ...rest) => delay > 900 && delay !== 20000 ? later.push({ act, delay }) : set(act, delay, ...rest))(setTimeout)`)

// next waits for a held timer of so many seconds and runs it.
func next(seconds int) step {
	return chromedp.Steps(until(fmt.Sprintf(`later.length && Math.abs(later.at(-1).delay - %d) < 500`, seconds*1000)), run(`later.splice(0).at(-1).act()`))
}

func hide(hidden bool) step {
	return run(fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %t, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`, hidden))
}

func (s *service) rename(t *testing.T, name string) {
	t.Helper()
	s.graphQL(t, fmt.Sprintf(`mutation { updateBook(input: {id: 2, patch: {name: %q}}) { book { id } } }`, name))
}

var followed = until(`document.getElementById("main").dataset.state`)

// showNew waits until a list offers its new state, and shows it.
var showNew = chromedp.Steps(says("The list has changed."), click("#live button"))

// TestLivePagesBackOff fails the updates of a live list: each one waits longer, and as long as the server says.
func TestLivePagesBackOff(t *testing.T) {
	s := start(t)
	p := behindProxy(t, s)
	b := open(t, p.service)
	waits := until(`later.length === 1`)
	b.do("the list", b.goTo("/?sort=name"), scripted, p.connected, hold)
	s.rename(t, "0 First")
	unavailable := answer(http.StatusServiceUnavailable, "text/html", "<h1>Unavailable</h1>")
	b.do("fails", waits, p.fail(unavailable), next(1), next(2), next(4), next(8), waits)
	b.do("cut", p.fail(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), next(16), next(32), next(60), next(60), waits)
	b.do("must wait", p.fail(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "70")
		unavailable(w, r)
	}), next(60), waits)
	s.rename(t, "0 Second")
	b.do("then", p.fail(nil), next(70), showNew, until(`document.querySelector(".row h2").textContent === "0 Second"`))
	s.rename(t, "0 Third")
	b.do("and at once again", next(1), until(`document.querySelector(".row h2").textContent === "0 Third"`))
}

// TestLivePagesOfOldScripts updates a page whose scripts the service has replaced.
func TestLivePagesOfOldScripts(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	script := regexp.MustCompile(`/assets/\w+/page\.js`)
	b.do("the list", b.goTo("/?sort=name"), scripted, p.connected, hold)
	p.rename(t, "0 First")
	b.do("a new version", p.fail(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", "identity")
		p.forward.ServeHTTP(recorder, r)
		body := script.ReplaceAllString(recorder.Body.String(), "/assets/0123456789ab/page.js")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write([]byte(body))
	}), next(1), says("The catalogue was updated. Reload"), until(`!later.length`))
	b.do("reloaded", p.fail(nil), click("#live button"), until(`document.querySelector(".row h2")?.textContent === "0 First"`))
}

// TestLivePagesMissNothing hides the tab between a change and the update.
func TestLivePagesMissNothing(t *testing.T) {
	s := start(t)
	b := open(t, s)
	b.do("the list", b.goTo("/?sort=name"), scripted, followed, hold)
	s.rename(t, "0 First")
	b.do("hidden too soon", until(`later.length === 1`), hide(true), next(1), hide(false), next(1), showNew, until(`document.querySelector(".row h2").textContent === "0 First"`))
	b.do("while searching", focus("#q"))
	s.rename(t, "0 Second")
	b.do("hidden in the field", next(1), until(`later.length === 1`), hide(true), run(`later.length = 0; document.activeElement.blur()`), hide(false), next(1), until(`document.querySelector(".row h2").textContent === "0 Second"`))
}

// TestLivePagesKeepFound updates a list while its filter shows what was found in it.
func TestLivePagesKeepFound(t *testing.T) {
	s := start(t)
	b := open(t, s)
	values := `document.querySelector("#find_genre").closest("fieldset").querySelectorAll(".value")`
	found := until(`document.querySelector("#find_genre").value === "po" && ` + values + `.length && [...` + values + `].every((v) => v.textContent.toLowerCase().includes("po"))`)
	b.do("the list", b.goTo("/?sort=name"), scripted, followed, hold, focus("#find_genre"), chromedp.KeyEvent("po"), found, run(`document.activeElement.blur()`))
	s.rename(t, "0 First")
	b.do("an update", next(1), showNew, until(`document.querySelector(".row h2").textContent === "0 First"`), found)
}

// TestScrollPosition reloads a list, and comes back to it from a page that scripts do not show.
func TestScrollPosition(t *testing.T) {
	b := open(t, start(t))
	there := until(`document.querySelector(".row") && Math.abs(scrollY - 700) < 2`)
	b.do("a reload", b.goTo("/"), scripted, run(`scrollTo(0, 700)`), there, run(`window.old = true; location.reload()`), until(`!window.old`), scripted, there)
	b.do("back", run(`document.querySelector('.foot [href="/api/docs"]').click()`), untilAt("^/api/docs$"), until(`document.querySelector(".opblock")`), chromedp.NavigateBack(), untilAt("^/$"), there)
}

// TestNoToken enters a text that is no token, and opens pages with one that an older version has kept.
func TestNoToken(t *testing.T) {
	s := start(t)
	b := open(t, s)
	s.rename(t, "Another name")
	b.do("a text", b.goTo("/books/2/edit"), until(`customElements.get("book-form")`), click("[data-token]"), until(`document.querySelector("dialog[open] textarea")`), put("dialog textarea", "correct horse"),
		click("dialog .main"), until(`document.querySelector("dialog[open] .note").textContent.startsWith("This is not an access token.")`))
	b.do("a token", put("dialog textarea", "Bearer "+s.token), click("dialog .main"), until(`!document.querySelector("dialog") && document.querySelector("[data-who]").textContent === "Can edit"`))
	b.do("a kept text", run(`sessionStorage.setItem("token", "correct horse")`), b.goTo("/books/2/edit"), scripted, until(`document.querySelector(".token-note")`))
	b.sent()
	b.do("the history", b.goTo("/books/2/history"), scripted, until(`customElements.get("restore-button") && document.querySelector("[data-who]").textContent === "Read only"`))
	for _, sent := range b.sent() {
		if strings.HasPrefix(sent, "POST") {
			t.Errorf("a text that is no token: %s", sent)
		}
	}
}

// TestOldDraft restores input of a form that had a field more.
func TestOldDraft(t *testing.T) {
	s := start(t)
	b := open(t, s)
	b.do("a draft", b.goTo("/books/2/edit"), until(`customElements.get("book-form")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), write("#price", "1.23"),
		run(`sessionStorage.setItem("draft:/books/2/edit", ((draft) => { draft.values = { gone: "x", ...draft.values }; return JSON.stringify(draft); })(JSON.parse(sessionStorage.getItem("draft:/books/2/edit"))))`),
		run(`window.confirm = () => true`), click(".brand"), untilAt("^/$"))
	b.do("is restored", b.goTo("/books/2/edit"), until(`document.querySelector("#price").value === "1.23"`), click("book-form .main"), untilAt("^/books/2$"), until(`document.querySelector(".facts").textContent.includes("1.23")`))
}
