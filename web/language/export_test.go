package language

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Pseudo is the tag of a language that only tests have. Its texts are the English ones with long vowels, in brackets.
const Pseudo = "art"

func init() {
	real := All
	All = sync.OnceValue(func() []*Language { return append(slices.Clone(real()), pseudo(real()[1])) })
}

// pseudo returns the pseudo-language with the keys of a language.
func pseudo(of *Language) *Language {
	var texts map[Key]text
	if err := json.Unmarshal(of.JSON, &texts); err != nil {
		panic(err)
	}
	for key := range texts {
		english := read("en").texts[key]
		for form, format := range english {
			if format != "" {
				english[form] = lengthened(format)
			}
		}
		if english == (text{}) {
			english[0] = lengthened(string(key))
		}
		texts[key] = english
	}
	return &Language{Tag: Pseudo, Name: Pseudo, texts: texts, tag: language.English, names: display.English.Languages(), separator: ",", minDigits: 4, point: "."}
}

var vowel = regexp.MustCompile(`<[^>]*>|[aeiou]`)

// lengthened returns a text with long vowels in brackets.
func lengthened(format string) string {
	return "⟦" + vowel.ReplaceAllStringFunc(format, func(part string) string {
		if strings.HasPrefix(part, "<") {
			return part
		}
		return part + part
	}) + "⟧"
}
