package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	cdbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// proxy stands between the browser and a service. While fault is set, it answers requests for pages, GraphQL and
// two modules.
type proxy struct {
	*service
	forward http.Handler
	fault   atomic.Pointer[http.HandlerFunc]
	sockets atomic.Int32 // requests for WebSockets
}

var isModule = regexp.MustCompile(`/(form|dialogs)\.js$`)

func behindProxy(t *testing.T, s *service) *proxy {
	t.Helper()
	target, err := url.Parse(s.url)
	must(t, err)
	p := &proxy{forward: httputil.NewSingleHostReverseProxy(target)}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			p.sockets.Add(1)
		}
		if fault := p.fault.Load(); fault != nil && (r.URL.Path == "/graphql" || isModule.MatchString(r.URL.Path) || strings.Contains(r.Header.Get("Accept"), "text/html")) {
			(*fault)(w, r)
			return
		}
		p.forward.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	p.service = &service{url: front.URL, token: s.token}
	return p
}

// connected waits until the page has asked for a WebSocket, which a fault would refuse.
func (p *proxy) connected(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	read := func(context.Context, *chromedp.Target) (int32, error) { return p.sockets.Load(), nil }
	_, err := await("a WebSocket", read, func(n int32) bool { return n > 0 })(ctx, t)
	return chromedp.Void{}, err
}

// fail makes the proxy answer with fault; nil ends that.
func (p *proxy) fail(fault http.HandlerFunc) step {
	return func(context.Context, *chromedp.Target) (chromedp.Void, error) {
		if p.fault.Store(&fault); fault == nil {
			p.fault.Store(nil)
		}
		return chromedp.Void{}, nil
	}
}

// answer returns a response with a status.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func tooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "7")
	answer(http.StatusTooManyRequests, "application/json", `{"errors":[{"message":"Too many requests. Try again in 7 s.","extensions":{"code":"RATE_LIMITED","retryAfter":7}}]}`)(w, r)
}

// says waits for a message under the header, in sight.
func says(text string) step {
	return until(fmt.Sprintf(`(() => {
		const live = document.querySelector("#live.shown[role=status]");
		const { top, bottom } = live?.getBoundingClientRect() ?? {};
		return live?.textContent.includes(%q) && top >= 0 && bottom <= innerHeight;
	})()`, text))
}

