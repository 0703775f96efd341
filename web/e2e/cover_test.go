package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// coverKinds are what a host has for the newest books of the list, in its order.
var coverKinds = []struct {
	isbn, kind string
	shown      bool
}{
	{"9783161484100", "picture", true}, {"9780306406157", "missing", false}, {"9788804668237", "dot", false},
	{"9798602405453", "moved", true}, {"9780262033848", "elsewhere", false},
}

// startCovers runs a catalogue with covers of a host, whose pictures wait for release.
func startCovers(t *testing.T) (s *service, release chan struct{}) {
	t.Helper()
	kinds := map[string]string{}
	for _, k := range coverKinds {
		kinds[k.isbn+".png"] = k.kind
	}
	release = make(chan struct{})
	draw := func(w http.ResponseWriter, width, height int) {
		picture := image.NewGray(image.Rect(0, 0, width, height))
		for i := range picture.Pix {
			picture.Pix[i] = uint8(i * 37)
		}
		var file bytes.Buffer
		must(t, png.Encode(&file, picture))
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(file.Bytes())
	}
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Host, "127.0.0.1:") {
			t.Errorf("the browser asked %s, which the setting does not name", r.Host)
		}
		draw(w, 300, 300)
	}))
	t.Cleanup(moved.Close)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Referer() != "" {
			t.Errorf("the host of covers gets the address %s", r.Referer())
		}
		select {
		case <-release:
		case <-r.Context().Done():
			return
		}
		switch kinds[path.Base(r.URL.Path)] {
		case "picture":
			draw(w, 128, 200)
		case "dot":
			draw(w, 1, 1)
		case "moved":
			http.Redirect(w, r, moved.URL+r.URL.Path, http.StatusFound)
		case "elsewhere":
			http.Redirect(w, r, strings.Replace(moved.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(host.Close)
	s = startFresh(t, "--covers="+host.URL+"/{isbn}.png,"+strings.TrimPrefix(moved.URL, "http://"))
	s.provider = "http://" // the servers above check what they are asked
	for i, k := range coverKinds {
		s.graphQL(t, fmt.Sprintf(`mutation { updateBook(input: {id: %d, patch: {isbn: %q}}) { book { id } } }`, 300-i, k.isbn))
	}
	return s, release
}

// boxes is an expression for the places of what stands beside covers, and of what is below them.
const boxes = `JSON.stringify([...document.querySelectorAll("main :is(h1, h2, p, dl, .row, .swatch, .tick, .cover, .price, .captions)")].map((e) => Object.values(e.getBoundingClientRect().toJSON())))`

// TestCovers shows covers without moving anything. A missing one, a dot, and one from a host that is not in the setting
// leave the drawn one.
func TestCovers(t *testing.T) {
	for _, width := range []int64{360, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			s, release := startCovers(t)
			b := open(t, s)
			b.refusal = "Content Security Policy"
			before := until(fmt.Sprintf(`document.querySelectorAll(".picture").length === %d && (window.before = %s)`, len(coverKinds), boxes))
			b.do("waiting", window(width, 1000), b.goTo("/"), scripted, before,
				until(`[...document.querySelectorAll(".picture")].every((e) => getComputedStyle(e).opacity === "0") && [...document.querySelectorAll(".swatch")].every((e) => e.checkVisibility({visibilityProperty: true}))`))
			close(release)
			for i, k := range coverKinds {
				b.do(k.kind, until(fmt.Sprintf(`(() => {
					const row = document.querySelectorAll(".row")[%d];
					const picture = row.querySelector(".picture");
					return %t ? picture.matches(".loaded") && getComputedStyle(picture).opacity === "1" && !row.querySelector(".swatch").checkVisibility({visibilityProperty: true})
						: !picture && row.querySelector(".swatch").checkVisibility({visibilityProperty: true});
				})()`, i, k.shown)))
			}
			b.do("nothing moved", until("window.before === "+boxes))
			if found := b.faults(`[]`); found != "" {
				t.Error(found)
			}
			b.do("a book", click(".row h2 a"), untilAt(`^/books/300$`), until(`document.querySelector(".cover .loaded")?.checkVisibility()`),
				holds(`box(".cover .loaded").width === box(".cover").width && box(".cover").width >= 100`))
			b.do("a book without a cover", b.goTo("/books/299"), until(`document.querySelector(".plate").checkVisibility() && !document.querySelector(".cover img")`))
			b.do("a page without covers", b.goTo("/genres"), scripted, until(`!document.body.dataset.policy`), run(`window.same = true`))
			b.do("typed there", focus("#q"), chromedp.SendKeys("#q", "color of evi"), untilAt(`^/books/300|q=color`), until(`!window.same && document.querySelector(".row .loaded") && document.activeElement.id === "q"`))
			b.do("typed on", chromedp.KeyEvent("l"), until(`document.querySelector("#q").value === "color of evil"`), untilAt(`q=color\+of\+evil$`), until(`document.querySelector(".row .loaded")`))
		})
	}
}
