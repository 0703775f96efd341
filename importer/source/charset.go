package source

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/unicode/norm"
)

// charset is an encoding of files.
type charset struct {
	name     string
	encoding encoding.Encoding // nil: UTF-8
	// languages has, for each language that is written in this encoding, its letters beyond ASCII, or its most frequent
	// characters.
	languages []string
}

var (
	western = []string{"äöüß", "àâçéèêëîïôûùœ", "áéíóúñü¿ºª", "ãáâàçéêíóôõúºª", "àèéìòù", "åäöé", "æøåé", "ëïéèöü",
		"áðéíóúýþæö", "’éè"}
	central  = []string{"áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž", "áäčďéíĺľňóôŕšťúýž", "äöüß"}
	baltic   = []string{"āčēģīķļņšūž", "ąčęėįšųūž", "äöüõšž"}
	cyrillic = []string{"абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгдежзийклмнопрстуфхцчшщьюяіїєґ",
		"абвгдђежзијклљмнњопрстћуфхцчџш"}
	japan = []string{"のにはをがとでたしいるなれさあかきくけこまもらりんアイウエオカキクケコサシスセソタチツテトナニネノハヒフマミムメモラリルレロンー本人日語小説山田村川"}
)

// charsets are the encodings of files that are not UTF-8, most frequent first.
var charsets = []charset{
	{Windows1252, charmap.Windows1252, western},
	{"Windows-1250", charmap.Windows1250, central},
	{"ISO-8859-2", charmap.ISO8859_2, central},
	{"Windows-1251", charmap.Windows1251, cyrillic},
	{"GB18030", simplifiedchinese.GB18030, []string{"的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里书学小王李张红河故事集史文"}},
	{"Big5", traditionalchinese.Big5, []string{"的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡書學小王李張紅河故事集史文"}},
	{"Shift_JIS", japanese.ShiftJIS, japan},
	{"EUC-JP", japanese.EUCJP, japan},
	{"EUC-KR", korean.EUCKR, []string{"이다의가는을에하고지도한나리기사로스라그자서인어대시아해정보일부수여전주소년원장제세상만경마들음과와성있없것니까요김박최강야설철"}},
	{"Windows-1253", charmap.Windows1253, []string{"αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ"}},
	{"Windows-1254", charmap.Windows1254, []string{"çğıöşüâîûi̇"}},
	{"Windows-1255", charmap.Windows1255, []string{"אבגדהוזחטיכלמנסעפצקרשתםןץףך"}},
	{"Windows-1256", charmap.Windows1256, []string{"ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءأإآؤئپچژگ"}},
	{"Windows-1257", charmap.Windows1257, baltic},
	{"KOI8-R", charmap.KOI8R, cyrillic[:1]},
	{"IBM866", charmap.CodePage866, cyrillic[:1]},
	{"Macintosh", charmap.Macintosh, western},
}

// Encodings are the names of the encodings that a file may have, apart from UTF-16.
var Encodings = func() []string {
	names := []string{"UTF-8"}
	for _, c := range charsets {
		names = append(names, c.name)
	}
	return names
}()

// Guess is an encoding that a text may have.
type Guess struct {
	Encoding string
	Text     string // a line in which it differs from others
	points   int    // of 100
	text     string // all lines
	charset  charset
}

const (
	surePoints = 70 // that an encoding needs
	sureLead   = 15 // over the next one
)

// guessCharset returns the encodings that the lines of a text may have, best first. isSure reports whether the first
// one is meant: whether the words are written as people write them in this encoding, and in no other.
func guessCharset(lines []byte) (guesses []Guess, isSure bool) {
	for _, c := range charsets {
		text, err := c.encoding.NewDecoder().String(string(lines))
		if err != nil || strings.ContainsFunc(text, isUndefined) {
			continue
		}
		guesses = append(guesses, Guess{Encoding: c.name, points: plausibility(text, c), text: text, charset: c})
	}
	slices.SortStableFunc(guesses, func(a, b Guess) int { return b.points - a.points })
	if len(guesses) == 0 {
		return nil, false
	}
	for i := range guesses[:min(len(guesses), maxFirst)] {
		if isSure = isMeant(guesses, i); isSure {
			guesses[0], guesses[i] = guesses[i], guesses[0]
			break
		}
	}
	line := -1 // the first in which the first guess differs from the next
	for i := 0; i < len(guesses) && line < 0; i++ {
		line, _, _ = differing(guesses[0].text, guesses[i].text)
	}
	for i := range guesses {
		guesses[i].Text = shownLine(guesses[i].text, max(line, 0))
	}
	return guesses, isSure
}

// maxFirst is the number of guesses, from the first, that may be meant.
const maxFirst = 3

// isMeant reports whether a guess is plausible, or at least its words that the next best one reads unlike it, and
// clearly more plausible than each other one: on the whole, or in the words that differ. In these no other may be
// better.
func isMeant(guesses []Guess, i int) bool {
	guess := guesses[i]
	isPlausible := guess.points >= surePoints
	for n, other := range guesses {
		line, words, others := differing(guess.text, other.text)
		if line < 0 {
			continue
		}
		lead := plausibility(words, guess.charset) - plausibility(others, other.charset)
		if lead < 0 || max(lead, guess.points-other.points) < sureLead {
			return false
		}
		isPlausible = isPlausible || n < maxFirst && plausibility(words, guess.charset) >= surePoints
	}
	return isPlausible
}

