package value

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"time"

	"library-catalogue/graph/model/collate"
)

// monthNames are the names of the months, a language a line. Forms of one month are separated by slashes, and the
// longest form is there, because a name may be cut.
//
//go:embed months.txt
var monthNames string

// Limits of abbreviations of months: the letters, and how many times more languages must have one month than others.
const (
	minMonth      = 3
	clearMajority = 5
)

// votes are the numbers of languages by month.
type votes [13]int

// winner returns the month of clearly most languages, or 0.
func (v *votes) winner() time.Month {
	best, all := 0, 0
	for month, n := range v {
		if all += n; n > v[best] {
			best = month
		}
	}
	if v[best] < clearMajority*(all-v[best]) {
		return 0
	}
	return time.Month(best)
}

// monthIndex returns the votes for the names of the months, and for their beginnings.
var monthIndex = sync.OnceValues(func() (names, beginnings map[string]*votes) {
	names, beginnings = map[string]*votes{}, map[string]*votes{}
	vote := func(in map[string]*votes, text string, month int, seen map[string]bool) {
		if key := text + "\x00" + string(rune(month)); !seen[key] {
			if seen[key] = true; in[text] == nil {
				in[text] = &votes{}
			}
			in[text][month]++
		}
	}
	for line := range strings.Lines(monthNames) {
		seenNames, seenBeginnings := map[string]bool{}, map[string]bool{}
		for i, forms := range strings.Fields(line) {
			for form := range strings.SplitSeq(forms, "/") {
				name := []rune(collate.Fold(form))
				vote(names, string(name), i+1, seenNames)
				for n := minMonth; n < len(name); n++ {
					vote(beginnings, string(name[:n]), i+1, seenBeginnings)
				}
			}
		}
	}
	return names, beginnings
})

// monthNamed returns the month with a name, or with a name that begins so in clearly most languages, or 0.
func monthNamed(text string) time.Month {
	text = collate.Fold(text)
	names, beginnings := monthIndex()
	for _, index := range []map[string]*votes{names, beginnings} {
		if v := index[text]; v != nil {
			return v.winner()
		}
	}
	return 0
}

// croatian matches names of months that only Croatian has. It calls October as other languages call November: listopad.
var croatian = regexp.MustCompile(
	`(?i)\b(?:sije[cč]|velja[cč]|o[zž]uj|trava?nj|svib|lipa?nj|srpa?nj|kolovoz|ruja?n|studen[io]|prosinac|prosinca)`)

var listopad = regexp.MustCompile(`(?i)listopada?`)

// dateWords are words between the parts of a date: 1st of May, 1er mai, 12 de agosto.
var dateWords = ParseWords(`
	жылы жыл ж жылғы st nd rd th of er re de del d di l any o af ail ed fed eg af ydd
	gada g y m года год г р року к година gads metai metu men diena ko a an en ren
	წელი წლის წ թ թվական թվականի թվականին i e viti vitit ngay nam fomhair na mi tahun mwaka
`)

// ordinalEndings make a number a day, and no month: 1998 3rd ed.
var ordinalEndings = ParseWords("st nd rd th")

// weekdays are the names of days, without accents. A date may begin with one.
var weekdays = ParseWords(`
	monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
	lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
	lunes martes miercoles jueves viernes sabado domingo mie jue vie sab dom
	lunedi martedi mercoledi giovedi venerdi domenica gio segunda terca quarta quinta sexta feira seg ter qua qui sex
	maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
	poniedzialek wtorek sroda czwartek piatek sobota niedziela pondeli utery streda ctvrtek patek nedele
	mandag tirsdag onsdag torsdag fredag lordag sondag mandagen lordagen den am vom le el dne ngay
	понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс
`)
