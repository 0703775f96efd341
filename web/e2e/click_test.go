package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// kinds returns the kinds of links and controls of a page that a pointer can reach, as JavaScript. It numbers the first
// element of each kind in the attribute data-kind.
const kinds = `(() => {
	const seen = new Map();
	for (const element of document.querySelectorAll(":is(header, main, footer) :is(a[href], button, summary, input[type=checkbox])")) {
		const { width, x } = element.getBoundingClientRect();
		if (!element.checkVisibility({ visibilityProperty: true }) || !width || x < 0 || element.disabled || element.closest(".languages")) continue; // a language would be that of all pages from then on
		const words = [element.closest("header, main, footer").tagName, element.tagName, element.parentElement.tagName, element.getAttribute("class")?.split(" ")[0], element.name];
		if (element.tagName === "A") {
			const { pathname, searchParams } = new URL(element.getAttribute("href"), location);
			words.push(pathname.replace(/\d+/g, "N"), ...new Set(searchParams.keys()));
		} else words.push(element.textContent);
		const kind = words.filter(Boolean).join(" ");
		if (seen.has(kind)) continue;
		element.dataset.kind = seen.size;
		seen.set(kind, element);
	}
	return [...seen.keys()];
})()`

// watch prepares the page to report an effect of a click, apart from a request: another page, other content, a dialog, the
// menu, or another element with the focus.
const watch = `(() => {
	window.changed = false;
	const begun = location.href;
	new MutationObserver(() => { window.changed = true; }).observe(document, { subtree: true, childList: true, characterData: true, attributeFilter: ["open", "hidden", "aria-invalid"] });
	window.hasEffect = (clicked) => window.changed || location.href !== begun || document.querySelector(":popover-open, dialog[open]") || ![clicked, document.body].includes(document.activeElement);
})()`

// traffic counts the requests of a tab.
type traffic struct {
	mu      sync.Mutex
	pending map[network.RequestID]string // URLs, of the latest document
	latest  cdp.LoaderID                 // of that document; requests of a page that is left may end without an event
	total   int
	failed  []string
}

func (f *traffic) record(event any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		f.total++
		if event.Type == network.ResourceTypeDocument {
			f.latest = event.LoaderID
			clear(f.pending)
		}
		if event.LoaderID == f.latest {
			f.pending[event.RequestID] = event.Request.URL
		}
	case *network.EventResponseReceived:
		if event.Response.Status >= 400 {
			f.failed = append(f.failed, fmt.Sprint(event.Response.Status, " ", event.Response.URL))
		}
	case *network.EventLoadingFinished:
		delete(f.pending, event.RequestID)
	case *network.EventLoadingFailed:
		if !event.Canceled && event.ErrorText != "net::ERR_ABORTED" { // a download ends the navigation
			f.failed = append(f.failed, event.ErrorText+" "+f.pending[event.RequestID])
		}
		delete(f.pending, event.RequestID)
	}
}

// TestEveryClickHasAnEffect clicks one element of each kind on every page, narrow and wide. Each does something, and no
// request fails.
func TestEveryClickHasAnEffect(t *testing.T) {
	s := startForm(t)
	b := open(t, s)
	f := &traffic{pending: map[network.RequestID]string{}}
	must(t, chromedp.Listen(b.Context, f.record))
	quiet := await("the end of all requests", func(context.Context, *chromedp.Target) (bool, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.pending) == 0, nil
	}, func(is bool) bool { return is })
	settle := func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := quiet(ctx, t)
		return chromedp.Void{}, err
	}
	ready := until(`document.documentElement.classList.contains("scripted") && [...document.querySelectorAll("main *")].every((e) => e.matches(":defined"))`)
	check := func(row, shown string) step { // a new book each time
		return chromedp.Steps(run(fmt.Sprintf(`(() => {
			const data = new DataTransfer();
			data.items.add(new File([%q + %q.replace("NEW", crypto.randomUUID())], "books.csv"));
			document.querySelector("book-import").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
		})()`, importHeader, row)), until(fmt.Sprintf(`document.querySelector("[data-result]")?.textContent.includes(%q)`, shown)))
	}
	opened := map[string]step{ // what is open before a click
		"/import?checked":  check("NEW,A,,1,2005-01-01,1,G,C\nB,A,,0,2005-01-01,1,G,C\n", "Import 1 book"),
		"/import?question": check("NEW,A,,1,2005-01-01,1,G,C\nB,A,,1,2005-01-01,1,G,C\nB,A,,2,2005-01-01,1,G,C\n", "Use the last row"),
		"/?menu":           chromedp.Steps(click(".menu-button"), until(`document.querySelector(":popover-open")`)),
		"/?filter":         chromedp.Steps(click(".fold > summary"), until(`document.querySelector(".fold").open`)),
		"/?view":           chromedp.Steps(click(".view summary"), until(`document.querySelector(".view").open`)),
	}
	b.do("a token", b.goTo("/books/1"), run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, s.token)))
	for _, width := range []int64{360, 1440} {
		b.do("a screen", screen("light", width))
		plain := map[string][]string{} // kinds of a page on which nothing is open
		frame := map[string]bool{}     // kinds in the header and the footer, which all pages share
		for _, path := range []string{"/", "/?q=love&from=1990&sort=price", "/?q=zzzz", "/books/1", "/books/1/edit", "/books/new", "/genres", "/import", "/developers", "/playground", "/nothing",
			"/import?checked", "/import?question", "/?menu", "/?filter", "/?view"} {
			if strings.HasSuffix(path, "menu") && width > 479 || strings.HasSuffix(path, "filter") && width > 1023 {
				continue // it is open
			}
			ready := ready
			if opened, ok := opened[path]; ok {
				ready = chromedp.Steps(ready, opened)
			}
			b.do(path, b.goTo(path), ready)
			found, err := chromedp.Run(b.Context, chromedp.Evaluate[[]string](kinds))
			must(t, err)
			closed, _, _ := strings.Cut(path, "?")
			if opened[path] == nil {
				plain[path] = found
			}
			for i, kind := range found {
				if opened[path] != nil && slices.Contains(plain[closed], kind) {
					continue
				}
				if !strings.HasPrefix(kind, "MAIN") {
					if frame[kind] {
						continue
					}
					frame[kind] = true
				}
				what := fmt.Sprintf("%d px, %s, %s", width, path, kind)
				selector := fmt.Sprintf(`[data-kind="%d"]`, i)
				var before int
				count := func(context.Context, *chromedp.Target) (chromedp.Void, error) {
					f.mu.Lock()
					defer f.mu.Unlock()
					before, f.failed = f.total, nil
					return chromedp.Void{}, nil
				}
				hasEffect := await(what, chromedp.Evaluate[bool](fmt.Sprintf(`Boolean(window.hasEffect?.(document.querySelector(%q)))`, selector)), func(is bool) bool {
					f.mu.Lock()
					defer f.mu.Unlock()
					return is || f.total > before
				})
				b.do(what, b.goTo(path), ready, settle, run(kinds), run(watch), count, click(selector), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
					_, err := hasEffect(ctx, t)
					return chromedp.Void{}, err
				}, settle)
				if f.failed != nil {
					t.Errorf("%s: %q", what, f.failed)
				}
			}
		}
	}
}
