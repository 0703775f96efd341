// Package view has what the packages of pages share: the data of a page, its GraphQL query, and formats.
package view

// Page has the data of a template.
type Page struct {
	Status  int    // 0: 200
	Name    string // name of the template
	Policy  string // Content-Security-Policy; empty: the usual one
	Covers  bool   // its policy allows covers
	Title   string
	Section string // current section of the menu
	Search  string // value of the search field
	Query   string // playground's URL for the page's query
	Script  string // module that only some pages need, loaded after page.js
	State   string // of a live page; empty: the page is not live
	Viewer  Viewer
	Here    string // address to return to; empty: the address of the page
	Path    string // canonical address on this server; empty: the page has none
	Main    any

	Canonical  string      // Path with the public URL
	Alternates []Alternate // in all languages
}

// Alternate is the address of a page in a language.
type Alternate struct{ Language, URL string }

// RedirectError is an error with the canonical URL of the page.
type RedirectError string

func (r RedirectError) Error() string { return "moved to " + string(r) }
