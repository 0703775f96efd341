package source

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
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
	western  = []string{"äöüß", "àâçéèêëîïôûùœ", "áéíóúñü¿", "ãáâàçéêíóôõú", "àèéìòù", "åäöé", "æøåé", "ëïéèöü", "áðéíóúýþæö", "’éè"}
	central  = []string{"áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž", "áäčďéíĺľňóôŕšťúýž", "äöüß"}
	baltic   = []string{"āčēģīķļņšūž", "ąčęėįšųūž", "äöüõšž"}
	cyrillic = []string{"абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгдежзийклмнопрстуфхцчшщьюяіїєґ", "абвгдђежзијклљмнњопрстћуфхцчџш"}
	japan    = []string{"のにはをがとでたしいるなれさあかきくけこまもらりんアイウエオカキクケコサシスセソタチツテトナニネノハヒフマミムメモラリルレロンー本人日語小説山田村川"}
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
	Text     string // the beginning of the text in this encoding
	points   int    // of 100
	charset  charset
}

const (
	surePoints = 70 // that an encoding needs
	sureLead   = 15 // over the next one
)

// guessCharset returns the encodings that the lines of a text may have, best first. isSure reports whether the first one
// is meant: whether the words are written as people write them in this encoding, and in no other.
func guessCharset(lines []byte) (guesses []Guess, isSure bool) {
	for _, c := range charsets {
		text, err := c.encoding.NewDecoder().String(string(lines))
		if err != nil || strings.ContainsFunc(text, isUndefined) {
			continue
		}
		points := plausibility(text, c)
		guesses = append(guesses, Guess{Encoding: c.name, Text: firstForeign(text), points: points, charset: c})
	}
	slices.SortStableFunc(guesses, func(a, b Guess) int { return b.points - a.points })
	isSure = len(guesses) > 0 && guesses[0].points >= surePoints && (len(guesses) == 1 || guesses[1].points <= guesses[0].points-sureLead ||
		guesses[1].Text == guesses[0].Text)
	return guesses, isSure
}

// isUndefined reports whether a character shows that bytes are not of an encoding.
func isUndefined(r rune) bool {
	return r == unicode.ReplacementChar || r >= 0x7F && r < 0xA0 || unicode.Is(unicode.Co, r)
}

// plausibility returns how much a text looks like one that people write, from 0 to 100: the share of the words with
// letters beyond ASCII that are written as words are, times the share of the letters of one language.
func plausibility(text string, c charset) int {
	words, good, letters := 0, 0, 0
	usual := make([]int, len(c.languages))
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		foreign := 0
		for _, r := range word {
			if r < 0x80 {
				continue
			}
			foreign++
			letters++
			for i, language := range c.languages {
				if strings.ContainsRune(language, unicode.ToLower(r)) {
					usual[i]++
				}
			}
		}
		if foreign > 0 {
			words++
			if isWord(word, foreign) {
				good++
			}
		}
	}
	if words == 0 {
		return 90 // signs alone, such as “ and –
	}
	share := 100 * slices.Max(usual) / letters
	if ideographic := unicode.In([]rune(c.languages[0])[0], unicode.Han, unicode.Hiragana, unicode.Hangul); ideographic {
		share = min(100, 3*share) // of thousands of characters
	}
	return good * share / words
}

// isSeparator reports whether a character separates words.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || r < 0x80 && !unicode.IsLetter(r) ||
		strings.ContainsRune("–—‘’“”„«»…·¿¡€£§©®°№、。，：；《》（）「」『』・？！￥\u00A0", r)
}

// isWord reports whether a word is written as words are: of letters of one script, in lower case but for the first or in
// upper case, with vowels, and if it is Latin with more letters of ASCII than others. foreign is the number of others.
func isWord(word string, foreign int) bool {
	all, latin, uppers := 0, 0, 0
	before := rune(0)
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || all == 0 && unicode.IsMark(r) || unicode.IsUpper(r) && unicode.IsLower(before) {
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
		return latin == all && (foreign <= 2 || foreign*10 <= all*6) && (uppers <= 1 || uppers == all)
	case all > 2 && unicode.In(before, unicode.Cyrillic, unicode.Greek):
		return strings.ContainsAny(strings.ToLower(word), "аеёиоуыэюяіїєαεηιουωάέήίόύώϊϋ") && (uppers <= 1 || uppers == all)
	}
	return true
}

// maxShown is the maximum number of characters of a guess.
const maxShown = 60

// firstForeign returns the first line of a text with characters beyond ASCII.
func firstForeign(text string) string {
	for line := range strings.Lines(text) {
		if i := strings.IndexFunc(line, func(r rune) bool { return r >= 0x80 }); i >= 0 {
			runes := []rune(strings.TrimSpace(line))
			return string(runes[:min(len(runes), maxShown)])
		}
	}
	return ""
}
