// Package lang reads languages.
package lang

import (
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"library-catalogue/graph/model/collate"
)

// MaxLength is the maximum length of a language in characters (RFC 5646, section 4.4.1).
const MaxLength = 35

// Parse returns a language as a tag of BCP 47. The text is a tag, a code of ISO 639 with two or three letters, or a name
// in one of the languages of readers or the language itself: "en", "eng", "English", "Englisch"; "Deutsch" is "de".
func Parse(text string) (tag string, ok bool) {
	if len(text) <= MaxLength {
		parsed, err := language.Parse(text)
		if tag := parsed.String(); err == nil && parsed != language.Und && len(tag) <= MaxLength {
			return tag, true
		}
	}
	tag, ok = names()[collate.Fold(text)]
	return tag, ok
}

// Name returns the name of a language in English, or the tag if it has none.
func Name(tag string) string {
	if parsed, err := language.Parse(tag); err == nil {
		if name := display.English.Tags().Name(parsed); name != "" {
			return name
		}
	}
	return tag
}

// readers give the names of languages in the languages in which lists of books have them.
var readers = []display.Namer{
	display.Tags(language.English), display.Tags(language.German), display.Tags(language.French), display.Tags(language.Spanish),
	display.Tags(language.Italian), display.Tags(language.Portuguese), display.Tags(language.Dutch), display.Tags(language.Polish),
	display.Tags(language.Czech), display.Tags(language.Swedish), display.Tags(language.Danish), display.Tags(language.Finnish),
	display.Tags(language.Hungarian), display.Tags(language.Russian), display.Tags(language.Ukrainian), display.Tags(language.Turkish),
	display.Tags(language.Chinese), display.Tags(language.Japanese),
}

// names returns the tags of the names of languages, folded.
var names = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, tag := range display.Supported.Tags() {
		texts := []string{display.Self.Name(tag)}
		for _, in := range readers {
			texts = append(texts, in.Name(tag))
		}
		for _, name := range texts {
			key := collate.Fold(name)
			// A region without a name of its own has that of its language, whose tag is shorter.
			if known := names[key]; name != "" && (known == "" || len(tag.String()) < len(known)) {
				names[key] = tag.String()
			}
		}
	}
	return names
})
