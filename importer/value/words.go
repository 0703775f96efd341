package value

import (
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
)

// Words is a set of words without case and accents. A word that ends in * stands for all words that begin so, one that
// begins with * for all that end so, and one with both for all that contain it.
type Words struct {
	exact                map[string]bool
	begins, ends, inside []string
}

// ParseWords returns the words of a text.
func ParseWords(text string) Words {
	w := Words{exact: map[string]bool{}}
	for word := range strings.FieldsSeq(collate.Fold(text)) {
		begin, isBegin := strings.CutSuffix(word, "*")
		part, isEnd := strings.CutPrefix(begin, "*")
		switch {
		case isBegin && isEnd:
			w.inside = append(w.inside, part)
		case isBegin:
			w.begins = append(w.begins, part)
		case isEnd:
			w.ends = append(w.ends, part)
		default:
			w.exact[part] = true
		}
	}
	return w
}

// Has reports whether a folded word is in the set.
func (w Words) Has(word string) bool {
	return w.exact[word] ||
		slices.ContainsFunc(w.begins, func(begin string) bool { return strings.HasPrefix(word, begin) }) ||
		slices.ContainsFunc(w.ends, func(end string) bool { return strings.HasSuffix(word, end) }) ||
		slices.ContainsFunc(w.inside, func(text string) bool { return strings.Contains(word, text) })
}
