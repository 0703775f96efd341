// Package citation encodes books as citations: BibTeX, RIS, CSL-JSON and MARCXML. It reads BibTeX and RIS.
package citation

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/marc"
)

// Format is a format of citations. A file is Begin, the books with Separator between them, and End.
type Format struct {
	Name                  string // value of the parameter format
	Label                 string
	ContentType           string
	Suffix                string // end of a path and of a file
	Begin, Separator, End string
	// Append appends a book of a genre.
	Append func(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte
}

// Formats are the formats of citations.
var Formats = []Format{
	{Name: "bibtex", Label: "BibTeX", ContentType: "application/x-bibtex; charset=utf-8", Suffix: ".bib",
		Append: appendBibTeX},
	{Name: "ris", Label: "RIS", ContentType: "application/x-research-info-systems; charset=utf-8", Suffix: ".ris",
		Append: appendRIS},
	{
		Name: "csl", Label: "CSL", ContentType: "application/vnd.citationstyles.csl+json", Suffix: ".csl.json",
		Begin: "[", Separator: ",\n", End: "]\n", Append: appendCSL,
	},
	{
		Name: "marcxml", Label: "MARCXML", ContentType: marc.ContentType, Suffix: ".marcxml",
		Begin: marc.CollectionStart, End: marc.CollectionEnd, Append: marc.AppendBook,
	},
}

// MediaType returns the content type without its parameters.
func (f *Format) MediaType() string {
	mediaType, _, _ := strings.Cut(f.ContentType, ";")
	return mediaType
}

// key returns the key of a book. It never changes and no other book has it.
func key(b *model.Book) string { return "book" + b.ID.String() }

// oneLine replaces each run of white space by one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// appendBibTeX appends an entry of BibTeX. Names have the form "von Last, Jr, First".
func appendBibTeX(dst []byte, b *model.Book, g *model.Genre, _ *model.Category) []byte {
	dst = fmt.Appendf(dst, "@book{%s,\n", key(b))
	var names []string
	for _, name := range author.Parse(b.Author) {
		if name.Family == "" {
			names = append(names, "{"+latex(name.Literal)+"}")
			continue
		}
		parts := []string{strings.TrimSpace(name.Particle + " " + name.Family), name.Suffix, name.Given}
		if name.Suffix == "" {
			parts = []string{parts[0], name.Given}
		}
		names = append(names, latex(strings.Join(parts, ", ")))
	}
	if names != nil {
		dst = fmt.Appendf(dst, "  author = {%s},\n", strings.Join(names, " and "))
	}
	dst = fmt.Appendf(dst, "  title = {%s},\n  year = {%d},\n", latex(b.Name), b.PublishedAt.Year)
	if !b.PublishedAt.IsYear() {
		dst = fmt.Appendf(dst, "  month = %s,\n  day = {%d},\n",
			strings.ToLower(time.Month(b.PublishedAt.Month).String()[:3]), b.PublishedAt.Day)
	}
	dst = fmt.Appendf(dst, "  pagetotal = {%d},\n  keywords = {%s}", b.Pages, latex(g.Name))
	for _, f := range []struct {
		name string
		text *string
	}{{"isbn", b.ISBN}, {"publisher", b.Publisher}, {"language", b.Language}, {"library", b.ShelfMark},
		{"subtitle", b.Subtitle}, {"series", b.Series}, {"number", b.SeriesNumber}, {"abstract", b.Description}} {
		if f.text != nil {
			dst = fmt.Appendf(dst, ",\n  %s = {%s}", f.name, latex(*f.text))
		}
	}
	return append(dst, "\n}\n\n"...)
}

// latexSigns are the signs that LaTeX reads as commands. BibTeX counts even escaped braces, so they have names.
var latexSigns = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\textbraceleft{}`, '}': `\textbraceright{}`, '~': `\textasciitilde{}`,
	'^': `\textasciicircum{}`,
	'$': `\$`, '&': `\&`, '%': `\%`, '#': `\#`, '_': `\_`,
}

// latex escapes a text. It separates signs that LaTeX joins, such as two hyphens.
func latex(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range oneLine(text) {
		if r == last && strings.ContainsRune("-'`", r) {
			b.WriteString("{}")
		}
		if escaped, ok := latexSigns[r]; ok {
			b.WriteString(escaped)
		} else {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// appendRIS appends a record of RIS.
func appendRIS(dst []byte, b *model.Book, g *model.Genre, _ *model.Category) []byte {
	line := func(tag, value string) { dst = fmt.Appendf(dst, "%s  - %s\r\n", tag, value) }
	line("TY", "BOOK")
	line("ID", key(b))
	for _, name := range author.Parse(b.Author) {
		line("AU", oneLine(name.Inverted()))
	}
	line("TI", oneLine(b.Title()))
	line("PY", b.PublishedAt.String()[:4])
	if !b.PublishedAt.IsYear() {
		line("DA", strings.ReplaceAll(b.PublishedAt.String(), "-", "/"))
	}
	line("SP", strconv.Itoa(b.Pages))
	line("KW", oneLine(g.Name))
	for _, f := range []struct {
		tag  string
		text *string
	}{{"SN", b.ISBN}, {"PB", b.Publisher}, {"LA", b.Language}, {"CN", b.ShelfMark}, {"T2", b.Series},
		{"VL", b.SeriesNumber}, {"AB", b.Description}} {
		if f.text != nil {
			line(f.tag, oneLine(*f.text))
		}
	}
	line("ER", "")
	return dst
}

// appendCSL appends an item of CSL-JSON.
func appendCSL(dst []byte, b *model.Book, g *model.Genre, _ *model.Category) []byte {
	type agent struct {
		Family   string `json:"family,omitempty"`
		Given    string `json:"given,omitempty"`
		Particle string `json:"non-dropping-particle,omitempty"`
		Suffix   string `json:"suffix,omitempty"`
		Literal  string `json:"literal,omitempty"`
	}
	var authors []agent
	for _, name := range author.Parse(b.Author) {
		if name.Family == "" {
			authors = append(authors, agent{Literal: name.Literal})
		} else {
			authors = append(authors, agent{name.Family, name.Given, name.Particle, name.Suffix, ""})
		}
	}
	issued := []int{int(b.PublishedAt.Year), int(b.PublishedAt.Month), int(b.PublishedAt.Day)}
	if b.PublishedAt.IsYear() {
		issued = issued[:1]
	}
	item, err := json.Marshal(struct {
		ID         string             `json:"id"`
		Type       string             `json:"type"`
		Title      string             `json:"title"`
		Author     []agent            `json:"author,omitempty"`
		Issued     map[string][][]int `json:"issued"`
		Pages      int                `json:"number-of-pages"`
		Keyword    string             `json:"keyword"`
		ISBN       *string            `json:"ISBN,omitempty"`
		Publisher  *string            `json:"publisher,omitempty"`
		Language   *string            `json:"language,omitempty"`
		CallNumber *string            `json:"call-number,omitempty"`
		Series     *string            `json:"collection-title,omitempty"`
		Number     *string            `json:"collection-number,omitempty"`
		Abstract   *string            `json:"abstract,omitempty"`
	}{
		key(b), "book", b.Title(), authors, map[string][][]int{"date-parts": {issued}},
		b.Pages, g.Name, b.ISBN, b.Publisher, b.Language, b.ShelfMark, b.Series, b.SeriesNumber,
		b.Description,
	})
	if err != nil {
		panic(err) // all these types can be encoded
	}
	return append(dst, item...)
}
