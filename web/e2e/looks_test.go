package e2e

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// box is an expression for the place of the first visible element of a selector.
const box = `const box = (selector) => [...document.querySelectorAll(selector)].find((e) => e.checkVisibility()).getBoundingClientRect(); `

// textTop defines a function that measures the top of an element's text.
const textTop = `const textTop = (e) => { const range = document.createRange(); range.selectNodeContents(e); return range.getBoundingClientRect().top; }; `

// holds waits for a condition, which measures by box and textTop.
func holds(condition string) step {
	return until(`(() => { ` + box + textTop + `return ` + condition + `; })()`)
}

// window sets the size of the window.
func window(width, height int64) step { return chromedp.EmulateViewport(width, height) }

// TestFormLooks measures the form of a book: fields of a row begin and end together, and an ISBN fits in its field.
func TestFormLooks(t *testing.T) {
	b := open(t, start(t))
	for _, width := range []int64{360, 480, 768, 1440} {
		b.do(fmt.Sprint(width), window(width, 1000), b.goTo("/books/new"), scripted, put("#isbn", "978-3-16-148410-0"),
			until(`Object.values(Object.groupBy(document.querySelectorAll(".field-row:not([hidden]) .field"), (f) => f.getBoundingClientRect().top))
				.every((row) => new Set(row.map((f) => f.querySelector("input").getBoundingClientRect().top)).size === 1)`),
			until(`document.querySelector("#isbn").scrollWidth <= document.querySelector("#isbn").clientWidth`))
	}
	b.do("with a problem", write("#pages", "x"), click("book-form .main"), until(`document.querySelector("#pages-wrong")`),
		holds(`box("#pages-wrong").top >= box("#pages").bottom && box("#price").top === box("#pages").top && box("#publisher").top > box("#pages-wrong").bottom`))
}

// TestRules measures the rules of pages with sections: they have one length.
func TestRules(t *testing.T) {
	s := startAccounts(t)
	b := open(t, s)
	b.do("an admin", b.welcome(s.invite(t, "ada", "admin")))
	for _, width := range []int64{360, 768, 1440} {
		for _, path := range []string{"/account", "/admin", "/changes"} {
			b.do(fmt.Sprint(path, width), window(width, 1000), b.goTo(path), scripted, until(`new Set([...document.querySelectorAll(".part, .entries > li")].map((e) => e.getBoundingClientRect().width)).size === 1`))
			if found := b.faults(`[]`); found != "" {
				t.Errorf("%s at %d px: %s", path, width, found)
			}
		}
	}
}

// TestTickLooks looks at the tick of a book: on a phone it stands apart from the colour, with a mouse it takes its place.
func TestTickLooks(t *testing.T) {
	s := start(t)
	touch := openWith(t, s, chromedp.Flag("blink-settings", "primaryHoverType=1,availableHoverTypes=1,primaryPointerType=2,availablePointerTypes=2"))
	for _, width := range []int64{360, 768} {
		touch.do(fmt.Sprint("touch", width), window(width, 1000), touch.goTo("/"), scripted,
			holds(`box(".tick").left - box(".swatch").right >= 12 && box(".what").left - box(".tick").right >= 12`))
	}
	mouse := open(t, s)
	mouse.do("a mouse", mouse.goTo("/"), scripted, until(`getComputedStyle(document.querySelector(".tick")).opacity === "0" && getComputedStyle(document.querySelector(".swatch")).visibility === "visible"`),
		click(".tick"), until(`[...document.querySelectorAll(".tick")].every((e) => getComputedStyle(e).opacity === "1") && [...document.querySelectorAll(".swatch")].every((e) => getComputedStyle(e).visibility === "hidden")`))
}

// TestListLooks looks at the list: the shelf is full to its end, and gone where it would leave no room for books; the menu begins
// with what is printed.
func TestListLooks(t *testing.T) {
	b := open(t, start(t))
	for _, width := range []int64{768, 1440} {
		b.do(fmt.Sprint("the shelf", width), window(width, 1000), b.goTo("/"), scripted,
			until(`(() => { const shelf = document.querySelector(".shelf").getBoundingClientRect(); const rights = [...document.querySelectorAll(".spine")].map((e) => e.getBoundingClientRect()).filter((e) => e.top < shelf.bottom).map((e) => e.right); return Math.abs(shelf.right - Math.max(...rights)) < 2; })()`))
	}
	shows := func(rows int) step {
		return until(fmt.Sprintf(`!document.querySelector(".shelf").checkVisibility() && document.querySelectorAll(".row")[%d].getBoundingClientRect().bottom <= innerHeight`, rows-1))
	}
	b.do("a phone", window(360, 740), b.goTo("/"), scripted, shows(3))
	b.do("200 %", window(720, 450), b.goTo("/"), scripted, shows(1))
	b.do("the menu", window(1440, 1000), b.goTo("/"), scripted, click(".view summary"),
		until(`[...document.querySelectorAll(".actions .view > ul > li")].map((e) => e.firstElementChild.textContent).join() === "List to print,Labels to print,Copy link,Show the query,Download"`),
		until(`document.querySelectorAll(".actions .view ul ul a").length >= 4`))
	b.do("the foot", holds(`textTop(document.querySelector("[data-keys]")) === textTop(document.querySelector(".foot nav a"))`))
	b.do("the colours of tools", screen("dark", 1440), b.goTo("/api/docs"), until(`getComputedStyle(document.documentElement).colorScheme === "light dark"`))
}

// TestNarrowLooks looks at pages on a phone: a book begins with its name, and nothing of the list to print is cut.
func TestNarrowLooks(t *testing.T) {
	s := start(t)
	b := open(t, s)
	b.do("a book", window(360, 740), b.goTo("/books/1"), scripted, until(`!document.querySelector(".book > .cover").checkVisibility()`), holds(`box("h1").top < 220`))
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {shelfMark: "A 1"}}) { book { id } } }`)
	s.graphQL(t, `mutation { updateBook(input: {id: 2, patch: {isbn: "9780439023481"}}) { book { id } } }`)
	b.do("a list to print", b.goTo("/print"), scripted, until(`document.querySelector(".wide").scrollWidth <= document.querySelector(".wide").clientWidth`),
		until(`[...document.querySelectorAll(".printed td")].every((e) => e.getBoundingClientRect().right <= innerWidth)`),
		until(`[...document.querySelectorAll(".printed tbody tr")].every((row) => [...row.cells].map((e) => getComputedStyle(e, "::before").content.replace("none", "") + e.textContent + getComputedStyle(e, "::after").content.replace("none", "")).join("") ===
			[...row.cells].map((e) => e.textContent).filter(Boolean).join('" · "'))`))
	for _, path := range []string{"/print", "/labels"} {
		b.do(path, b.goTo(path), scripted)
		if found := b.faults(`[]`); found != "" {
			t.Errorf("%s: %s", path, found)
		}
	}
}

// TestPrintedPages prints the 300 books of the sample. Columns are as wide as their texts need.
func TestPrintedPages(t *testing.T) {
	b := open(t, start(t))
	b.do("the list", b.goTo("/print"), scripted)
	ctx, cancel := context.WithTimeout(b.Context, patience)
	defer cancel()
	printed, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
	must(t, err)
	if pages := bytes.Count(printed.Data, []byte("/Type /Page\n")); pages < 1 || pages > 10 {
		t.Errorf("%d pages", pages)
	}
}
