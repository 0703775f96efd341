package e2e

import "testing"

// TestReference opens an operation of the API reference, tries it, and opens the dialog for a token. The page has the
// colours of the others, and lists no HEAD.
//
// axe says this of the markup and the styles of Swagger UI 5.29, which docs.js and docs.css complete:
//
//   - button-name: the button that closes the dialog
//   - color-contrast: names of methods, notes on parameters, the button Authorize, links; 23 elements, with open operations 50
//   - heading-order: a tag is an h3 below the title
//   - label: the body of a request
//   - label-content-name-mismatch: Authorize in the dialog is called "Apply credentials"
//   - landmark-unique: each table of responses is a region without a name
//   - nested-interactive: a link in the button of each operation
//   - page-has-heading-one: the title is an h2
//   - scrollable-region-focusable: examples
//   - select-name: the list of servers, and parameters with a list of values
func TestReference(t *testing.T) {
	b := open(t, start(t))
	const listBooks = `#operations-books-listBooks `
	for _, scheme := range []string{"light", "dark"} {
		look := func(state string) {
			t.Helper()
			for _, width := range []int64{320, 1440} {
				b.do("a screen", screen(scheme, width))
				if found := b.faults(`[]`); found != "" {
					t.Errorf("%s, %s, %d px: %s", state, scheme, width, found)
				}
			}
		}
		paper := map[string]string{"light": "rgb(252, 252, 250)", "dark": "rgb(18, 22, 20)"}[scheme]
		b.do("the page", screen(scheme, 1440), b.goTo("/api/docs"), until(`document.querySelectorAll(".opblock").length > 10`),
			until(`document.querySelector("[role=heading][aria-level='1']").textContent.startsWith("Library Catalogue")`),
			until(`getComputedStyle(document.body).backgroundColor === "`+paper+`" && getComputedStyle(document.documentElement).filter === "none"`),
			until(`[...document.querySelectorAll(".opblock-summary-method")].every((method) => method.textContent !== "HEAD" || !method.checkVisibility())`))
		look("closed")
		b.do("an operation", click(listBooks+".opblock-summary-control"), until(`document.querySelector("`+listBooks+`.parameters")`),
			click(listBooks+".try-out__btn"), click(listBooks+".execute"), until(`document.querySelector("`+listBooks+`.live-responses-table")?.textContent.includes("200")`),
			click("#operations-books-createBook .opblock-summary-control"), click("#operations-books-createBook .try-out__btn"), until(`document.querySelector(".body-param__text")`))
		look("open")
		b.do("the token", click(".btn.authorize"), until(`document.querySelector(".modal-ux")`))
		look("token")
	}
}
