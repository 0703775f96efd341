package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// described holds if the head describes the book on the page, and no other one.
const described = `(() => {
	const all = (selector) => [...document.querySelectorAll(selector)];
	const [canonical, data] = [all("link[rel=canonical]"), all('script[type="application/ld+json"]')];
	const name = document.querySelector("h1").textContent;
	return canonical.length === 1 && canonical[0].getAttribute("href") === "https://books.example" + location.pathname &&
		data.length === 1 && JSON.parse(data[0].textContent).name === name && all("meta[name=citation_title]").map((meta) => meta.content).join() === name &&
		new URLSearchParams(document.querySelector(".Z3988").title).get("rft.btitle") === name;
})()`

// TestDescribedBooks goes from book to book without a load, and downloads citations.
func TestDescribedBooks(t *testing.T) {
	b := open(t, start(t, "--public-url=https://books.example"))
	b.do("a book", b.goTo("/"), until(`document.documentElement.classList.contains("scripted")`), click(".row h2 a"), untilAt(`^/books/\d+$`), until(described))
	b.do("another", run(`first = document.querySelector("h1").textContent`), click(".covers a"), until(`document.querySelector("h1").textContent !== first`), until(described))
	b.do("the list", chromedp.NavigateBack(), until(described), chromedp.NavigateBack(), untilAt("^/$"), until(`document.querySelector("link[rel=canonical]").getAttribute("href") === "https://books.example/" && !document.querySelector("script[type='application/ld+json'], [name=citation_title]")`))
	b.do("opened", b.goTo("/books/1"), until(described), until(`document.documentElement.classList.contains("scripted")`))
	b.sent()
	sent := func(context.Context, *chromedp.Target) ([]string, error) { return b.sent(), nil }
	for _, suffix := range []string{".bib", ".ris", ".csl.json", ".marcxml"} {
		requested := await(suffix, sent, func(requests []string) bool { return slices.Contains(requests, "GET /api/books/1"+suffix) })
		b.do(suffix, click(`main a[href$="`+suffix+`"]`), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
			_, err := requested(ctx, t)
			return chromedp.Void{}, err
		}, until(`location.pathname === "/books/1" && `+described))
	}
}
