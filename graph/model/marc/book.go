package marc

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
)

// leader says: a new record of a book, in UTF-8, of minimal level, with the punctuation of ISBD. ISO 2709 fills in the
// lengths.
const leader = "00000nam a22000007i 4500"

// FromBook returns the record of a book.
func FromBook(b *model.Book, g *model.Genre, c *model.Category) Record {
	language, isExact := undetermined, true
	if b.Language != nil {
		language, isExact = languageCode(*b.Language)
	}
	r := Record{Leader: leader, Control: []ControlField{
		{"001", b.ID.String()},
		{"005", timeOf(b.UpdatedAt).Format("20060102150405.0")},
		{"008", fixedLength(b, language)},
	}}
	add := func(f DataField) {
		if len(f.Subfields) > 0 {
			r.Data = append(r.Data, f)
		}
	}
	add(field("020", "  ", "a", text(b.ISBN), "c", b.Price.String()))
	if !isExact {
		add(field("041", " 7", "a", *b.Language, "2", "rfc5646"))
	}
	persons := author.Parse(b.Author)
	hasMain := "0"
	if len(persons) > 0 {
		add(name("1", persons[0]))
		hasMain = "1"
	}
	title := oneLine(b.Name)
	subtitle := oneLine(text(b.Subtitle))
	if subtitle == "" {
		title += " /"
	} else {
		title, subtitle = title+" :", subtitle+" /"
	}
	add(field("245", hasMain+fmt.Sprint(nonfiling(title, language)), "a", title, "b", subtitle, "c",
		statement(b.Author)))
	published := b.PublishedAt.String()
	if b.PublishedAt.IsYear() {
		published = published[:4]
	}
	publisher := oneLine(text(b.Publisher))
	if publisher != "" {
		publisher += ","
	}
	add(field("264", " 1", "b", publisher, "c", published))
	add(field("300", "  ", "a", fmt.Sprintf("%d p.", b.Pages)))
	series, number := oneLine(text(b.Series)), oneLine(text(b.SeriesNumber))
	switch {
	case series == "":
		number = ""
	case number != "":
		series += " ;"
	}
	add(field("490", "0 ", "a", series, "v", number))
	for _, part := range paragraphs(text(b.Description)) {
		add(field("520", "  ", "a", part))
	}
	add(field("650", " 7", "a", oneLine(c.Name), "2", local))
	add(field("655", " 7", "a", oneLine(g.Name), "2", local))
	for i, p := range persons {
		if i > 0 {
			add(name("7", p))
		}
	}
	add(field("852", "8 ", "h", oneLine(text(b.ShelfMark))))
	return r
}

// local is the source of the names of genres and categories.
const local = "local"

func text(optional *string) string {
	if optional == nil {
		return ""
	}
	return *optional
}

// oneLine replaces each run of white space by one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func timeOf(t model.Timestamp) time.Time { return time.UnixMicro(int64(t)).UTC() }

// fixedLength returns field 008: type e has the year with month and day, type s the year.
func fixedLength(b *model.Book, language string) string {
	published := strings.ReplaceAll(b.PublishedAt.String(), "-", "")
	kind := "e"
	if b.PublishedAt.IsYear() {
		kind, published = "s", published[:4]+"    "
	}
	return timeOf(b.CreatedAt).Format("060102") + kind + published + "xx ||||| |||||||| ||" + language + " d"
}

// returns reports whether a name is the same after it was inverted and read.
func returns(p author.Person) bool {
	return author.ReadMARC(oneLine(p.Inverted())) == oneLine(p.String())
}

// name returns a field of a name: X00 or, of an institution, X10.
func name(x string, p author.Person) DataField {
	switch {
	case p.Institution:
		return field(x+"10", "2 ", "a", oneLine(p.Literal))
	case p.Family == "" || !returns(p): // Malcolm X
		return field(x+"00", "0 ", "a", oneLine(p.String()))
	case p.Suffix != "":
		suffix := oneLine(p.Suffix)
		p.Suffix = ""
		return field(x+"00", "1 ", "a", oneLine(p.Inverted())+",", "c", suffix)
	}
	return field(x+"00", "1 ", "a", oneLine(p.Inverted()))
}

// initials matches an initial before another one.
var initials = regexp.MustCompile(`(^|\PL)(\pL\.) (\pL\.)`)

// statement returns an author as 245 $c: without a space between initials, and with a full stop.
func statement(text string) string {
	text = oneLine(text)
	for initials.MatchString(text) {
		text = initials.ReplaceAllString(text, "$1$2$3")
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// A field of ISO 2709 has at most 9,999 bytes and no line ends.
const (
	maxPart       = 9_000
	lineSeparator = "\u2028" // stands for a line end
	wordJoiner    = "\u2060" // ends a part that goes on in the next field
)

// paragraphs returns a description in parts that each fit in a field.
func paragraphs(description string) (parts []string) {
	description = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", " ").Replace(description)
	before := ""
	for paragraph := range strings.SplitSeq(description, "\n\n") {
		if paragraph == "" { // several empty lines
			before += "\n\n"
			continue
		}
		rest := strings.ReplaceAll(before+paragraph, "\n", lineSeparator)
		before = ""
		for len(rest) > maxPart {
			end := maxPart
			for !utf8.RuneStart(rest[end]) {
				end--
			}
			if space := strings.LastIndexByte(rest[:end], ' '); space > 0 {
				end = space + 1
			}
			parts = append(parts, rest[:end]+wordJoiner)
			rest = rest[end:]
		}
		parts = append(parts, rest)
	}
	return parts
}
