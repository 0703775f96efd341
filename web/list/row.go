package list

import (
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
	"library-catalogue/web/view"
)

// row is a book of the list.
type row struct {
	ID, Name, Author, PublishedAt, Price, GenreID string
	Version, Pages                                int
	Genre                                         view.Named
	search                                        string // words to mark
}

// Cloth returns the CSS classes of the binding's colour.
func (b *row) Cloth() string { return view.Cloth(b.GenreID, b.ID) }

// Thickness returns the width of the book's spine, from 0 to 7.
func (b *row) Thickness() int {
	width, _ := slices.BinarySearch(widths, b.Pages+1)
	return width
}

// Year returns the year of publication.
func (b *row) Year() string { return strings.TrimLeft(b.PublishedAt[:4], "0") }

// NameHits and AuthorHits return the text with the words of the search marked.
func (b *row) NameHits() []textPart   { return hits(b.Name, b.search) }
func (b *row) AuthorHits() []textPart { return hits(b.Author, b.search) }

// textPart is a part of a text. Hit marks a word of the search.
type textPart struct {
	Text string
	Hit  bool
}

// word matches a word with its accents and apostrophes.
var word = regexp.MustCompile(`[\pL\p{Nd}\pM'’]+`)

// hits splits a text at the words that begin with a word of the search.
func hits(text, search string) (parts []textPart) {
	begins := strings.Fields(collate.Fold(search))
	end := 0 // end of the last part
	if len(begins) == 0 {
		return []textPart{{Text: text}}
	}
	for _, at := range word.FindAllStringIndex(text, -1) {
		folded := collate.Fold(text[at[0]:at[1]])
		if slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(folded, begin) }) {
			parts = append(parts, textPart{text[end:at[0]], false}, textPart{text[at[0]:at[1]], true})
			end = at[1]
		}
	}
	return append(parts, textPart{text[end:], false})
}
