// Package e2e uses the pages as people do, in a real browser against the real binary.
// It is a module of its own, so that nobody else downloads a browser's driver.
//
//	make e2e
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// step is what is done at the page.
type step = chromedp.Action[chromedp.Void]

// patience bounds a step: far above what one takes on a slow machine.
const patience = 30 * time.Second

// service is the binary, with the sample in a folder of its own.
type service struct {
	url, token string
	dir        string // where it runs
	provider   string // where its pages lead people who log in; empty: nowhere
	cdn        bool   // its playground asks the CDN
}

func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("CATALOGUE")
	if path == "" {
		t.Fatal("CATALOGUE must be the path of the binary: run make e2e")
	}
	return path
}

// startFresh is as start, with the binary as it is built from a fresh clone.
func startFresh(t *testing.T, flags ...string) *service {
	t.Helper()
	t.Setenv("CATALOGUE", os.Getenv("CATALOGUE_FRESH"))
	return start(t, flags...)
}

// startForm is as startFresh, with the playground's form.
func startForm(t *testing.T) *service {
	t.Helper()
	return startFresh(t, "--no-playground-cdn")
}

// start runs the binary without accounts until the test ends.
func start(t *testing.T, flags ...string) *service {
	t.Helper()
	dir := t.TempDir()
	command := exec.Command(binary(t), append([]string{"serve", "--addr=127.0.0.1:0", "--accounts=off"}, flags...)...)
	command.Dir = dir
	out, err := command.StdoutPipe()
	must(t, err)
	command.Stderr = os.Stderr
	must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		if err := command.Wait(); err != nil {
			t.Error("the service ended with", err)
		}
	})
	s := &service{dir: dir}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	var seen bytes.Buffer
	for chunk := make([]byte, 4096); s.url == ""; {
		n, err := out.Read(chunk)
		seen.Write(chunk[:n])
		s.url = address.FindString(seen.String())
		if err != nil && s.url == "" {
			t.Fatalf("the banner has no address: %s", seen.String())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	token := exec.Command(binary(t), "token")
	token.Dir = dir
	text, err := token.Output()
	must(t, err)
	s.token = strings.TrimSpace(string(text))
	return s
}

// graphQL sends a mutation, as another program would.
func (s *service) graphQL(t *testing.T, query string) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": query})
	r, _ := http.NewRequest(http.MethodPost, s.url+"/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK || bytes.Contains(text, []byte(`"errors"`)) {
		t.Fatalf("%s: %s", query, text)
	}
}

// browser is a tab. It fails the test when the page has an error, or asks anybody but
// the service.
type browser struct {
	context.Context
	t       *testing.T
	service *service

	mu       sync.Mutex
	requests []string
	hasTabs  bool   // other tabs may be in front
	refusal  string // expression for what the browser says of a file that it refuses; empty: none
}

func open(t *testing.T, s *service) *browser {
	t.Helper()
	return openWith(t, s)
}