// TestFailureIsTold fails requests for pages in four ways. A link, a search, a filter and Back each say why and offer to
// try again; the page and the text in the search field stay.
func TestFailureIsTold(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	notThere, err := http.NewRequest(http.MethodGet, p.url+"/nothing", nil)
	must(t, err)
	w := httptest.NewRecorder()
	response, err := http.DefaultClient.Do(notThere)
	must(t, err)
	_, err = w.Body.ReadFrom(response.Body)
	must(t, err)
	must(t, response.Body.Close())
	ownPage := answer(http.StatusServiceUnavailable, "text/html; charset=utf-8", w.Body.String())

	again := click("#live button")
	list := until(`document.querySelectorAll(".row").length === 30 && document.documentElement.classList.contains("scripted")`)
	onlyModules := func(w http.ResponseWriter, r *http.Request) {
		if isModule.MatchString(r.URL.Path) {
			panic(http.ErrAbortHandler)
		}
		p.forward.ServeHTTP(w, r)
	}
	b.do("the module of the first page", p.fail(onlyModules), b.goTo("/books/2/edit"), says("did not load"), p.fail(nil), again, until(`customElements.get("book-form")`))
	b.do("the module of the next page", b.goTo("/developers"), until(`document.documentElement.classList.contains("scripted")`), p.fail(onlyModules),
		click(`.menu [href="/genres"]`), says("did not respond"), untilAt("^/developers$"), p.fail(nil), again, untilAt("^/genres$"), until(`document.querySelector("add-button button")`))
	for name, tt := range map[string]struct {
		fault http.HandlerFunc
		words string
	}{
		"own page":       {ownPage, "There is no page at this address."},
		"a proxy's page": {answer(http.StatusBadGateway, "text/html", "<h1>Bad Gateway</h1>"), "did not respond (status 502)"},
		"JSON":           {answer(http.StatusTooManyRequests, "application/json", "{}"), "did not respond (status 429)"},
		"no response":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "did not respond."},
	} {
		b.do(name, b.goTo("/"), list, p.fail(tt.fault), click(".row:last-child h2 a"), says(tt.words), untilAt("^/$"), list,
			again, says(tt.words), p.fail(nil), again, untilAt(`^/books/\d+$`), until(`document.querySelector(".facts") && !document.querySelector("#live.shown")`))
	}
	b.do("search", b.goTo("/"), list, p.fail(ownPage), write("#q", "love"), says("no page"), list, until(`document.querySelector("#q").value === "love"`),
		p.fail(nil), again, untilAt(`^/\?q=love$`), until(`document.querySelector("h1").textContent.includes("love")`))
	b.do("filter", p.fail(ownPage), click(".values input"), says("no page"), p.fail(nil), again, untilAt("category="), until(`document.querySelector(".chip")`))
	b.do("back", p.fail(ownPage), chromedp.NavigateBack(), says("no page"), p.fail(nil), again, untilAt(`^/\?q=love$`), until(`!document.querySelector(".chip")`))
	const unsaved = `document.querySelector("#name").value === "Unsaved" && document.querySelector(".problems").textContent`
	b.do("a form", b.goTo("/books/1/edit"), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, p.token)), until(`customElements.get("book-form")`), write("#name", "Unsaved"),
		p.fail(answer(http.StatusBadGateway, "text/html", "<h1>Bad Gateway</h1>")), click("book-form .main"), until(unsaved+`.includes("did not respond")`),
		p.fail(tooMany), click("book-form .main"), until(unsaved+`.includes("Try again in 7 s.")`),
		p.fail(nil), click("book-form .main"), says("Saved."), until(`document.querySelector("h1").textContent === "Unsaved"`))
	b.do("not a page", b.goTo("/"), list, p.fail(answer(http.StatusOK, "text/plain", "The service was replaced.")), click(".row h2 a"), until(`document.body.textContent === "The service was replaced."`))
}

// TestLinksThatAreNoPages follows the links that scripts leave to the browser.
func TestLinksThatAreNoPages(t *testing.T) {
	s := start(t)
	b := open(t, s)
	dir := t.TempDir()
	_, err := chromedp.Call(b.Context, cdbrowser.SetDownloadBehavior, cdbrowser.SetDownloadBehaviorParams{Behavior: cdbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir})
	must(t, err)
	scripted := until(`document.documentElement.classList.contains("scripted")`)
	saved := func(suffix string) step {
		file := await("a file "+suffix, func(context.Context, *chromedp.Target) ([]string, error) {
			return filepath.Glob(filepath.Join(dir, "*"+suffix))
		},
			func(files []string) bool { return len(files) == 1 })
		return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			_, err := file(ctx, t)
			return chromedp.Void{}, err
		}
	}
	b.do("CSV", b.goTo("/?q=love"), scripted, run(`document.querySelector("main a[href*='format=spreadsheet']").click()`), saved(".csv"),
		untilAt(`^/\?q=love$`), until(`document.querySelector("h1").textContent.includes("love")`))
	b.do("openapi.yaml", b.goTo("/developers"), scripted, click(`a[href="/openapi.yaml"]`), saved(".yaml"))
	b.do("the reference", click(`.foot [href="/api/docs"]`), untilAt("^/api/docs$"), until(`document.querySelector(".opblock")`))
}

