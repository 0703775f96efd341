// Package lang reads languages.
package lang

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"library-catalogue/graph/model/collate"
)

// MaxLength is the maximum length of a language in characters (RFC 5646, section 4.4.1).
const MaxLength = 35

// Parse returns a language as a tag of BCP 47. The text is a tag, a code of ISO 639 with two or three letters, or a
// name in any language: "en", "eng", "English", "Englisch"; "Deutsch" is "de".
func Parse(text string) (tag string, ok bool) {
	if text = collate.Visible(text); len(text) <= MaxLength {
		parsed, err := language.Parse(text)
		if tag := parsed.String(); err == nil && parsed != language.Und && len(tag) <= MaxLength {
			return tag, true
		}
	}
	tag, ok = names()[collate.Fold(text)]
	return tag, ok
}

// first are the languages in which a name is looked up first.
var first = []language.Tag{
	language.English, language.German, language.French, language.Spanish, language.Italian, language.Portuguese,
	language.Dutch, language.Polish, language.Czech,
	language.Swedish, language.Danish, language.Finnish, language.Hungarian, language.Russian, language.Ukrainian,
	language.Turkish, language.Chinese, language.Japanese,
}

// names returns the tags of the names of languages, folded: in the languages themselves and in all others.
var names = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	tags := display.Supported.Tags()
	add := func(in display.Namer) {
		for _, tag := range tags {
			name, text := collate.Fold(in.Name(tag)), tag.String()
			// A region without a name has the name of its language. The shorter tag counts.
			if known := names[name]; name != "" && (known == "" || strings.HasPrefix(known, text+"-")) {
				names[name] = text
			}
		}
	}
	add(display.Self)
	for _, in := range slices.Concat(first, tags) {
		if namer := display.Tags(in); namer != nil {
			add(namer)
		}
	}
	return names
})
