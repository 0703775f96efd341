// Package author reads the persons and institutions in the author of a book, and prints them. One grammar serves
// imports, citations and pages:
//
//  1. Full-width and Arabic signs count as "," ";" "/" and "&". Brackets go, with the fuller form or the role in them.
//  2. ";" separates. Without it "/", " & ", " and ", " und " and " et " do, unless a name next to them has an
//     institution's word, or they are a part of one name: Mac et Cie, von und zu Berg.
//  3. Years, roles, "et al." and cataloguers' signs at the end of a part go. Suffixes such as Jr. or Inc. belong to
//     the part before them.
//  4. A comma inverts in a text with ";" and where the caller knows that names are inverted (MARC, ReadColumn). Else it
//     inverts if each second part has only initials (Smith, J., Doe, R.), or if it is the only one, has one word
//     before it (Le Guin has one word and a particle), and has after it one word, words that end in an initial
//     or a particle, or words with a suffix or years set off (King, Martin Luther, Jr.).
//  5. All other commas separate.
//  6. Institutions, and names in Han, kana or hangul, are never inverted or split into parts.
package author

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

// Person is the name of a person or an institution. It has either a Family and a Given name or a Literal.
type Person struct {
	Given    string
	Particle string // part of the family name in lower case: van, de la
	Family   string
	Suffix   string
	Literal  string // a name without parts: of an institution, of one word, or in Han, kana or hangul
	// Institution is true if the Literal has a word such as Institute or Inc.
	Institution bool
}

// String returns the name with the given names first: Ludwig van Beethoven, Kurt Vonnegut Jr.
func (p Person) String() string {
	return joined(p.Given, p.Particle, p.Family, p.Suffix, p.Literal)
}

// Inverted returns the name with the family name first: van Beethoven, Ludwig. A Literal stays.
func (p Person) Inverted() string {
	if p.Family == "" {
		return p.Literal
	}
	inverted := joined(p.Particle, p.Family) + ", " + p.Given
	if p.Suffix != "" {
		inverted += ", " + p.Suffix
	}
	return inverted
}

// joined joins the texts that are not empty by spaces.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// Parse returns the persons in the author of a book. It returns nil for a text without a name.
func Parse(text string) []Person { return read(text, plain).persons }

// Turned returns the name of a person with the given names first if a text is one name with the family name first:
// "Michael Ende" of "Ende, Michael".
func Turned(text string) (name string, ok bool) {
	persons := Parse(text)
	if len(persons) != 1 || persons[0].Family == "" || !strings.ContainsAny(text, commas) {
		return "", false
	}
	p := persons[0]
	isFirst := strings.HasPrefix(text, p.Family) || p.Particle != "" && strings.HasPrefix(text, p.Particle+" ")
	return p.String(), isFirst
}

// Parted returns the texts around the only comma of a text as the names of two persons: "Goscinny; Uderzo" of
// "Goscinny, Uderzo".
func Parted(text string) (names string, ok bool) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(commas, r) })
	if len(parts) != 2 {
		return "", false
	}
	names = strings.TrimSpace(parts[0]) + "; " + strings.TrimSpace(parts[1])
	return names, len(Parse(names)) == 2
}

// Join returns the names as one text, which Parse reads as the same names: "Ann One, Bob Two". The separator is a
// semicolon where a comma would be read in another way: "Plato; Aristotle".
func Join(persons []Person) string {
	names := names(persons)
	text := strings.Join(names, ", ")
	switch {
	case slices.Equal(namesIn(text), names):
		return text
	case len(names) == 1:
		return text + ";"
	}
	return strings.Join(names, "; ")
}

// Identity returns the key of sameness of the author of a book (collate.Identity): the texts "Tolkien, J. R. R.",
// "J.R.R. Tolkien" and "JRR Tolkien" have one.
func Identity(text string) string {
	names := plainNames(text)
	if names == nil {
		names = namesIn(text)
	}
	if len(names) == 0 {
		return collate.Identity(text)
	}
	for i, name := range names {
		names[i] = identity(name)
	}
	return strings.Join(names, "; ")
}

// identity returns the key of sameness of one name.
func identity(name string) string { return withInitials(collate.Identity(name)) }

// separator matches what stands between names, or between a name and the note behind it.
var separator = regexp.MustCompile(`(?i)\s*[,;/&(\[，、،；؛／＆（［【]\s*|\s+(?:and|und|et)\s+`)

// maxCommas is the maximum number of commas in one name: King, Martin Luther, Jr.
const maxCommas = 2

