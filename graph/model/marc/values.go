package marc

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/isbn"
)

// Values returns the values of a book by key of model.ImportFields, without the punctuation of ISBD, as the table of
// the package says. Subfields that are no part of them have keys like 700$a; several texts of one key are joined by
// "; ".
func (r Record) Values() map[string]string {
	v := values{record: r, used: map[*Subfield]bool{}, all: map[string]string{}}
	v.set("name", v.title("abnp"))
	v.set("author", v.author())
	v.set("isbn", v.isbn())
	v.set("price", v.price())
	v.set("publisher", v.publisher())
	v.set("published_at", v.published())
	v.set("language", v.language())
	v.set("pages", v.first("300", "a"))
	v.set("description", v.description())
	if genre := v.heading("655", false); genre != "" {
		v.set("genre", genre)
		v.set("category", v.heading("650", true))
	} else {
		v.set("genre", v.heading("650", false))
	}
	v.set("shelf_mark",
		cmp.Or(v.first("852", "khim"), v.first("852", "j"), v.first("952", "o"), v.first("090", "ab"),
			v.first("050", "ab")))
	v.series()
	v.rest()
	return v.all
}

// SplitTitle returns the title and its remainder ($b) apart, which Values joins.
func (r Record) SplitTitle() (name, subtitle string) {
	v := values{record: r, used: map[*Subfield]bool{}}
	if name, subtitle = v.title("anp"), v.title("b"); name == "" {
		return subtitle, ""
	}
	return name, subtitle
}

// IsDeleted reports whether a record says that its book is no longer there.
func (r Record) IsDeleted() bool { return len(r.Leader) > 5 && r.Leader[5] == 'd' }

// IsUNIMARC reports whether a record is UNIMARC, where fields have other meanings: it has a title in 200, and not in
// 245.
func (r Record) IsUNIMARC() bool {
	has := func(tag string) bool {
		return slices.ContainsFunc(r.Data, func(f DataField) bool { return f.Tag == tag && f.text('a') != "" })
	}
	return has("200") && !has("245")
}

// values reads the values of a record.
type values struct {
	record Record
	used   map[*Subfield]bool
	all    map[string]string
}

// set sets a text that is not empty.
func (v *values) set(key, text string) {
	if text = strings.TrimSpace(text); text != "" {
		v.all[key] = text
	}
}

// fields returns the fields that match.
func (v *values) fields(match func(DataField) bool) (found []DataField) {
	for _, f := range v.record.Data {
		if match(f) {
			found = append(found, f)
		}
	}
	return found
}

// tagged returns the fields with a tag.
func (v *values) tagged(tag string) []DataField {
	return v.fields(func(f DataField) bool { return f.Tag == tag })
}

// first returns the subfields with some codes of the first field of a tag that has one.
func (v *values) first(tag, codes string) string { return v.firstOf(v.tagged(tag), codes) }

// firstOf is like first, for some fields.
func (v *values) firstOf(fields []DataField, codes string) string {
	for _, f := range fields {
		if text := strings.Join(v.take(f, codes), " "); text != "" {
			return text
		}
	}
	return ""
}

// take returns the texts of the subfields with some codes, in order, and marks them as used.
func (v *values) take(f DataField, codes string) (texts []string) {
	for i := range f.Subfields {
		if s := &f.Subfields[i]; strings.IndexByte(codes, s.Code) >= 0 && strings.TrimSpace(s.Text) != "" {
			v.used[s] = true
			texts = append(texts, strings.TrimSpace(s.Text))
		}
	}
	return texts
}

// text returns the first subfield with a code.
func (f DataField) text(code byte) string {
	for _, s := range f.Subfields {
		if s.Code == code {
			return s.Text
		}
	}
	return ""
}

// coded returns a part of field 008, or "".
func (r Record) coded(from, to int) string {
	for _, f := range r.Control {
		if f.Tag == "008" && len(f.Text) >= to && isASCII(f.Text[from:to]) {
			return f.Text[from:to]
		}
	}
	return ""
}

