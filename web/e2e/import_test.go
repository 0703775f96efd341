package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// drop drops a file with this text on the page.
func drop(name, text string) step {
	return run(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		document.querySelector("book-import").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	})()`, base64.StdEncoding.EncodeToString([]byte(text)), name))
}

// figure waits for a number of a check or an import.
func figure(word, number string) step {
	return until(fmt.Sprintf(`[...document.querySelectorAll(".figures div")].some((d) => d.querySelector("dt").textContent === %q && d.querySelector("dd").textContent === %q)`, word, number))
}

// press presses the button whose text begins so.
func press(text string) step {
	button := fmt.Sprintf(`[...document.querySelectorAll("book-import button")].find((b) => b.textContent.startsWith(%q))`, text)
	return chromedp.Steps(until(button), run(button+".click()"))
}

// TestImport drops a file: what it leaves open is asked, what is bad is shown, and only
// the button imports. The rejects that are saved go in when they are mended.
func TestImport(t *testing.T) {
	s := start(t)
	b := open(t, s)
	var file strings.Builder
	file.WriteString("Title;author;published;pages;price;Shelf\n")
	for n := range 300 {
		fmt.Fprintf(&file, "<b>Dropped</b> %d;Somebody;3/4/2005;%d;1,50;Imported\n", n, n)
	}
	page := chromedp.Steps(b.goTo("/import"), until(`customElements.get("book-import")`))
	b.do("the page", b.goTo("/"), until(`document.documentElement.classList.contains("scripted")`), click(`.actions a[href="/import"]`), untilAt("^/import$"))
	b.do("a token is asked for", page, drop("books.csv", file.String()), until(`document.querySelector("dialog textarea")`), put("dialog textarea", s.token), click("dialog [value=use]"))
	b.do("a column is missing", until(`document.querySelector("book-import .note.warn")?.textContent.includes("no column genre")`),
		run(`document.querySelector("select[name=genre]").value = "Shelf"`), put("input[name=category]", "Files"), press("Check again"))
	b.do("day or month", until(`document.querySelector("book-import .note.warn")?.textContent.includes("two ways")`), press("dmy"))
	b.do("the check", figure("new", "299"), figure("rejected", "1"),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent === "2005-04-03")`),
		until(`[...document.querySelectorAll("td")].some((d) => d.textContent === "<b>Dropped</b> 0")`))
	b.do("nothing is stored", until(`(fetch("/api/books?q=Dropped&per_page=1").then((r) => { window.found = r.headers.get("X-Total-Count"); }), window.found === "0")`))
	b.do("the import", press("Import 299 books"), figure("created", "299"), until(`document.querySelector("#live").textContent === "The file is imported."`))

	b.do("the rejects", run(`(() => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make(blob); }; })()`),
		press("Download"), until("window.saved"))
	rejects, err := chromedp.Run(b.Context, chromedp.Evaluate[string]("window.saved"))
	must(t, err)
	mended := strings.Replace(rejects, ",0,1.50,", ",7,1.50,", 1)
	if mended == rejects {
		t.Fatalf("the rejects are %s", rejects)
	}
	b.do("mended", drop("rejects.csv", mended), until(`document.querySelector("select[name=genre]")`),
		run(`document.querySelector("select[name=genre]").value = "Shelf"`), put("input[name=category]", "Files"), press("Check again"),
		figure("new", "1"), press("Import 1 book"), figure("created", "1"))
	b.do("the books", click(`book-import a[href="/"]`), untilAt(`^/$`), until(`document.querySelector("h1").textContent.startsWith("600")`))
}