// Replace returns a text with persons replaced by one, who is named once, and the rest of the text to the byte. Each
// of from, and to, is a text of one person, and all spellings of one Identity are the person. A text without the
// persons stays. ok is false if the result would be read as others.
func Replace(text string, from []string, to string) (replaced string, ok bool) {
	target := Parse(to)[0].String()
	replacement := identity(target)
	old := make([]string, len(from))
	for i, person := range from {
		old[i] = identity(namesIn(person)[0])
	}
	var want []string
	isFound := false
	for _, name := range namesIn(text) {
		key := identity(name)
		if slices.Contains(old, key) {
			key, isFound = replacement, true
		}
		if key != replacement || !slices.Contains(want, key) {
			want = append(want, key)
		}
	}
	if !isFound {
		return text, true
	}
	for _, spelling := range []string{to, target} { // an inverted name may need a semicolon that the text has not
		replaced = replaceParts(text, spelling, old, replacement)
		names := namesIn(replaced)
		for i, name := range names {
			names[i] = identity(name)
		}
		if slices.Equal(names, want) {
			return replaced, true
		}
	}
	return text, false
}

// replaceParts replaces the first part of a text with a key of old or replacement by a spelling. It drops the other
// parts with these keys, and the separators before them. A part with the key of replacement keeps its spelling.
func replaceParts(text, spelling string, old []string, replacement string) string {
	var parts [][2]int // from the start to the end of each
	start := 0
	for _, at := range append(separator.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		parts = append(parts, [2]int{start, at[0]})
		start = at[1]
	}
	var out strings.Builder
	copied, hasTarget := 0, false
	for i := 0; i < len(parts); i++ {
		for last := i; last < min(i+1+maxCommas, len(parts)); last++ {
			start, end := parts[i][0], parts[last][1]
			names := namesIn(text[start:end] + ";")
			if len(names) != 1 {
				continue
			}
			key := identity(names[0])
			isOld := slices.Contains(old, key)
			if !isOld && key != replacement {
				continue
			}
			end = start + endOfName(text[start:end], key)
			switch {
			case hasTarget:
				out.WriteString(text[copied:parts[i-1][1]])
			case isOld:
				out.WriteString(text[copied:start] + spelling)
			default:
				out.WriteString(text[copied:end])
			}
			copied, hasTarget, i = end, true, last
			break
		}
	}
	return out.String() + text[copied:]
}

// endOfName returns the end of the name with a key in a part of a text. Roles and years may follow it.
func endOfName(part, key string) int {
	for at, r := range part {
		if !unicode.IsSpace(r) {
			continue
		}
		if names := namesIn(part[:at] + ";"); len(names) == 1 && identity(names[0]) == key {
			return at
		}
	}
	return len(part)
}

// withInitials returns the key of a name with each initial as a word with a point: j.r.r., j r r, and jrr at the
// start, become j. r. r. A last word of one letter stays, because it is a family name: Malcolm X.
func withInitials(key string) string {
	words := strings.Split(key, " ")
	last := len(words) - 1
	for i, word := range words {
		rest, initials := word, ""
		for {
			letter, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsLetter(letter) || !strings.HasPrefix(rest[size:], ".") {
				break
			}
			initials += rest[:size] + ". "
			rest = strings.TrimPrefix(rest[size+1:], "-")
		}
		switch letters := utf8.RuneCountInString(rest); {
		case i < last &&
			(letters == 1 && unicode.IsLetter([]rune(rest)[0]) || i == 0 && initials == "" && isUnspoken(rest)):
			initials += strings.Join(strings.Split(rest, ""), ". ") + "."
		case letters == 0:
			initials = strings.TrimSuffix(initials, " ")
		default:
			initials += rest
		}
		words[i] = initials
	}
	return strings.Join(words, " ")
}

// isUnspoken reports whether a word of a key has two to four Latin letters and no vowel, so that it is initials.
func isUnspoken(word string) bool {
	return len(word) >= 2 && len(word) <= 4 && strings.Trim(word, "bcdfghjklmnpqrstvwxz") == ""
}

// maxPlain is the end of the Latin letters that occur in names.
const maxPlain = 0x250

// plainNames returns the names in a text that Parse does not change, because no word is a sign for it: "Ann One",
// "J. R. R. Tolkien, Zoë Two". It returns nil for other texts. It takes a tenth of Parse's time.
func plainNames(text string) []string {
	for _, r := range text {
		if r >= maxPlain || !unicode.IsLetter(r) && !strings.ContainsRune(" -.,", r) {
			return nil
		}
	}
	names := strings.Split(text, ",")
	for i, name := range names {
		words := strings.Fields(name)
		if len(words) == 0 || len(words) == 1 && len(names) > 1 {
			return nil // Plato, Aristotle; Tolkien, John
		}
		for k, word := range words {
			dots, isLast := strings.Count(word, "."), k == len(words)-1
			isWord := dots == 0 && word[0] != '-'
			isInitials := dots > 0 && len(word) == 2*dots && word[1] == '.' && word[len(word)-1] == '.' && !isLast
			if !isWord && !isInitials || signalWords[keyword(word)] ||
				len(names) > 1 && (isParticle(word) || isLast && isInitial(word)) {
				return nil
			}
		}
		names[i] = strings.Join(words, " ")
	}
	return names
}

func namesIn(text string) []string { return names(Parse(text)) }

func names(persons []Person) []string {
	names := make([]string, len(persons))
	for i, p := range persons {
		names[i] = p.String()
	}
	return names
}