// title returns the subfields of the title with some codes: its remainder after a colon, its number and part.
func (v *values) title(codes string) string {
	var parts []string
	fields := v.tagged("245")
	for _, f := range fields[:min(len(fields), 1)] { // it is not repeatable
		for i := range f.Subfields {
			s := &f.Subfields[i]
			text := strings.TrimSpace(s.Text)
			if strings.IndexByte(codes, s.Code) < 0 || len(parts) > 0 && s.Code == 'a' || text == "" {
				continue
			}
			v.used[s] = true
			if last := len(parts) - 1; last >= 0 && s.Code == 'b' && !titleEnd.MatchString(parts[last]) {
				parts[last] = cmp.Or(strings.TrimRight(parts[last], " :;,/"), parts[last]) + ":"
			}
			parts = append(parts, text)
		}
	}
	title := TrimPunctuation(article.ReplaceAllString(strings.Join(parts, " "), "$1$2"))
	if len(fields) > 0 && fields[0].text('c') == "" { // the dot ends the field
		title = TrimDot(title)
	}
	return title
}

var (
	// titleEnd matches the end of a title that another one follows: in another language, or by the same author.
	titleEnd = regexp.MustCompile(` [=;]$`)
	// article matches the first word of a title in the signs by which programs say that it does not count: <<Das>>,
	// ¬Das¬.
	article = regexp.MustCompile(`^(?:<<([^<>]{1,20})>>|¬([^¬]{1,20})¬)`)
)

// volume matches the word before the number of a volume: "vol. 3", "Bd. 3".
var volume = regexp.MustCompile(`(?i)^(?:v|vols?|volume|bd|band|no|nr|n|t|tome|bk|book|#)\.? ?(\d)`)

// maxSeriesNumber is the maximum number of characters of a number in the series. A longer one is not read.
const maxSeriesNumber = 50

// series sets the series, as traced (830) or else as stated (490), and the number in it.
func (v *values) series() {
	for _, f := range append(v.tagged("830"), v.tagged("490")...) {
		name := strings.TrimRight(TrimPunctuation(strings.Join(v.take(f, "a"), " ")), " ;")
		if name == "" {
			continue
		}
		v.set("series", TrimDot(name))
		number := volume.ReplaceAllString(TrimDot(f.text('v')), "$1")
		if utf8.RuneCountInString(number) <= maxSeriesNumber {
			v.take(f, "v")
			v.set("series_number", number)
		}
		return
	}
}

// isbn returns the first 020 $a that begins with an ISBN, or else the first one.
func (v *values) isbn() string {
	fields := v.tagged("020")
	i := slices.IndexFunc(fields, func(f DataField) bool {
		words := strings.FieldsFunc(f.text('a'), func(r rune) bool { return r == ' ' || r == '(' || r == ':' })
		_, ok := isbn.Parse(strings.Join(words[:min(len(words), 1)], ""))
		return ok
	})
	return TrimPunctuation(v.firstOf(fields[max(i, 0):], "a"))
}

// price returns the first price: 020 $c, or in Koha the replacement price or the purchase price of an item.
func (v *values) price() string {
	for _, of := range []string{"020c", "952v", "952g"} {
		for _, f := range v.tagged(of[:3]) {
			if strings.ContainsAny(f.text(of[3]), "0123456789") {
				price, _, _ := strings.Cut(strings.Join(v.take(f, of[3:]), " "), " (")
				return TrimPunctuation(price)
			}
		}
	}
	return ""
}

// heading returns the first $a of the fields with a tag. isLocal leaves out the fields of other sources than our own.
func (v *values) heading(tag string, isLocal bool) string {
	for _, f := range v.tagged(tag) {
		isOwn := f.text('2') == local
		if isLocal && !isOwn {
			continue
		}
		if text := strings.Join(v.take(f, "a"), " "); text != "" {
			v.take(f, "2")
			if isOwn {
				return text
			}
			return TrimDot(TrimPunctuation(text))
		}
	}
	return ""
}

// noPublisher matches the notes of cataloguers for an unknown publisher.
var noPublisher = regexp.MustCompile(`(?i)^\[?(?:s\. ?n\.?|sine nomine|publisher not identified)\]?$`)

func (v *values) publisher() string {
	text := v.publication("b")
	if noPublisher.MatchString(text) {
		return ""
	}
	return text
}

// publication returns the first subfield with a code of 264 for a publication, of another 264, or of 260.
func (v *values) publication(code string) string {
	fields := v.fields(func(f DataField) bool { return f.Tag == "264" && f.Indicators[1] == '1' })
	fields = append(fields, v.tagged("260")...)
	fields = append(fields, v.tagged("264")...)
	return TrimPunctuation(v.firstOf(fields, code))
}

