package list

import (
	"slices"
	"strings"
	"unicode"

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

// hits splits a text at the words that begin with a word of the search.
func hits(text, search string) []textPart {
	words := strings.Fields(collate.Fold(search))
	if len(words) == 0 {
		return []textPart{{Text: text}}
	}
	var parts []textPart
	add := func(text string, hit bool) {
		if n := len(parts); n > 0 && parts[n-1].Hit == hit {
			parts[n-1].Text += text
		} else if text != "" {
			parts = append(parts, textPart{text, hit})
		}
	}
	inWord := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’'
	}
	for text != "" {
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		switch end {
		case -1:
			end = len(text)
		case 0:
			end = strings.IndexFunc(text, inWord)
			if end < 0 {
				end = len(text)
			}
		}
		word := collate.Fold(text[:end])
		hit := false
		for _, w := range words {
			hit = hit || strings.HasPrefix(word, w)
		}
		add(text[:end], hit)
		text = text[end:]
	}
	return parts
}
