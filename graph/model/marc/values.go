package marc

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/isbn"
)

// Values returns the values of a book by key of model.ImportFields, without the punctuation of ISBD, as the table of the
// package says. Subfields that are no part of them have keys like 700$a; several texts of one key are joined by "; ".
func (r Record) Values() map[string]string {
	v := values{record: r, used: map[*Subfield]bool{}, all: map[string]string{}}
	v.set("name", v.title())
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
	v.set("shelf_mark", cmp.Or(v.first("852", "khim"), v.first("852", "j"), v.first("952", "o"), v.first("090", "ab"), v.first("050", "ab")))
	v.rest()
	return v.all
}

// IsUNIMARC reports whether a record is of UNIMARC, whose fields have other meanings: it has a title in 200, and not in 245.
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

// title returns the title with its remainder after a colon, and its number and part.
func (v *values) title() string {
	var parts []string
	fields := v.tagged("245")
	for _, f := range fields[:min(len(fields), 1)] { // it is not repeatable
		for i := range f.Subfields {
			s := &f.Subfields[i]
			text := strings.TrimSpace(s.Text)
			if strings.IndexByte("abnp", s.Code) < 0 || len(parts) > 0 && s.Code == 'a' || text == "" {
				continue
			}
			v.used[s] = true
			if last := len(parts) - 1; last >= 0 && s.Code == 'b' {
				before := TrimPunctuation(parts[last])
				if strings.HasSuffix(parts[last], ":") || before == parts[last] {
					parts[last] = before + ":"
				}
			}
			parts = append(parts, text)
		}
	}
	return TrimPunctuation(strings.Join(parts, " "))
}

// author returns the names of the authors. It returns the statement of responsibility if it has the same persons, because
// our own records have the author there as it is stored, or if there are no names.
func (v *values) author() string {
	isMain := func(f DataField) bool { return f.Tag == "100" || f.Tag == "110" || f.Tag == "111" }
	isFurther := func(f DataField) bool {
		return (f.Tag == "700" || f.Tag == "710" || f.Tag == "711") && f.text('t') == ""
	}
	heads := v.fields(func(f DataField) bool { return isMain(f) || isFurther(f) && isAuthor(f) })
	if len(heads) == 0 {
		heads = v.fields(isFurther)
	}
	slices.SortStableFunc(heads, func(a, b DataField) int { return int(a.Tag[0]) - int(b.Tag[0]) }) // the main one first
	var texts []string
	for _, f := range heads {
		codes := "abc"
		if f.Tag[1:] == "00" && f.Indicators[0] == '0' {
			codes = "ab" // Elizabeth II, without Queen of Great Britain
		}
		texts = append(texts, strings.Join(v.take(f, codes), " "))
	}
	if all := strings.Join(texts, "; "); len(all) > maxAuthor {
		return all
	}
	var persons []author.Person
	for i, text := range texts {
		if heads[i].Tag[1:] == "00" {
			persons = append(persons, author.Parse(author.ReadMARC(text))...)
		} else if text != "" {
			persons = append(persons, author.Person{Literal: TrimPunctuation(text), Institution: true})
		}
	}
	joined := ""
	if len(persons) > 0 {
		joined = author.Join(persons)
	}
	said := v.tagged("245")
	if len(said) > 0 && len(said[0].text('c')) <= maxAuthor {
		c := TrimPunctuation(strings.TrimSpace(said[0].text('c')))
		spaced := withSpaces(c)
		texts := []string{strings.TrimSuffix(spaced, "."), spaced, strings.TrimSuffix(c, "."), c}
		if finalInitial.MatchString(spaced) { // the point is no full stop
			texts[0], texts[1] = texts[1], texts[0]
		}
		if slices.Contains(texts, joined) { // the common case, without a look at the names
			texts = []string{joined}
		}
		for _, text := range texts {
			if text != "" && (text == joined || joined == "" || author.Identity(text) == author.Identity(joined)) {
				v.take(said[0], "c")
				return text
			}
		}
	}
	return joined
}

// maxAuthor is the maximum number of bytes of names that are read. A stored author has at most as many.
const maxAuthor = 4_000

// finalInitial matches a text that ends in an initial.
var finalInitial = regexp.MustCompile(`(^|[ .-])\pL\.$`)

// tightInitials matches initials without a space between them.
var tightInitials = regexp.MustCompile(`(^|\PL)(\pL\.)(\pL\.)`)

// withSpaces is the reverse of statement.
func withSpaces(text string) string {
	for tightInitials.MatchString(text) {
		text = tightInitials.ReplaceAllString(text, "$1$2 $3")
	}
	return text
}

// isAuthor reports whether an added entry is of an author: it names no role, or this one.
func isAuthor(f DataField) bool {
	isNamed := false
	for _, s := range f.Subfields {
		switch s.Code {
		case '4':
			if isNamed = true; strings.HasSuffix(s.Text, "aut") {
				return true
			}
		case 'e':
			if isNamed = true; authorRole.MatchString(s.Text) {
				return true
			}
		}
	}
	return !isNamed
}

// authorRole matches the role of an author in languages of cataloguing.
var authorRole = regexp.MustCompile(`(?i)^\W*(?:joint )?(?:author|co-?author|aut\b|verfasser|auteur|autor|autore|автор)`)

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

// heading returns the first $a of the fields with a tag, or of those of our own source.
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
			return strings.TrimSuffix(TrimPunctuation(text), ".")
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

var year = regexp.MustCompile(`^\d{4}$`)

// published returns the date of publication. 008 tells it from other dates, and has the month and day in type e.
func (v *values) published() string {
	text := strings.TrimSuffix(v.publication("c"), ".")
	coded := v.record.coded(7, 11)
	switch {
	case !year.MatchString(coded), text != "" && !strings.Contains(text, coded):
		return text
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
			break
		}
	}
	if isASCII(code) && len(code)%3 == 0 && len(code) > 3 {
		code = code[:3] // engfre in old records
	}
	if code == undetermined || strings.Trim(code, "|#^ ") == "" {
		return ""
	}
	return code
}

// description returns the parts that paragraphs wrote, and those of other programs, as paragraphs.
func (v *values) description() string {
	var b strings.Builder
	isPart := true // of the same paragraph
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

// TrimPunctuation returns a text without the sign at its end that leads to the next field of a catalogue card (ISBD): of
// "The red river /" and "Miller, Anna,".
func TrimPunctuation(text string) string {
	end := strings.TrimRight(text, " ")
	plain := strings.TrimRight(strings.TrimRight(end, "/:;=,"), " ")
	isSign := len(end)-len(plain) > 1 && len(end)-len(strings.TrimRight(end, "/:;=")) == 1 && end[len(end)-2] == ' '
	if comma, ok := strings.CutSuffix(end, ","); ok && comma != "" && !isSign { // of several, the last one is ours
		return strings.TrimRight(comma, " ")
	}
	if plain != "" && isSign {
		return plain
	}
	return text
}
