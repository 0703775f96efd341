package survey

import (
	_ "embed"
	"slices"
	"strings"

	"library-catalogue/importer/value"
)

//go:embed words.txt
var listedWords string

// wordLists are the words in the names of columns that speak for each field, in the languages of the lists that people
// have, and the lists below. In words.txt the words follow the name of their list, up to an empty line.
var wordLists = func() map[string]value.Words {
	lists := map[string]value.Words{}
	for list := range strings.SplitSeq(listedWords, "\n\n") {
		name, words, _ := strings.Cut(list, "\n")
		lists[name] = value.ParseWords(words)
	}
	return lists
}()

// Lists of words that are no fields.
const (
	// other are words for another thing. Its column is never taken for a field by its other words or its cells.
	other = "other"
	// vague are words for another thing, unless another word is a field's: edition, and the year of the edition.
	vague = "vague"
	// anything are words for names of anything, which count for the title only alone: اسم الكتاب, but اسم الكاتب is the
	// author.
	anything = "anything"
	// kinds are kinds of books in scripts without case, in which names of persons look like other words.
	kinds = "kinds"
	// given, family and whole are words for parts of a person's name.
	given, family, whole = "given", "family", "whole"
)

// count returns how many words of a name are in a list.
func count(list string, parts []string) (n int) {
	for i, part := range parts {
		if i > 0 && i == len(parts)-1 && n > 0 {
			break // all words as one count only if no other does
		}
		// Author2, articles
		forms := []string{part, strings.TrimRight(part, "0123456789"), strings.TrimPrefix(part, "ال"),
			strings.TrimPrefix(part, "ה")}
		if slices.ContainsFunc(forms, wordLists[list].Has) {
			n++
		}
	}
	return n
}
