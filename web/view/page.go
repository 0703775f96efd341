// Package view has what the packages of pages share: the data of a page, its GraphQL query, and formats.
package view

// Page has the data of a template.
type Page struct {
	Status   int    // 0: 200
	Name     string // name of the template
	Policy   string // Content-Security-Policy; empty: the usual one
	Title    string
	Section  string // current section of the menu
	Search   string // value of the search field
	Query    string // playground's URL for the page's query
	Script   string // module that only some pages need, loaded after page.js
	Live     string // the book with the changes that the page follows, or all; empty: none
	Position string // position of the newest change that a live page has
	Viewer   Viewer
	Here     string // address to return to; empty: the address of the page
	Main     any
}

// RedirectError is an error with the canonical URL of the page.
type RedirectError string

func (r RedirectError) Error() string { return "moved to " + string(r) }
