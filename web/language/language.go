// Package language translates the pages. Each language has a file of texts in the folder texts. The key of a text is
// its English format, and a text without a translation is shown in English.
package language

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/message"

	"library-catalogue/graph/model"
)

//go:embed texts
var files embed.FS

// Key is the English format of a text, with the verbs of fmt. A PluralKey has a text for each plural form. Each
// constant of these types has a text in each file.
type (
	Key       string
	PluralKey string
)

// Language is a language of the pages.
type Language struct {
	Tag       string // BCP 47
	Name      string // in the language itself
	JSON      []byte // the file of its texts
	texts     map[Key]text
	tag       language.Tag
	names     display.Namer // of languages
	separator string        // of groups of three digits
	minDigits int           // of a number with a separator
	point     string        // of decimals
}

// text has the format of each plural form. A text that is no plural has the form Other.
type text [plural.Many + 1]string

// forms are the plural forms by their names in CLDR.
var forms = map[string]plural.Form{"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few,
	"many": plural.Many, "other": plural.Other}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &t[plural.Other])
	}
	var byForm map[string]string
	err := json.Unmarshal(data, &byForm)
	for name, format := range byForm {
		t[forms[name]] = format
	}
	return err
}

// All returns the languages, English first.
var All = sync.OnceValue(func() []*Language {
	all := []*Language{read("en")}
	entries, _ := files.ReadDir("texts") // embedded
	for _, entry := range entries {
		if tag := strings.TrimSuffix(entry.Name(), ".json"); tag != "en" {
			l := read(tag)
			for key, english := range all[0].texts {
				if _, ok := l.texts[key]; !ok {
					l.texts[key] = english
				}
			}
			all = append(all, l)
		}
	}
	return all
})

// spaced are the languages that write four digits without a separator (CLDR, minimumGroupingDigits).
var spaced = []string{"es", "it"}

// read returns the language of an embedded file. A test reads all files.
func read(tag string) *Language {
	l := &Language{Tag: tag, tag: language.MustParse(tag), minDigits: 4}
	l.Name, l.names = display.Self.Name(l.tag), display.Tags(l.tag)
	l.JSON, _ = files.ReadFile(path.Join("texts", tag+".json"))
	if err := json.Unmarshal(l.JSON, &l.texts); err != nil {
		panic(fmt.Sprintf("texts/%s.json: %v", tag, err))
	}
	maps.DeleteFunc(l.texts, func(_ Key, t text) bool { return t[plural.Other] == "" })
	example := message.NewPrinter(l.tag).Sprint(12345.6)
	before, after, _ := strings.Cut(example, "345")
	l.separator, l.point = strings.TrimPrefix(before, "12"), strings.TrimSuffix(after, "6")
	if slices.Contains(spaced, tag) {
		l.minDigits = 5
	}
	return l
}

// Text returns the text of a key with arguments.
func (l *Language) Text(key Key, args ...any) string {
	format := cmp.Or(l.texts[key][plural.Other], string(key))
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Message returns a message with its arguments, which may be messages.
func (l *Language) Message(m model.Message) string {
	args := slices.Clone(m.Args)
	for i, arg := range args {
		if inner, ok := arg.(model.Message); ok {
			args[i] = l.Message(inner)
		}
	}
	return l.Text(Key(m.Key), args...)
}

// HTML returns the text of a key with markup. It escapes arguments that are no template.HTML.
func (l *Language) HTML(key Key, args ...any) template.HTML {
	for i, arg := range args {
		if _, isSafe := arg.(template.HTML); !isSafe {
			args[i] = template.HTMLEscaper(arg)
		}
	}
	return template.HTML(l.Text(key, args...)) //nolint:gosec // the files are ours, the arguments are escaped
}

// Plural returns the text of a key for a number, which is its first argument.
func (l *Language) Plural(key PluralKey, n int, args ...any) string {
	text := l.texts[Key(key)]
	format := cmp.Or(text[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)], text[plural.Other], string(key))
	return fmt.Sprintf(format, slices.Insert(args, 0, any(l.Number(n)))...)
}

// Number returns an integer with separators.
func (l *Language) Number(n int) string {
	digits := strconv.Itoa(n)
	if len(digits) >= l.minDigits {
		for i := len(digits) - 3; i > 0; i -= 3 {
			digits = digits[:i] + l.separator + digits[i:]
		}
	}
	return digits
}

// Price returns a decimal, which has a point, with the sign of the language.
func (l *Language) Price(decimal string) string {
	if l.point == "." {
		return decimal
	}
	return strings.Replace(decimal, ".", l.point, 1)
}

// NameOf returns the name of a language by its tag, or the tag if it has none.
func (l *Language) NameOf(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	return cmp.Or(l.names.Name(parsed), tag)
}
