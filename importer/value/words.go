package value

import (
	"strings"

	"library-catalogue/graph/model/collate"
)

// wordSet is a set of words without case and accents. A word that ends in * stands for all words that begin so.
type wordSet struct {
	exact map[string]bool
	stems []string
}

func newWordSet(text string) wordSet {
	set := wordSet{exact: map[string]bool{}}
	for word := range strings.FieldsSeq(text) {
		stem, isStem := strings.CutSuffix(collate.Fold(word), "*")
		if isStem {
			set.stems = append(set.stems, stem)
		}
		set.exact[stem] = true
	}
	return set
}

// has reports whether a folded word is in the set.
func (s wordSet) has(word string) bool {
	if s.exact[word] {
		return true
	}
	for _, stem := range s.stems {
		if strings.HasPrefix(word, stem) {
			return true
		}
	}
	return false
}
