package list

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
	"library-catalogue/web/view"
)

// spine is a book on the shelf. Its width shows the number of pages and its colour the genre.
type spine struct {
	ID, Name, Label string
	Class           string // CSS classes of colour, tone, width, height and bands
}

// widths are the numbers of pages that separate the widths of spines.
var widths = []int{100, 160, 220, 300, 400, 520, 720}

func spineOf(b *row) spine {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(b.Name))
	sum := hash.Sum32()
	class := b.Cloth() + " w" + strconv.Itoa(b.Thickness()) + " h" + strconv.Itoa(int(sum%5)) + " b" +
		strconv.Itoa(int(sum/5%3))
	return spine{ID: b.ID, Name: shortName(b.Name), Label: label(b.Author), Class: class}
}

// shortName returns a name without its subtitle or series.
func shortName(name string) string {
	end := len(name)
	for _, mark := range []string{":", " (", " /"} {
		if i := strings.Index(name, mark); i > 0 {
			end = min(end, i)
		}
	}
	return name[:end]
}

// label returns the label of a spine: three letters of the first author's last name, or two Chinese or Japanese
// characters.
func label(author string) string {
	first, _, _ := strings.Cut(author, ",")
	words := strings.Fields(first)
	if len(words) == 0 {
		return ""
	}
	last := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, words[len(words)-1])
	if r, _ := utf8.DecodeRuneInString(last); unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
		return view.Leading(last, 2)
	}
	return view.Leading(strings.ToUpper(collate.Fold(last)), 3)
}
