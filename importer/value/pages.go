package value

import (
	"regexp"
	"strconv"
	"strings"

	"library-catalogue/graph/model/collate"
)

// pageWords are words for pages and leaves, and their abbreviations.
var pageWords = ParseWords(`
	p pp pg pgs page pages pag pags pagg pages pagina* pagine* pagini* paginos* paxina* pagna* pagni
	seite* s ss sid sida sidor sider side bls blad* blatt* bl bll bladsid* blaðsid* blz bladz* bladsy*
	str stron strona strony stran strana strany strane strani stranic* sivu* siv lk lhk lehekul* lpp lappus* psl puslap*
	oldal*
	tr trang hal halaman* hlm mukasurat sayfa* sahifa* səhifə* faqe* tudalen* lch leathan* kurasa* orri* pahina*
	f ff fol folio* feuille* hoja* folha* fogli* leaf leaves
	σ σσ σελ* φυλλ* с стр* стор* старон* л лист* бет* хууд* გვ* էջ* ገጽ*
	页* 頁* 面* ページ* 쪽* 페이지* หน้า* ໜ້າ* ຫນ້າ* ទំព័រ* စာမျက်နှာ*
	ص صفح* ورق* עמ* דפ* דף* पृ* पेज* पन्न* পৃ* পাতা* பக்க* పేజీ* పుట* ಪುಟ* പേജ* પાન* ਪੰਨ* පිටු*
`)

// volumeWords are words for things that have pages, and are no pages.
var volumeWords = ParseWords(`
	v vol vols volume* bd bde band bande tom tome* tomo* tomu* tomy t cilt deel delen osa kotet* sv svaz* zv ks szt
	część
	online e ebook* ressource* recurso* risorsa* computer cd cds dvd dvds portfolio* case box item*
	т том* кн книг* τομ* جلد* مجلد* 卷 巻 冊 册 권 部 本 子
`)

// unpaged are words of cataloguers for a book without a number of pages, as uncounted finds them.
var unpaged = ParseWords(`
	unpaged unpag* unpaginated unnumbered* variouspag* variously* npag* opag* ohneseiten* ungez* unpaginiert nichtpag*
	getr*
	sp spag* sinpag* sempag* senzapag* nonpag* sanspag* nepag* nestr* bezpag* pagmult* paginacionvar* paginationmult*
	ejpag* upag* безпаг*
`)

// roman matches a number of Roman numerals, perhaps in brackets.
const roman = `\[?[ivxlcdm]+\]?`

var (
	// sequence matches a list of numbers with the word after it.
	sequence  = `((?:` + roman + `[,+\s-]+)*[\d\[\],.+'’\s-]+?)\s*(\pL[\pL\pM]*)`
	sequences = regexp.MustCompile(sequence)
	// extent matches a text that begins with a sequence, also in one volume: 1 vol. (304 p.).
	extent = regexp.MustCompile(`^(?:1 [^(]*\(|[全共凡])?(?:(?:ca?|circa|approx)\.? |about )?` + sequence)
	// numberList matches numbers that cannot be a single one: xi + 868, xii, 352, [4], 304.
	numberList = regexp.MustCompile(`^(?:(?:` + roman +
		`[,+ ]+)+|(\[?\d+\]?) ?\+ ?|\[\d+\], ?)(?:\[?\d+\]?[,+ ]+)*\[?\d+\]?$|^\[\d+\]$`)
	// leaves matches the abbreviation of leaves, which looks like a digit, behind a space: 85 l.
	leaves = regexp.MustCompile(`([\d\]]) l([^\pL\d]|$)`)
	// labelled matches a number after the word: p. 352.
	labelled     = regexp.MustCompile(`^(\pL[\pL\pM]*)[.:]* ?(\d[\d.,'’ ]*)$`)
	pageRange    = regexp.MustCompile(`\d-+\d`)
	tightList    = regexp.MustCompile(`[^\d\s],\d`) // viii,120,304: no comma separates thousands
	listedNumber = regexp.MustCompile(`\[?(?:\d{1,3}(?:[.'’]\d{3})+|\d,\d{3}|\d+)`)
	// numberUnit matches a number with a unit of one or two words: 396 oj. ;
	numberUnit = regexp.MustCompile(`^(\d[\d., ]*?)\s*(\pL[\pL\pM'’]*(?:\.? \pL[\pL\pM]*)?)[.׳']?[\s;:,]*$`)
	// uncounted matches an extent without a number of pages: p. cm., v. :, 1 volume (unpaged).
	uncounted = regexp.MustCompile(
		`^\[?(1 )?(\pL[\pL\pM .-]*?)\]?[ .,:;]*(?:\([^()\d]*\))?[ .,:;]*(?:(?:\d+ ?)?cm)?[ .,:;]*$`)
)

