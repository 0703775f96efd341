package value

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model/collate"
)

var (
	// cataloguedYear matches a year as cataloguers write it: c1990, [1990?], 1990-1995, 1990, c1988. The first one
	// counts.
	cataloguedYear = regexp.MustCompile(
		`(?i)^[\[(<]*(?:©|℗|c|p|cop|copyright|ca|circa|um|vers|approximately|d\.?\s?l|impr|พ\.?\s?ศ|` +
			`between|zwischen|entre|tra|mellan|mellem|mellom)?[.\s]*(\d{4})[\])>?.,\s-]*` +
			`(?:(?:(?:and|or|und|oder|et|ou|y|e|och|eller|og|lub|nebo|i|и|или)\s+)?[©c]?\d{4}[\])>?.\s-]*)?$`)
	// notedYear matches a year with a note after it, in brackets or not: 2011 (reimpr.), 1998 printing, c1997, 1998 3rd
	// ed.
	notedYear = regexp.MustCompile(
		`^[\[(]?(?:c|©)?(\d{4})[\])?]*[\s,;:/-]+(?:[(\[]([^()\[\]]+)[)\]]|` +
			`((?:\d{1,2}(?:st|nd|rd|th) )?\pL[^\d()\[\]]*?))` +
			`(?:[\s,;:]+[\[(]?[c©]? ?\d{4}[\])]?)?\.?$`)
	// wordYear matches a year after a word: reprint 1998.
	wordYear = regexp.MustCompile(`^(\pL[\pL.]*),? (\d{4})$`)
	// bracketedYear matches a year in brackets after something else: 5758 [1998], 1998 [i.e. 1999].
	bracketedYear = regexp.MustCompile(
		`^(.*[^\s\[(])\s*[\[(](?:i\. ?e\. ?|= ?|c\.?|ca\. ?|© ?)?(\d{4})(?:\?|[^\d\])]{1,6}\d{2,4}\??)?[\])]\.?$`)
	fourDigits = regexp.MustCompile(`\d{4}`)
	// letteredYear matches a year with the letter by which citations tell two books apart: 1984b. 1990s is a decade.
	letteredYear = regexp.MustCompile(`\b(\d{4})[a-r]\b`)
)

// noteWords are words of editions and seasons next to a year.
var noteWords = ParseWords(`
	print* reprint* repr reimp* impr* imp rist* tirage* tir druk* dodr* dotisk* tisk nachdr* neudr* aufl* ausg* ed eds
	edn edit* ediz* edic* edic* izd* изд*
	wyd* vyd* kiad* upplaga* uppl oppl* opl* painos* baski* bask* cet* cetakan* rev* copyright cop corr* augm* facs* 刷 版
	перепеч* репр*
	spring summer autumn fall winter fruhjahr* fruhling* sommer* herbst* printemps ete automne hiver primavera verano
	otono invierno estate autunno inverno
`)

// imprintYear matches a year behind a place or a publisher: Kyiv, 2019.
var imprintYear = regexp.MustCompile(`^[^\d]*\pL[.\])]?\s*[,:;]\s*[\[(©c]{0,2}(\d{4})[\])]?\.?$`)

// plainDate returns a text as Plain does, and without the letter of a year.
func plainDate(text string) string { return letteredYear.ReplaceAllString(Plain(text), "$1") }

// yearOf returns the year of a text that is no date, or "". The common calendar counts before others, and then the
// first year.
func yearOf(text string, lastYear int) string {
	if !fourDigits.MatchString(text) {
		return ""
	}
	for _, form := range []*regexp.Regexp{cataloguedYear, imprintYear} {
		if found := form.FindStringSubmatch(text); found != nil {
			return found[1]
		}
	}
	if found := wordYear.FindStringSubmatch(text); found != nil && isNote(found[1]) {
		return found[2]
	}
	if found := bracketedYear.FindStringSubmatch(text); found != nil {
		before, common := fourDigits.FindString(found[1]), found[2]
		if before == "" || before > strconv.Itoa(lastYear) || isOtherEra(before, common) {
			return common
		}
		return yearOf(found[1], lastYear)
	}
	if found := notedYear.FindStringSubmatch(text); found != nil &&
		(isNote(found[2]+found[3]) || found[2] != "" && isRemark(found[2])) {
		return found[1]
	}
	return ""
}

// isNote reports whether a text has a word of noteWords.
func isNote(text string) bool { return slices.ContainsFunc(wordsOf(text), noteWords.Has) }

// isRemark reports whether a text in brackets says nothing about the date: it has no number and no month.
func isRemark(text string) bool {
	return !strings.ContainsAny(text, "0123456789") && !slices.ContainsFunc(wordsOf(text), func(word string) bool {
		return monthNamed(word) > 0
	})
}

// wordsOf returns the folded words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(collate.Fold(text), func(r rune) bool { return !isLetter(r) })
}

// isOtherEra reports whether a year of another calendar is a year of the common one. The Hebrew, Buddhist, Indian and
// Persian calendars have a fixed distance, and the Islamic one has shorter years.
func isOtherEra(year, common string) bool {
	y, _ := strconv.Atoi(year)
	c, _ := strconv.Atoi(common)
	islamic := y*97/100 + 622
	return slices.Contains([]int{-3761, -3760, -544, -543, 78, 79, 621, 622}, c-y) || c >= islamic-1 && c <= islamic+1
}