// TestBack returns to pages that have changed: a form without a token, a conflict, a search and a deleted book. It keeps
// the page between fragments, and returns to one from another page.
func TestBack(t *testing.T) {
	s := start(t)
	b := open(t, s)
	leave := chromedp.Steps(run(`window.confirm = () => true`), click(".brand"), untilAt("^/$"), until(`document.querySelector(".row")`))
	b.do("a form", b.goTo("/books/1"), click("[data-edit]"), until(`document.querySelector(".token-note")`), write("#pages", "555"), leave, chromedp.NavigateBack(), untilAt("edit$"),
		until(`document.querySelectorAll(".token-note").length === 1 && document.querySelector("#pages").value === "555"`),
		click(".token-note button"), until(`document.querySelector("dialog[open] textarea")`), put("dialog textarea", s.token), click("dialog [value=use]"), until(`!document.querySelector("dialog")`))
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {pages: 777}}) { book { id } } }`)
	b.do("a conflict", click("book-form .main"), until(`document.querySelector(".clash")?.textContent.includes("777")`), leave, chromedp.NavigateBack(), untilAt("edit$"),
		until(`document.querySelector("#pages")?.value === "555" && !document.querySelector(".clash")`), click("book-form .main"), until(`document.querySelector(".clash")?.textContent.includes("777")`),
		click(".clash [data-save]"), untilAt(`^/books/1$`), until(`document.querySelector(".facts").textContent.includes("555")`))
	b.do("a search", leave, write("#q", "love"), untilAt(`^/\?q=love$`), until(`document.querySelector("h1").textContent.includes("love") && document.activeElement.id === "q"`),
		chromedp.NavigateBack(), untilAt("^/$"), until(`document.querySelector("h1").textContent === "300 books" && document.querySelector("#q").value === ""`),
		chromedp.NavigateForward(), until(`document.querySelector("h1").textContent.includes("love") && document.querySelector("#q").value === "love"`))
	ticked := until(`document.querySelector(".row:nth-child(2) .tick")?.checked`)
	atFilter := until(`location.pathname + location.hash === "/#filter"`)
	b.do("a fragment", b.goTo("/"), scripted, click(".row:nth-child(2) .tick"), run(`document.querySelector(".skip[href='#filter']").click()`), atFilter, ticked)
	b.sent()
	b.do("its page", chromedp.NavigateBack(), until(`location.hash === ""`), ticked, chromedp.NavigateForward(), atFilter, ticked)
	if sent := b.sent(); len(sent) > 0 {
		t.Errorf("a fragment: %q", sent)
	}
	b.do("back to a fragment", click(".row h2 a"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts")`), chromedp.NavigateBack(), atFilter, until(`document.querySelector(".row")`),
		chromedp.NavigateBack(), until(`location.hash === ""`), chromedp.NavigateForward(), atFilter)
	b.do("a book", b.goTo("/"), run(`document.querySelector('[rel=next]').click()`), until(`document.querySelector("[rel=prev]")`), run(`scrollTo(0, 700)`), click(".row:nth-child(9) h2 a"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts")`))
	id, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`location.pathname.split("/").pop()`))
	must(t, err)
	b.do("its place in the list", chromedp.NavigateBack(), untilAt("after="), until(`document.querySelector(".row") && scrollY > 100`))
	s.graphQL(t, `mutation { deleteBook(input: {id: `+id+`}) { deletedBookId } }`)
	b.do("deleted", chromedp.NavigateForward(), until(`document.querySelector("h1").textContent.endsWith("was deleted.") && !document.querySelector("delete-button")`))
}

