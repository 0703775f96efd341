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
	ISBN                                          string // "" if there is none
	Version, Pages                                int
	Genre                                         view.Named
	ShelfMark                                     string // "" if there is none, or if it is not shown
	Subtitle                                      string
	Series, SeriesNumber                          string // only of printed books
	search                                        string // words to mark
}

// showMarks leaves the shelf marks of books that another one of the list equals in title and author, which only they
// tell apart.
func showMarks(books []*row) {
	count := map[[3]string]int{}
	for _, b := range books {
		count[[3]string{b.Name, b.Subtitle, b.Author}]++
	}
	for _, b := range books {
		if count[[3]string{b.Name, b.Subtitle, b.Author}] < 2 {
			b.ShelfMark = ""
		}
	}
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

// NameHits, SubtitleHits and AuthorHits return the text with the words of the search marked.
func (b *row) NameHits() []textPart     { return hits(b.Name, b.search) }
func (b *row) SubtitleHits() []textPart { return hits(b.Subtitle, b.search) }
func (b *row) AuthorHits() []textPart   { return hits(b.Author, b.search) }

// textPart is a part of a text. Hit marks a word of the search.
type textPart struct {
	Text string
	Hit  bool
}

// word matches a word with its accents and apostrophes; chain matches words that hyphens join.
var (
	word  = regexp.MustCompile(letters)
	chain = regexp.MustCompile(letters + `(?:[-‐]` + letters + `)*`)
)

const letters = `[\pL\p{Nd}\pM\p{Cf}'’]+`

// hits splits a text at the words that begin with a word of the search.
func hits(text, search string) (parts []textPart) {
	begins := collate.Words(search)
	if len(begins) == 0 {
		return []textPart{{Text: text}}
	}
	end := 0 // end of the last part
	mark := func(from, to int) bool {
		folded := strings.Join(collate.Words(text[from:to]), "")
		if !slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(folded, begin) }) {
			return false
		}
		parts = append(parts, textPart{text[end:from], false}, textPart{text[from:to], true})
		end = to
		return true
	}
	for _, at := range chain.FindAllStringIndex(text, -1) {
		if mark(at[0], at[1]) {
			continue
		}
		for _, in := range word.FindAllStringIndex(text[at[0]:at[1]], -1) {
			mark(at[0]+in[0], at[0]+in[1])
		}
	}
	return append(parts, textPart{text[end:], false})
}