var (
	year = regexp.MustCompile(`^\d{4}$`)
	// commonYear matches a year of the common calendar, and of no other.
	commonYear = regexp.MustCompile(`1[5-9]\d\d|20\d\d`)
)

// published returns the date of publication. 008 tells it from other dates, and has the month and day in type e. A text
// without a year of the common calendar gets the year of 008 in brackets, as cataloguers write it: 5758 [1998].
func (v *values) published() string {
	text := strings.TrimSuffix(v.publication("c"), ".")
	coded := v.record.coded(7, 11)
	switch {
	case !year.MatchString(coded):
		return text
	case text != "" && !strings.Contains(text, coded):
		if commonYear.MatchString(text) {
			return text
		}
		return text + " [" + coded + "]"
	case v.record.coded(6, 7) == "e":
		if day := v.record.coded(11, 15); year.MatchString(day) {
			return coded + "-" + day[:2] + "-" + day[2:]
		}
	}
	return coded
}

// language returns the tag or code of the language of the text. A tag of 041 is more exact than a code.
func (v *values) language() string {
	fields := v.tagged("041")
	slices.SortStableFunc(fields, func(a, b DataField) int { return strings.Compare(b.text('2'), a.text('2')) })
	code := v.record.coded(35, 38)
	for _, f := range fields {
		if texts := v.take(f, "a2"); len(texts) > 0 {
			code = texts[0]
			if f.text('2') != "" { // a code of another list than MARC's
				return code
			}
			break
		}
	}
	if isASCII(code) && len(code)%3 == 0 && len(code) > 3 {
		code = code[:3] // engfre in old records
	}
	if code == undetermined || strings.Trim(code, "|#^ ") == "" {
		return ""
	}
	return cmp.Or(replacedCodes[code], code)
}

// description returns the fields 520 as paragraphs. It joins the parts of one that paragraphs has split.
func (v *values) description() string {
	var b strings.Builder
	isPart := true // the field goes on with the paragraph before it
	for _, f := range v.tagged("520") {
		var texts []string
		for i := range f.Subfields {
			if s := &f.Subfields[i]; s.Code == 'a' || s.Code == 'b' {
				v.used[s] = true
				texts = append(texts, s.Text)
			}
		}
		if len(texts) == 0 {
			continue
		}
		if !isPart {
			b.WriteString("\n\n")
		}
		var text string
		text, isPart = strings.CutSuffix(strings.Join(texts, " "), wordJoiner)
		b.WriteString(strings.ReplaceAll(text, lineSeparator, "\n"))
	}
	return b.String()
}

// rest sets the subfields that are not used.
func (v *values) rest() {
	texts := map[string][]string{}
	for _, f := range v.record.Data {
		for i := range f.Subfields {
			if s := &f.Subfields[i]; !v.used[s] && strings.TrimSpace(s.Text) != "" {
				key := f.Tag + "$" + string(rune(s.Code))
				texts[key] = append(texts[key], s.Text)
			}
		}
	}
	for key, of := range texts {
		v.all[key] = strings.Join(of, "; ")
	}
}

// abbreviation matches a text whose last dot belongs to its last word, and an ellipsis.
var abbreviation = regexp.MustCompile(
	`(?i)(?:^|[ .,(])(?:\p{L}?|etc|usw|jr|sr|st|co|inc|ltd|bros|vol|vols|bd|nr|no|dr|mr|mrs|ms|al|ed|eds)\.$`)

// TrimDot returns a text without the dot that ends a field of MARC. The dot of an abbreviation stays.
func TrimDot(text string) string {
	dotted, ok := strings.CutSuffix(strings.TrimRight(text, " "), ".")
	if !ok || abbreviation.MatchString(dotted+".") {
		return text
	}
	return dotted
}

// TrimPunctuation returns a text without the sign at its end that leads to the next field of a catalogue card (ISBD):
// of "The red river /" and "Miller, Anna,".
func TrimPunctuation(text string) string {
	end := strings.TrimRight(text, " ")
	plain := strings.TrimRight(strings.TrimRight(end, "/:;=,"), " ")
	isSign := len(end)-len(plain) > 1 && len(end)-len(strings.TrimRight(end, "/:;=")) == 1 && end[len(end)-2] == ' '
	if comma, ok := strings.CutSuffix(end, ","); ok && comma != "" && !isSign { // the last of several is ours
		return strings.TrimRight(comma, " ")
	}
	if plain != "" && isSign {
		return plain
	}
	return text
}
