package book

import (
	"net/url"
	"strings"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/citation"
	"library-catalogue/web/view"
)

// Names returns the persons and institutions in the author.
func (b *wholeBook) Names() []author.Person { return author.Parse(b.Author) }

// Known returns the day of publication, or its year if no more is known.
func (b *wholeBook) Known() string { return view.KnownDate(b.PublishedAt) }

// ISBN, Publisher, Language and Subtitle return the value of the field, or "".
func (b *wholeBook) ISBN() string      { return b.text("isbn") }
func (b *wholeBook) Publisher() string { return b.text("publisher") }
func (b *wholeBook) Language() string  { return b.text("language") }
func (b *wholeBook) Subtitle() string  { return b.text("subtitle") }

func (b *wholeBook) text(field string) string {
	text, _ := b.values[field].(string)
	return text
}

// SlashedDate returns Known like 1937/09/21.
func (b *wholeBook) SlashedDate() string { return strings.ReplaceAll(b.Known(), "-", "/") }

// Citations returns the formats of citations.
func (b *wholeBook) Citations() []citation.Format { return citation.Formats }

// LinkedData returns the book in the vocabulary of schema.org. Without a public URL it has no address.
func (b *wholeBook) LinkedData() map[string]any {
	var authors []map[string]string
	for _, name := range b.Names() {
		kind := "Person"
		if name.Institution {
			kind = "Organization"
		}
		authors = append(authors, map[string]string{"@type": kind, "name": name.String()})
	}
	data := map[string]any{
		"@context": "https://schema.org", "@type": "Book", "name": b.Name, "author": authors,
		"datePublished": b.Known(), "numberOfPages": b.Pages, "genre": b.Genre.Name,
	}
	if b.Description != nil {
		data["description"] = *b.Description
	}
	for name, text := range map[string]string{"isbn": b.ISBN(), "inLanguage": b.Language()} {
		if text != "" {
			data[name] = text
		}
	}
	if b.Publisher() != "" {
		data["publisher"] = map[string]string{"@type": "Organization", "name": b.Publisher()}
	}
	if b.PublicURL != "" {
		data["url"] = b.PublicURL + "/books/" + b.ID
	}
	return data
}

// ContextObject returns the book as COinS, the title of a span that reference managers read (OpenURL, ANSI Z39.88).
func (b *wholeBook) ContextObject() string {
	values := url.Values{
		"ctx_ver": {"Z39.88-2004"}, "rft_val_fmt": {"info:ofi/fmt:kev:mtx:book"}, "rft.genre": {"book"},
		"rft.btitle": {b.Name}, "rft.date": {b.Known()},
	}
	for name, text := range map[string]string{"rft.isbn": b.ISBN(), "rft.pub": b.Publisher(),
		"rft.language": b.Language()} {
		if text != "" {
			values.Set(name, text)
		}
	}
	for _, name := range b.Names() {
		values.Add("rft.au", name.Inverted())
	}
	return strings.ReplaceAll(values.Encode(), "+", "%20")
}