// ParsePages parses a whole number with thousands separators. It may end in zero decimals, like a number of a
// spreadsheet, or be the extent of a catalogue card, such as "xii, 304 p. : ill. ; 23 cm" and "xii + 304". Its unit is
// a word for pages, or the one of its column (UnitSurvey).
func ParsePages(text, ofColumn string) (plain string, ok bool) {
	if len(text) > maxValue {
		return "", false
	}
	text = Plain(text)
	if _, err := strconv.Atoi(text); err == nil {
		return text, true
	}
	if !strings.ContainsAny(text, "0123456789") {
		return "", false
	}
	text = leaves.ReplaceAllString(collate.Fold(text), "$1 leaves$2")
	if found := extent.FindStringSubmatch(text); found != nil && pageWords.Has(found[2]) {
		return longestSequence(text)
	}
	if found := labelled.FindStringSubmatch(text); found != nil && pageWords.Has(found[1]) {
		return withoutThousands(found[2])
	}
	if numberList.MatchString(text) {
		plain = mainSequence(text)
		return plain, plain != ""
	}
	if number, unit := SplitUnit(text); unit != "" && unit == ofColumn {
		return number, true
	}
	whole, point, mayBeThousands := splitDecimals(text)
	if point != "" && !mayBeThousands && strings.Trim(text[len(whole)+1:], "0") == "" {
		text = whole
	}
	return withoutThousands(text)
}

// longestSequence returns the greatest page count of a text with several sequences: 304 of 4 p. l., 304 p.
func longestSequence(text string) (plain string, ok bool) {
	most := 0
	for _, found := range sequences.FindAllStringSubmatch(text, -1) {
		if !pageWords.Has(found[2]) {
			continue
		}
		list := strings.Trim(found[1], " ,.+-")
		if pageRange.MatchString(list) {
			return "", false
		}
		digits, ok := withoutThousands(list)
		if !ok {
			digits = mainSequence(list)
		}
		if n, err := strconv.Atoi(digits); err == nil && n > most {
			plain, most = digits, n
		}
	}
	return plain, most > 0
}

// mainSequence returns the greatest number of a list that is not in brackets, or else of all: 304 of xii, 304, [2].
func mainSequence(list string) (longest string) {
	if tightList.MatchString(list) {
		list = strings.ReplaceAll(list, ",", " ")
	}
	most, inBrackets := -1, true
	for _, number := range listedNumber.FindAllString(list, -1) {
		bare, isBracketed := strings.CutPrefix(number, "[")
		digits, _ := withoutThousands(bare)
		n, err := strconv.Atoi(digits)
		if err == nil && (inBrackets && !isBracketed || n > most && isBracketed == inBrackets) {
			longest, most, inBrackets = digits, n, isBracketed
		}
	}
	return longest
}

// IsUncounted reports whether a text is the extent of a book without a number of pages, such as "p. cm." and "1 volume
// (unpaged)". Two volumes have a number that is none of pages.
func IsUncounted(text string) bool {
	if len(text) > maxValue {
		return false
	}
	found := uncounted.FindStringSubmatch(collate.Fold(Plain(text)))
	if found == nil {
		return false
	}
	words := strings.FieldsFunc(found[2], func(r rune) bool { return r == ' ' || r == '.' || r == '-' })
	isOne := found[1] != ""
	return volumeWords.Has(words[0]) ||
		!isOne && (unpaged.Has(strings.Join(words, "")) || len(words) == 1 && pageWords.Has(words[0]))
}

// SplitUnit returns the whole number and the unit, in lower case, of a cell such as "396 oj. ;". Without both it
// returns "".
func SplitUnit(text string) (number, unit string) {
	if len(text) > maxValue {
		return "", ""
	}
	found := numberUnit.FindStringSubmatch(collate.Fold(Plain(text)))
	if found == nil {
		return "", ""
	}
	number, ok := withoutThousands(found[1])
	if !ok {
		return "", ""
	}
	return number, found[2]
}

const thousandsSeparators = ".,'’ \u00A0\u202F"

// withoutThousands joins groups of three digits with the same separator, which is one of thousandsSeparators. Groups of
// India have two digits, and only the last one three: 1,25,000.
func withoutThousands(number string) (digits string, ok bool) {
	const all = "0123456789"
	groups := []string{number}
	if rest := strings.TrimLeft(number, all); rest != "" {
		separator := string([]rune(rest)[0])
		if !strings.Contains(thousandsSeparators, separator) {
			return "", false
		}
		groups = strings.Split(number, separator)
	}
	isIndian := len(groups) > 2 && len(groups[1]) == 2 && strings.Contains(number, ",")
	for i, group := range groups {
		wrong := len(group) != 3
		switch {
		case i == 0:
			wrong = len(group) > 3 && len(groups) > 1 || isIndian && len(group) > 2
		case isIndian && i < len(groups)-1:
			wrong = len(group) != 2
		}
		if wrong || group == "" && len(groups) > 1 || strings.Trim(group, all) != "" {
			return "", false
		}
	}
	return strings.Join(groups, ""), number != ""
}
