package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
)

// cdn is where a fresh clone has its GraphiQL from.
const cdn = "https://cdn.jsdelivr.net/"

// npmFile returns the file of npm's packages that an address of the CDN names.
func npmFile(t *testing.T, address string) []byte {
	name, path, _ := strings.Cut(strings.TrimPrefix(address, cdn+"npm/"), "@")
	_, path, _ = strings.Cut(path, "/")
	text, err := os.ReadFile(filepath.Join("..", "graphiql", "node_modules", name, path))
	if err != nil {
		t.Error("run make web: ", err)
	}
	return text
}

// answerCDN answers requests to the CDN, and fails the test if they say whose they are. A request without an answer waits.
func (b *browser) answerCDN(answer func(address string) []byte) {
	b.t.Helper()
	must(b.t, chromedp.Listen(b.Context, func(event any) {
		paused, ok := event.(*fetch.EventRequestPaused)
		if !ok {
			return
		}
		for name, value := range paused.Request.Headers {
			if name := strings.ToLower(name); name == "referer" || name == "cookie" || name == "authorization" || strings.Contains(fmt.Sprint(value), b.service.token) {
				b.t.Errorf("%s was sent %s: %v", paused.Request.URL, name, value)
			}
		}
		body := answer(paused.Request.URL)
		if body == nil {
			return
		}
		kind := "text/javascript"
		if strings.HasSuffix(paused.Request.URL, ".css") {
			kind = "text/css"
		}
		go func() {
			_, _ = chromedp.Call(b.Context, fetch.FulfillRequest, fetch.FulfillRequestParams{
				RequestID: paused.RequestID, ResponseCode: 200, Body: body,
				ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: kind}, {Name: "Access-Control-Allow-Origin", Value: "*"}},
			})
		}()
	}))
	_, err := chromedp.Call(b.Context, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: cdn + "*"}}})
	must(b.t, err)
}

// pick waits for the element that a selector and its text name, and clicks it.
func pick(selector, text string) step {
	return until(fmt.Sprintf(`((element) => element && (element.click(), true))([...document.querySelectorAll(%q)].find((element) => element.textContent === %q))`, selector, text))
}

// TestPlaygroundOfCDN uses GraphiQL in the playground of a fresh clone: it completes a field, shows its documentation, sends
// headers, and follows changes.
func TestPlaygroundOfCDN(t *testing.T) {
	s := startFresh(t)
	s.cdn = true
	b := open(t, s)
	b.answerCDN(func(address string) []byte { return npmFile(t, address) })
	const result = `document.querySelector(".result-window")?.textContent`
	const query, headers = `document.querySelector(".graphiql-query-editor .CodeMirror")?.CodeMirror`, `document.querySelector(".graphiql-editor-tool .graphiql-editor:not(.hidden) .CodeMirror").CodeMirror`
	b.do("complete a field", b.goTo("/playground"), until(query+`?.options.lint.schema`), run(query+`.setValue("{ book }")`), run(query+`.setCursor(0, 6)`), run(query+`.focus()`), chromedp.KeyEvent("s"),
		until(`[...document.querySelectorAll(".CodeMirror-hint")].some((hint) => hint.textContent.startsWith("books"))`))
	b.do("its documentation", click(`[aria-label="Show Documentation Explorer"]`), pick(".graphiql-doc-explorer-type-name", "Query"), pick(".graphiql-doc-explorer-field-name", "books"),
		until(`document.querySelector(".graphiql-doc-explorer-title")?.textContent === "books" && document.querySelector(".graphiql-doc-explorer-content").textContent.includes("BookConnection")`))
	b.do("a header", run(query+`.setValue("{ viewer { expiresAt } }")`), pick(".graphiql-editor-tools button", "Headers"),
		run(fmt.Sprintf(headers+`.setValue('{"Authorization": "Bearer %s"}')`, s.token)), click(".graphiql-execute-button"), until(result+`.includes('"expiresAt": "')`))
	written := 0
	change := func(ctx context.Context, target *chromedp.Target) (bool, error) {
		written++
		s.graphQL(t, fmt.Sprintf(`mutation { updateBook(input: {id: 2, patch: {pages: %d}}) { book { id } } }`, written))
		return chromedp.Evaluate[bool](result+`.includes('"operation": "UPDATE"')`)(ctx, target)
	}
	b.do("what is sent", run(`var sent = [], send = WebSocket.prototype.send; WebSocket.prototype.send = function (text) { sent.push(text); send.call(this, text); }`))
	b.do("a subscription", run(headers+`.setValue("")`), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)), run(query+`.setValue("subscription { changes { operation version } }")`), until(query+`.documentAST.definitions[0].operation === "subscription"`),
		click(".graphiql-execute-button"), func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := await("a change", change, func(seen bool) bool { return seen })(ctx, target)
			return chromedp.Void{}, err
		})
	b.do("the token of the tab", until(fmt.Sprintf(`sent[0].includes('"Authorization":"Bearer %s"')`, s.token)))
}

// TestPlaygroundWithoutCDN has the CDN send other files, fail, and wait: the form says so and keeps the request of the link.
func TestPlaygroundWithoutCDN(t *testing.T) {
	for name, answer := range map[string]func(string) []byte{
		"other files": func(string) []byte { return []byte("document.body.textContent = 1") },
		"one other file": func(address string) []byte {
			return append(npmFile(t, address), strings.Repeat("\n", strings.Count(address, "graphiql.min.js"))...)
		},
		"no answer": func(string) []byte { return nil },
		"no CDN":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := startFresh(t)
			s.cdn = true
			b := open(t, s)
			b.refusal = "integrity"
			if answer != nil {
				b.answerCDN(answer)
			}
			b.do("the form", b.goTo("/playground?query=%7Bbooks%7BtotalCount%7D%7D"), until(`document.querySelector(".note.warn")?.textContent.includes("did not load from cdn.jsdelivr.net")`),
				until(`document.querySelector("#query").value === "{books{totalCount}}" && customElements.get("query-form")`), click("query-form .main"),
				until(`document.querySelector(".answer").textContent.includes('"totalCount": 300')`))
			b.do("again", until(`document.querySelector(".note.warn a").getAttribute("href") === "/playground?query=%7Bbooks%7BtotalCount%7D%7D"`))
		})
	}
	b := open(t, startForm(t))
	b.do("switched off", b.goTo("/playground"), until(`document.querySelector(".note.warn").textContent.includes("CATALOGUE_PLAYGROUND_CDN=false")`))
}