// openWith is open with more options.
func openWith(t *testing.T, s *service, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.WindowSize(1440, 1000),
		chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"), // a mouse
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"))                            // there is no network
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{Context: ctx, t: t, service: s}
	err := chromedp.Listen(ctx, func(event any) {
		switch event := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page failed: %v", event.ExceptionDetails)
		case *runtime.EventConsoleAPICalled:
			if (event.Type == runtime.ConsoleAPICalledTypeError || event.Type == runtime.ConsoleAPICalledTypeWarning) && !b.refuses(string(event.Args[0].Value)) {
				t.Errorf("console: %s", event.Args[0].Value)
			}
		case *log.EventEntryAdded: // what a policy forbids, among others; not a status of 404, nor a question of its own
			if source := event.Entry.Source; event.Entry.Level == log.EntryLevelError && source != log.EntrySourceNetwork && source != log.EntrySourceIntervention &&
				!b.refuses(event.Entry.Text) {
				t.Errorf("console: %s", event.Entry.Text)
			}
		case *page.EventJavascriptDialogOpening: // else every step would wait for an answer
			t.Errorf("the browser asks: %s %s", event.Type, event.Message)
			go func() {
				_, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
			}()
		case *network.EventRequestWillBeSent:
			path, own := strings.CutPrefix(event.Request.URL, s.url)
			if s.provider != "" && (strings.HasPrefix(event.Request.URL, s.provider) || strings.HasPrefix(event.DocumentURL, s.provider)) {
				return
			}
			if !own && !strings.HasPrefix(event.Request.URL, "data:") && !(s.cdn && strings.HasPrefix(event.Request.URL, cdn)) {
				t.Errorf("the page asked %s", event.Request.URL)
			}
			if !strings.HasPrefix(path, "/assets/") && path != "/favicon.ico" {
				b.mu.Lock()
				b.requests = append(b.requests, event.Request.Method+" "+path)
				b.mu.Unlock()
			}
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	must(t, err)
	return b
}

// refuses reports whether a text of the browser is expected.
func (b *browser) refuses(text string) bool {
	return b.refusal != "" && regexp.MustCompile(b.refusal).MatchString(text)
}

// do does steps, and takes a picture where they fail.
func (b *browser) do(what string, steps ...step) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, patience)
	defer cancel()
	if b.hasTabs {
		front := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, t, page.BringToFront, cdp.Empty{})
			return chromedp.Void{}, err
		}
		steps = append([]step{front}, steps...)
	}
	_, err := chromedp.Run(ctx, chromedp.Steps(steps...))
	if err == nil {
		return
	}
	name := filepath.Join(os.TempDir(), strings.Map(letters, b.t.Name()+"-"+what)+".png")
	ctx, cancel = context.WithTimeout(b.Context, patience) // a tab behind others is not painted
	defer cancel()
	if picture, failed := chromedp.Run(ctx, chromedp.CaptureScreenshot()); failed == nil {
		_ = os.WriteFile(name, picture, 0o600)
	}
	b.t.Fatalf("%s: %v; picture: %s", what, err, name)
}

func letters(r rune) rune {
	if r == '/' || r == ' ' {
		return '-'
	}
	return r
}

// sent returns the requests since it was called last.
func (b *browser) sent() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent := b.requests
	b.requests = nil
	return sent
}

// goTo opens a page.
func (b *browser) goTo(path string) step { return chromedp.Navigate(b.service.url + path) }

