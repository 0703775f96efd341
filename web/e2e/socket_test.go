package e2e

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// sockets counts the WebSockets that a tab opens.
func (b *browser) sockets() *atomic.Int32 {
	b.t.Helper()
	var opened atomic.Int32
	must(b.t, chromedp.Listen(b.Context, func(event any) {
		if event, ok := event.(*network.EventWebSocketCreated); ok {
			opened.Add(1)
			if want := "ws" + b.service.url[len("http"):] + "/graphql"; event.URL != want {
				b.t.Errorf("a WebSocket to %s, want %s", event.URL, want)
			}
		}
	}))
	return &opened
}

// TestLiveList adds a book elsewhere. Counts and facets change at once, and the books when the user agrees.
func TestLiveList(t *testing.T) {
	s := start(t)
	b := open(t, s)
	opened := b.sockets()
	b.do("the list", b.goTo("/"), scripted, followed, run(`window.ids = () => [...document.querySelectorAll(".row")].map((row) => row.dataset.book).join(); window.before = ids(); window.count = document.querySelector(".facets").textContent; scrollTo(0, 900); window.place = () => document.querySelectorAll(".row")[12].getBoundingClientRect().top; window.top0 = place()`))
	s.graphQL(t, `mutation { createBook(input: {name: "A new one", author: "Ann Lee", pages: 7, publishedAt: "2001-01-01", price: "1.00", genreId: 1}) { book { id } } }`)
	b.do("is told", says("The list has changed. Show the new list"), until(`document.querySelector("h1").textContent === "301 books"`))
	b.do("does not jump", until(`document.querySelector(".facets").textContent !== count && ids() === before && Math.abs(place() - top0) < 2`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	b.do("agrees", click("#live button"), until(`document.querySelector(".row h2").textContent === "A new one" && !document.querySelector("#live.shown")`))
	b.do("another page", click(`[rel=next]`), untilAt("after="), followed)
	b.do("hidden", hide(true), hide(false), followed)
	s.graphQL(t, `mutation { deleteBook(input: {id: 300}) { deletedBookId } }`)
	b.do("the same socket", until(`document.querySelector("h1").textContent === "300 books"`))
	if n := opened.Load(); n != 2 {
		t.Errorf("%d WebSockets, want one before the tab was hidden and one after", n)
	}
}

// TestLiveForm changes a book whose form is open elsewhere. The form says so, and keeps what was typed.
func TestLiveForm(t *testing.T) {
	s := start(t)
	b := open(t, s)
	change := func(patch string) {
		t.Helper()
		s.graphQL(t, fmt.Sprintf(`mutation { updateBook(input: {id: 2, patch: {%s}}) { book { id } } }`, patch))
	}
	told := until(`document.querySelector("book-form .changed")?.textContent === "Someone else changed this book. What you typed is still here. Show the new values"`)
	b.do("the form", b.goTo("/books/2/edit"), until(`customElements.get("book-form")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), write("#name", "Mine"))
	change(`pages: 777`)
	b.do("is told", told, until(`document.querySelector("#name").value === "Mine" && document.activeElement.id === "name"`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	b.do("shows it", click("book-form .changed button"), until(`document.querySelector("#pages").value === "777" && document.querySelector("#name").value === "Mine" && document.querySelector(".problems").textContent === "Changed: Pages."`))
	change(`name: "Theirs"`)
	b.do("both", told, click("book-form .changed button"), until(`document.querySelector(".clash tbody").textContent.includes("Theirs")`), click(".clash [data-save]"), untilAt(`^/books/2$`),
		until(`document.querySelector("h1").textContent === "Mine" && document.querySelector(".facts").textContent.includes("777")`))
}

// TestLiveSession ends the session of a live page. The page goes on without it, and connects once more.
func TestLiveSession(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	opened := b.sockets()
	b.do("an editor", b.welcome(s.invite(t, "grace", "editor")), followed, until(`document.querySelector(".account")`))
	b.do("ended", hold, b.endSessions("grace"), next(2), until(`!document.querySelector(".account") && !later.length`), followed)
	if n := opened.Load(); n > 2 {
		t.Errorf("%d WebSockets, want one with the session and one without", n)
	}
}

// TestBlockedSockets refuses WebSockets, as some proxies do. The page looks for changes from time to time instead.
func TestBlockedSockets(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	blocked := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			http.Error(w, "Blocked", http.StatusForbidden)
			return
		}
		p.forward.ServeHTTP(w, r)
	}
	b.do("the list", b.goTo("/developers"), scripted, hold, p.fail(blocked), run(`document.querySelector(".brand").href = "/books/2"`), click(".brand"), untilAt("^/books/2$"), next(2), next(4))
	p.rename(t, "Another name")
	b.do("looks", next(8), until(`document.querySelector("h1").textContent === "Another name"`), next(16))
}

// TestSilentSockets loses the connection without an end. The page notices it by the missing pings.
func TestSilentSockets(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	silent := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			<-r.Context().Done()
			return
		}
		p.forward.ServeHTTP(w, r)
	}
	soon := run(`window.setTimeout = ((set) => (act, delay, ...rest) => set(act, delay === 20000 ? 100 : delay, ...rest))(setTimeout); document.querySelector(".brand").href = "/books/2"`)
	b.do("a book", b.goTo("/developers"), scripted, p.fail(silent), soon, click(".brand"), untilAt("^/books/2$"))
	p.rename(t, "Another name")
	b.do("looks", until(`document.querySelector("h1").textContent === "Another name"`))
}