// differing returns the words in which two readings of a text differ, and the index of the line of the first one, or
// -1.
func differing(a, b string) (first int, ours, others string) {
	first = -1
	var of, other strings.Builder
	next, stop := iter.Pull(strings.Lines(b))
	defer stop()
	line := 0
	for text := range strings.Lines(a) {
		otherText, _ := next()
		words, otherWords := asciiFields(text), asciiFields(otherText)
		if len(words) != len(otherWords) { // an encoding of several bytes a character
			words, otherWords = []string{text}, []string{otherText}
		}
		for i, word := range words {
			if word != otherWords[i] {
				of.WriteString(word + " ")
				other.WriteString(otherWords[i] + " ")
				if first < 0 {
					first = line
				}
			}
		}
		line++
	}
	return first, of.String(), other.String()
}

// asciiFields returns the words of a line between characters of ASCII that are no letters.
func asciiFields(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r < 0x80 && !unicode.IsLetter(r) })
}

// isUndefined reports whether a character shows that bytes are not of an encoding.
func isUndefined(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x7F && r < 0xA0 || unicode.Is(unicode.Co, r)
}

// plausibility returns how much a text looks like one that people write, from 0 to 100: the share of the words with
// letters beyond ASCII that are written as words are, times the share of the letters of one language.
func plausibility(text string, c charset) int {
	words, good, letters := len(insideWord.FindAllString(text, -1)), 0, 0
	usual := make([]int, len(c.languages))
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		foreign := 0
		known := make([]int, len(c.languages))
		for _, r := range word {
			if r < 0x80 {
				continue
			}
			foreign++
			letters++
			for i, language := range c.languages {
				if strings.ContainsRune(language, unicode.ToLower(r)) {
					known[i]++
				}
			}
		}
		if foreign > 0 {
			words++
			for i, n := range known {
				usual[i] += n
			}
			if isWord(word, foreign, slices.Max(known)) {
				good++
			}
		}
	}
	switch {
	case words == 0:
		return 90 // signs alone, such as “ and –
	case letters == 0:
		return 0
	}
	share := 100 * slices.Max(usual) / letters
	if ideographic := unicode.In([]rune(c.languages[0])[0], unicode.Han, unicode.Hiragana,
		unicode.Hangul); ideographic {
		share = min(100, 3*share) // languages lists few of thousands of characters
	}
	return good * share / words
}

// insideWord matches a sign that is no part of a word, in one: Gra¿yna for Grażyna, or before one: £ucja for Łucja.
var insideWord = regexp.MustCompile(`\pL[¿¡€£§©®°²»«]\p{Ll}|[£§®°²]\p{Ll}`)

// isSeparator reports whether a character separates words.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || r < 0x80 && !unicode.IsLetter(r) ||
		strings.ContainsRune("–—‘’“”„«»…·¿¡€£§©®°²№、。，：；《》（）「」『』・？！￥\u00A0", r)
}

// isWord reports whether a word is written as words are: of letters of one script, in lower case but for the first or
// in upper case, with vowels, and if it is Latin with more letters of ASCII than others. foreign is the number of
// others, and usual of those that one language has: all if the word is Latin. Words have languages of their own,
// because a list of books has names of many countries.
func isWord(word string, foreign, usual int) bool {
	all, latin, uppers := 0, 0, 0
	before := rune(0)
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || all == 0 && unicode.IsMark(r) ||
			unicode.IsUpper(r) && unicode.IsLower(before) {
			return false
		}
		if all++; unicode.Is(unicode.Latin, r) {
			latin++
		}
		if unicode.IsUpper(r) {
			uppers++
		}
		before = r
	}
	switch {
	case latin > 0:
		return latin == all && foreign == usual && (foreign <= 2 || foreign*10 <= all*6) &&
			(uppers <= 1 || uppers == all) && canBeSpoken(word)
	case all > 2 && unicode.In(before, unicode.Cyrillic, unicode.Greek):
		return strings.ContainsAny(strings.ToLower(word), "аеёиоуыэюяіїєαεηιουωάέήίόύώϊϋ") &&
			(uppers <= 1 || uppers == all)
	}
	return true
}

// canBeSpoken reports whether the consonants beyond ASCII of a Latin word stand where they can be spoken, unlike
// those in Hélčne for Hélène and Anaďs for Anaïs.
func canBeSpoken(word string) bool {
	letters := []rune(strings.ToLower(word))
	isVowel := func(i int) bool {
		if i < 0 || i >= len(letters) {
			return false
		}
		letter := letters[i]
		if parts := norm.NFD.PropertiesString(string(letter)).Decomposition(); parts != nil {
			letter, _ = utf8.DecodeRune(parts)
		}
		return strings.ContainsRune("aeiouyıøæœ", letter)
	}
	for i, r := range letters[:len(letters)-1] {
		isBetween := i > 0 && r >= 0x80 && !isVowel(i) && !isVowel(i+1) && !isVowel(i-1)
		if isBetween && !strings.ContainsRune("lr", letters[i+1]) ||
			isVowel(i-1) && r == 'ď' && strings.ContainsRune("sfrtvd", letters[i+1]) {
			return false
		}
	}
	return true
}

// maxShown is the maximum number of characters of a guess.
const maxShown = 60

// shownLine returns the beginning of a line of a text, by its index.
func shownLine(text string, index int) string {
	for line := range strings.Lines(text) {
		if index == 0 {
			runes := []rune(strings.TrimSpace(line))
			return string(runes[:min(len(runes), maxShown)])
		}
		index--
	}
	return ""
}