// await tries something until it has a value. An error means that the page is on its way.
func await[T any](what string, try chromedp.Action[T], has func(T) bool) chromedp.Action[T] {
	return func(ctx context.Context, t *chromedp.Target) (T, error) {
		for {
			if value, err := try(ctx, t); err == nil && has(value) {
				return value, nil
			}
			select {
			case <-ctx.Done():
				return *new(T), fmt.Errorf("%s: %w", what, ctx.Err())
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// until waits for an expression to be true.
func until(expression string) step {
	is := await(expression, chromedp.Evaluate[bool]("Boolean("+expression+")"), func(is bool) bool { return is })
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := is(ctx, t)
		return chromedp.Void{}, err
	}
}

// put sets the value of a field.
func put(selector, value string) step {
	return run(fmt.Sprintf(`document.querySelector(%q).value = %q`, selector, value))
}

// run has the page evaluate an expression.
func run(expression string) step { return chromedp.Evaluate[chromedp.Void](expression) }

func untilAt(path string) step {
	return until(fmt.Sprintf("new RegExp(%q).test(location.pathname + location.search)", path))
}

func focus(selector string) step {
	return run(fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

// click waits until the page has been painted, an element stays at its place and nothing lies over
// its middle, and presses there. Chromium drops what is pressed before the first paint.
func click(selector string) step {
	middle := chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => {
		if (!performance.getEntriesByName("first-contentful-paint").length) return [];
		const element = document.querySelector(%q);
		element?.scrollIntoView({ block: "nearest" });
		const { x, y, width, height } = element?.getBoundingClientRect() ?? {};
		const at = [x + width / 2, y + height / 2];
		return element?.contains(document.elementFromPoint(...at)) ? at : [];
	})()`, selector))
	var before []float64
	pressable := await("click "+selector, middle, func(at []float64) bool {
		stays := len(at) == 2 && slices.Equal(at, before)
		before = at
		return stays
	})
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		at, err := pressable(ctx, t)
		if err != nil {
			return chromedp.Void{}, err
		}
		return chromedp.MouseClickXY(at[0], at[1])(ctx, t)
	}
}

// write puts a text in place of what a field has.
func write(selector, text string) step {
	return chromedp.Steps(put(selector, ""), chromedp.SendKeys(selector, text))
}

// TestReading searches, filters, sorts, pages and goes back. Each is one request for a
// page, which the service draws from one GraphQL request.
func TestReading(t *testing.T) {
	s := start(t)
	b := open(t, s)
	one := func(what string) {
		t.Helper()
		if sent := b.sent(); len(sent) != 1 {
			t.Errorf("%s: %q", what, sent)
		}
	}
	b.do("the list", b.goTo("/"), until(`document.querySelectorAll(".row").length === 30 && document.documentElement.classList.contains("scripted")`))
	b.sent()
	b.do("search", focus("#q"), run(`document.querySelector("#q").value = "love"; document.querySelector("#q").dispatchEvent(new Event("input", {bubbles: true}))`),
		untilAt(`^/\?q=love$`), until(`document.querySelector("h1").textContent.includes("love") && document.activeElement.id === "q"`))
	one("search")
	b.do("filter", click(".values input"), untilAt("category="), until(`document.querySelector(".chip")`))
	one("filter")
	b.do("back", chromedp.NavigateBack(), untilAt(`^/\?q=love$`), chromedp.NavigateBack(), untilAt(`^/$`), until(`document.querySelector("h1").textContent.startsWith("300")`))
	if sent := b.sent(); len(sent) != 2 {
		t.Errorf("back: %q", sent)
	}
	b.do("sort", click(".captions .by-price"), untilAt("sort=price"), until(`document.querySelector(".by-price[aria-current]")`))
	one("sort")
	b.do("the next page", click("[rel=next]"), untilAt("after="), until(`document.querySelector("[rel=prev]")`))
	one("the next page")
	b.do("a book", click(".row h2 a"), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts")`))
	one("a book")
	b.do("open", b.goTo("/"), until(`document.documentElement.classList.contains("scripted")`))
	one("open")
	b.do("a decade", run(`document.querySelectorAll(".chart a")[8].dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`), untilAt("from=2000&to=2009"), until(`document.querySelector(".chip")`))
	one("a decade")
	b.do("a book by keys", b.goTo("/"), until(`document.documentElement.classList.contains("scripted")`), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter), untilAt(`^/books/\d+$`), until(`document.querySelector(".facts")`))
	b.do("a mistyped search", b.goTo("/?q=hary+poter"), until(`document.querySelector(".note strong")?.textContent === "“gary or mary peter”"`))
	b.do("no such book", b.goTo("/books/99999"), until(`document.querySelector("h1").textContent.includes("not found")`))
}

// TestWriting changes a book with a token, makes one with its genre, and deletes it.
func TestWriting(t *testing.T) {
	s := start(t)
	b := open(t, s)
	b.do("the form", b.goTo("/books/1/edit"), until(`document.querySelector(".token-note").textContent.includes("need an access token")`), write("#price", "1.250"), click("book-form .main"))
	b.do("what is wrong", until(`document.querySelector(".wrong-text").textContent.startsWith("“1.250” can be read in two ways.")`), until(`document.querySelector(".problems").textContent.includes("Price")`))
	b.do("a token", write("#price", "15,71"), click("book-form .main"), until(`document.querySelector("dialog[open] textarea")`), put("dialog textarea", s.token), click("dialog .main"))
	b.do("saved", untilAt(`^/books/1$`), until(`document.querySelector(".facts").textContent.includes("15.71")`))
	b.do("a new book", b.goTo("/books/new"), until(`customElements.get("book-form")`), write("#name", "Momo"), write("#author", "Michael Ende"),
		put("#genreId", "new"), run(`document.querySelector("#genreId").dispatchEvent(new Event("input", {bubbles: true}))`),
		write("#newGenre", "Fairy tales"), write("#newCategory", "Tales"), write("#publishedAt", "1973-01-01"), write("#pages", "304"), write("#price", "9.99"),
		click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector("h1").textContent === "Momo"`))
	b.do("deleted", click("delete-button button"), until(`document.querySelector("dialog[open] h2").textContent.includes("Momo")`), click("dialog .danger"), untilAt(`^/$`), until(`document.querySelector("#live").textContent.includes("deleted")`))
	b.do("a genre", b.goTo("/genres"), until(`document.querySelector("add-button button")`), click("add-button button"), write("#dialog-name", "Music"))
	b.sent()
	b.do("a double click", run(`document.querySelector("dialog .main").click(); document.querySelector("dialog .main").click()`), says("Saved."), until(`[...document.querySelectorAll("h2")].some((h) => h.textContent === "Music")`))
	if sent := b.sent(); !slices.Equal(sent, []string{"POST /graphql", "GET /genres"}) {
		t.Errorf("a double click: %q", sent)
	}
	b.do("what it holds", click(`[data-name="Tales"][data-children="1"] button`), click("dialog .danger"), until(`document.querySelector("dialog[open] :invalid")`),
		click("dialog [name=onChildren]"), click("dialog .danger"), until(`document.querySelector("#live").textContent.includes("“Tales” was deleted")`))
}

// TestEmpty fills an empty catalogue with the sample.
func TestEmpty(t *testing.T) {
	s := start(t, "--empty")
	b := open(t, s)
	b.do("the sample", b.goTo("/"), until(`document.querySelector("h1").textContent === "No books yet."`), click("sample-button button"),
		until(`document.querySelector("dialog[open] textarea")`), put("dialog textarea", s.token), click("dialog .main"),
		until(`document.querySelector("h1").textContent === "300 books" && document.querySelector("#live").textContent.includes("300 books added")`))
}

// TestNarrow opens the menu that folds on a phone, and follows it.
func TestNarrow(t *testing.T) {
	b := open(t, start(t))
	b.do("the menu", screen("light", 360), b.goTo("/"), click(".menu-button"), until(`document.querySelector("#menu:popover-open")`))
	b.do("the genres", click(`#menu [href="/genres"]`), untilAt(`^/genres$`), until(`!document.querySelector("#menu:popover-open")`))
}

// TestConflict has two windows change the same book: what one of them changed alone is
// merged, and for the rest they choose.
func TestConflict(t *testing.T) {
	s := start(t)
	form := func(fields ...step) *browser {
		b := open(t, s)
		b.do("the form", b.goTo("/books/1/edit"), until(`customElements.get("book-form")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
		b.do("the fields", fields...)
		return b
	}
	b, other := form(write("#pages", "555"), write("#name", "A new name")), form(write("#pages", "777"), write("#price", "1.11"))
	other.do("the other saves", click("book-form .main"), untilAt(`^/books/1$`))
	b.do("the clash", click("book-form .main"), until(`document.querySelector(".clash")?.textContent.includes("777")`), until(`document.querySelector(".merged").textContent === "No conflict, both kept:your Name: A new nametheir Price: 1.11"`))
	b.do("the choice", click(".clash [data-save]"), untilAt(`^/books/1$`), until(`document.querySelector("h1").textContent === "A new name" && /555[\s\S]*1\.11/.test(document.querySelector(".facts").textContent)`))
}

// TestNothingTypedIsLost leaves a form and comes back to it.
func TestNothingTypedIsLost(t *testing.T) {
	s := start(t)
	b := open(t, s)
	b.do("type", b.goTo("/books/1/edit"), until(`customElements.get("book-form")`), write("#author", "Somebody else"), run(`window.confirm = () => true`), click(".brand"), untilAt(`^/$`))
	b.do("come back", b.goTo("/books/1/edit"), until(`document.querySelector("#author").value === "Somebody else"`))
}

// TestPlayground runs the request of a link and shows the schema, in the form of a fresh clone.
func TestPlayground(t *testing.T) {
	s := startForm(t)
	b := open(t, s)
	b.do("run", b.goTo("/playground"), until(`customElements.get("query-form")`), click("query-form .main"), until(`document.querySelector(".answer").textContent.includes("totalCount")`))
	b.do("the schema", click("summary"), until(`[/^type Query \{[^}]*  book\(id: ID!, asOf: DateTime\): Book$/m, /^scalar Date$/m, /^input CreateBookInput \{[^}]*  name: String!$/m, /^type Book implements Node \{$/m]
		.every((part) => part.test(document.querySelector(".schema pre").textContent))`))
	b.do("a link", b.goTo("/books/1"), click(".foot nav a"), until(`document.querySelector("#query")?.value.includes("publishedAt") && customElements.get("query-form")`),
		click("query-form .main"), until(`document.querySelector(".answer").textContent.includes("genre")`))
	b.do("no JSON", put("#variables", "{"), click("query-form .main"), until(`document.querySelector(".answer").textContent.includes("variables are not JSON")`))
	b.do("the way back", click(".brand"), untilAt("^/$"), chromedp.NavigateBack(), until(`document.querySelector("#query")?.value.includes("publishedAt")`),
		click("query-form .main"), until(`document.querySelector(".answer").textContent.includes("genre")`))
	b.do("the reference", b.goTo("/api/docs"), until(`document.querySelectorAll(".opblock").length > 10`))
}

// TestPlaygroundWaits opens an address with a query, and one with a mutation, in a tab that
// has a token, with both playgrounds: before a press they ask for the schema at most.
func TestPlaygroundWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		start               func(*testing.T) *service
		filled, run, loaded string
		posts               []string
	}{
		"form": {startForm, `document.querySelector("#query")?.value`, "query-form .main", `customElements.get("query-form")`, nil},
		"GraphiQL": {func(t *testing.T) *service { return start(t) }, `document.querySelector(".graphiql-query-editor .CodeMirror")?.CodeMirror.getValue()`,
			".graphiql-execute-button", `document.querySelector(".graphiql-query-editor .CodeMirror")?.CodeMirror.options.lint.schema`, []string{"POST /graphql"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.start(t)
			b := open(t, s)
			b.do("a token", b.goTo("/books/1"), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
			for _, document := range []string{"{books{totalCount}}", `mutation{createCategory(input:{name:"By a link"}){category{name}}}`} {
				b.sent()
				b.do(document, b.goTo("/playground?"+url.Values{"query": {document}}.Encode()), until(fmt.Sprintf(tt.filled+" === %q", document)), until(tt.loaded))
				posts := slices.DeleteFunc(b.sent(), func(sent string) bool { return !strings.HasPrefix(sent, "POST ") })
				if !slices.Equal(posts, tt.posts) {
					t.Errorf("%s: before a press it sends %q", document, posts)
				}
			}
			b.do("a press", click(tt.run), until(`document.querySelector(".answer, .result-window")?.textContent.includes("By a link")`))
		})
	}
}

// TestGraphiQL runs an example, follows a link with a request, and writes with the token
// of the tab. GraphiQL keeps its text in an editor of its own, which takes the name of
// the operation a moment after the text, and sends the one that it has.
func TestGraphiQL(t *testing.T) {
	s := start(t)
	b := open(t, s)
	execute := func(operation, answer string) step {
		return chromedp.Steps(
			until(fmt.Sprintf(`document.querySelector(".graphiql-query-editor .CodeMirror")?.CodeMirror.operationName === %q`, operation)),
			click(".graphiql-execute-button"),
			until(fmt.Sprintf(`document.querySelector(".result-window")?.textContent.includes(%q)`, answer)))
	}
	b.do("an example", b.goTo("/playground"), until(`document.querySelectorAll(".graphiql-tab").length === 5`), execute("NestedBooks", "totalCount"))
	b.do("the schema", click(`[aria-label="Show Documentation Explorer"]`), until(`document.querySelector(".graphiql-doc-explorer")?.textContent.includes("Query")`))
	b.do("a link", b.goTo("/books/1"), click(".foot nav a"), until(`document.querySelectorAll(".graphiql-tab").length === 6`), execute("Book", "publishedAt"))
	b.do("a write", run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), run(`[...document.querySelectorAll(".graphiql-tab-button")].at(-2).click()`), execute("AddBook", "The Dispossessed"))
	b.do("nothing is kept", until(`!JSON.stringify({...localStorage}).includes("Bearer")`))
}

// TestAccessible runs axe over the pages, light and dark, narrow and wide, where
// nothing may be wider than the window.
func TestAccessible(t *testing.T) {
	s := startForm(t)
	b := open(t, s)
	ready := until(`document.querySelector("add-button button, copy-button button, book-form")`)
	token := run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token))
	opened := map[string]step{ // what is open where axe looks again
		"/?sort=name":         chromedp.Steps(ready, run(`document.querySelector(".tick").click()`), click(".up summary")),
		"/?sort=author":       chromedp.Steps(ready, click(".view summary")),
		"/?sort=pages":        chromedp.Steps(ready, token, run(`document.querySelector(".tick").click()`), click("[data-change]"), until(`document.querySelector("dialog[open] optgroup")`), put("dialog [name=percent]", "10"), click(showChanges), until(`document.querySelector("[data-preview] .names li")`)),
		"/?sort=price":        run(`sessionStorage.removeItem("token"), document.querySelector("[data-keys]").click()`),
		"/?from=2010&to=1990": ready,
		"/books/new?":         chromedp.Steps(until(`customElements.get("book-form")`), click("book-form .main"), until(`document.querySelector(".wrong")`)),
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 768, 1440} {
			b.do("a screen", screen(scheme, width))
			for _, path := range []string{"/", "/?q=zzzz", "/books/1", "/books/1/edit", "/books/new", "/import", "/genres", "/developers", "/playground", "/nothing", "/print", "/labels",
				"/?sort=name", "/?sort=author", "/?sort=pages", "/?sort=price", "/?from=2010&to=1990", "/books/new?"} {
				b.do(path, b.goTo(path), until(`document.documentElement.classList.contains("scripted")`))
				if opened, ok := opened[path]; ok {
					b.do(path+", opened", opened)
				}
				if found := b.faults(`[]`); found != "" {
					t.Errorf("%s, %s, %d px: %s", path, scheme, width, found)
				}
			}
		}
	}
}

// faults returns the violations that axe finds, whether the page is wider than the window, and the list of an
// expression.
func (b *browser) faults(more string) string {
	b.t.Helper()
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		b.t.Fatal("axe-core is missing: run make e2e: ", err)
	}
	b.do("axe", run(string(axe)))
	found, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.nodes[0].html).concat(
		document.documentElement.scrollWidth > innerWidth ? "wider than the window" : [], `+more+`).join("\n"))`, chromedp.EvalAwaitPromise))
	must(b.t, err)
	return found
}

// screen makes the window so wide, and the system light or dark.
func screen(scheme string, width int64) step {
	return chromedp.Steps(chromedp.EmulateViewport(width, 1000), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