// TestUndo undoes a save and a delete, and a save after which someone else has changed the book. A busy service, a lost
// response and a cancelled dialog leave another try.
func TestUndo(t *testing.T) {
	p := behindProxy(t, start(t))
	b := open(t, p.service)
	s := p.service
	price := func(value string) step {
		return until(fmt.Sprintf(`document.querySelector(".facts")?.textContent.includes(%q)`, value))
	}
	save := func(value string) step {
		return chromedp.Steps(click("[data-edit]"), until(`customElements.get("book-form") && document.querySelector("#price")`), write("#price", value), click("book-form .main"), untilAt(`^/books/1$`), says("Saved."), price(value))
	}
	b.do("the book", b.goTo("/books/1"), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
	before, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`document.querySelector("h1").textContent + document.querySelector(".authors").textContent + document.querySelector(".description").textContent + [...document.querySelectorAll(".facts div")].slice(0, -1).map((d) => d.textContent)`))
	must(t, err)
	same := until(fmt.Sprintf(`document.querySelector("h1").textContent + document.querySelector(".authors").textContent + document.querySelector(".description").textContent + [...document.querySelectorAll(".facts div")].slice(0, -1).map((d) => d.textContent) === %q`, before))
	b.do("a save", save("1.23"), click("#live button"), says("The previous values are back."), untilAt(`^/books/1$`), same)
	unavailable := answer(http.StatusServiceUnavailable, "application/json", `{"errors":[{"message":"The catalogue is busy.","extensions":{"code":"UNAVAILABLE"}}]}`)
	lost := func(w http.ResponseWriter, r *http.Request) {
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	b.do("busy", save("1.34"), p.fail(unavailable), click("#live button"), says("Not undone: The catalogue is busy. Try again"))
	b.do("a lost response", p.fail(lost), click("#live button"), says("did not respond. Try again"), p.fail(nil), click("#live button"), says("The previous values are back."), same)
	b.do("cancelled", save("1.45"), run(`sessionStorage.removeItem("token")`), click("#live button"), click("dialog [value='']"), says("Saved. Undo"),
		run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), click("#live button"), says("The previous values are back."), same)
	b.do("too late", save("2.34"))
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {price: "3.45"}}) { book { id } } }`)
	b.do("refused", click("#live button"), says("was changed by someone else"), until(`!document.querySelector("#live button")`))
	b.do("for ten seconds", b.goTo("/books/1"), run(`window.later = []; window.setTimeout = ((set) => (act, delay, ...rest) => delay === 10000 ? later.push(act) : set(act, delay, ...rest))(setTimeout)`),
		save("4.56"), until(`document.querySelector("#live button") && later.length === 1`), run(`document.activeElement.blur(); later[0]()`), says("Saved."), until(`!document.querySelector("#live button")`))

	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {price: "`+regexp.MustCompile(`\d+\.\d\d`).FindString(before)+`"}}) { book { id } } }`)
	b.do("a delete", b.goTo("/books/1"), same, click("delete-button button"), click("dialog .danger"), untilAt("^/$"), says("was deleted."), until(`document.querySelector("h1").textContent === "299 books"`))
	b.do("survives a page", click(`.menu [href="/genres"]`), untilAt("^/genres$"), says("was deleted."))
	b.do("its undo", click("#live button"), says("is back."), untilAt(`^/books/1$`), same)
}

// TestFirstView loads pages into an empty cache. A wave is a set of requests that begin when another request has ended.
func TestFirstView(t *testing.T) {
	const maxWaves, maxScriptBytes = 3, 20 << 10
	s := start(t)
	for _, path := range []string{"/", "/books/1", "/books/1/edit", "/import"} {
		b := open(t, s)
		var mu sync.Mutex
		causes, scripts, bytes := map[string]string{}, map[network.RequestID]bool{}, 0
		must(t, chromedp.Listen(b.Context, func(event any) {
			mu.Lock()
			defer mu.Unlock()
			switch event := event.(type) {
			case *network.EventRequestWillBeSent:
				if strings.HasSuffix(event.Request.URL, "/live.js") {
					return // it is loaded after the view
				}
				causes[event.Request.URL] = event.Initiator.URL
				scripts[event.RequestID] = event.Type == network.ResourceTypeScript
			case *network.EventLoadingFinished:
				if scripts[event.RequestID] {
					bytes += int(event.EncodedDataLength)
				}
			}
		}))
		b.do(path, b.goTo(path), until(`document.documentElement.classList.contains("scripted") && document.readyState === "complete"`),
			until(`[...document.querySelectorAll("book-form, book-import, delete-button")].every((e) => e.matches(":defined"))`))
		mu.Lock()
		for url := range causes {
			waves := 1
			for at := causes[url]; at != "" && url != s.url+path; at = causes[at] {
				waves++
			}
			if waves > maxWaves || waves == 1 && url != s.url+path && !strings.HasSuffix(url, ".svg") {
				t.Errorf("%s: %s comes in wave %d", path, url, waves)
			}
		}
		t.Logf("%s: %d bytes of %d scripts", path, bytes, len(scripts))
		if path == "/" && (bytes == 0 || bytes > maxScriptBytes) {
			t.Errorf("%s: %d bytes of script", path, bytes)
		}
		mu.Unlock()
	}
}
