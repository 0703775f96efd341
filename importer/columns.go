package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/survey"
)

// foldName returns a column's name without case, accents, spaces and punctuation.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, collate.Fold(name))
}

// columns maps fields to the indexes of their columns in a header. In each row the first column with a value counts.
type columns map[string][]int

// joined is the least index of a column that joins two others, which hold the given and the family names of persons.
const joined = 1 << 20

// chooser finds the columns of the fields.
type chooser struct {
	header   []string
	profiles []*survey.Profile // of the first columns; nil: only the names are known
	options  Options

	found      columns
	joins      [][2]int         // of the indexes from joined: given names, family names
	candidates map[string][]int // by field without a column: columns that may be it, best first
}

// otherThing matches a part of a dotted name that is not the book: its title or year is not the book's.
var otherThing = regexp.MustCompile(`(?i)publisher|series|genre|categor`)

// takeNamed finds the columns of the fields by the names in the options, else by the fields' own names. A field with the
// name "" in the options has no column. mustGuess reports whether a required field of no given name is missing.
func (c *chooser) takeNamed() (mustGuess bool) {
	c.found = columns{}
	for _, field := range model.ImportFields {
		name, isGiven := c.options.Columns[field]
		if !isGiven {
			name = field
		}
		if found := c.named(name); found != nil {
			c.found[field] = found
		} else {
			mustGuess = mustGuess || !isGiven && !model.ImportField(field).Nullable
		}
	}
	return mustGuess
}

// named returns the columns with a name, in order; First+Last is the join of two.
func (c *chooser) named(name string) []int {
	if found := c.single(name); found != nil {
		return found
	}
	if first, last, ok := strings.Cut(name, "+"); ok {
		if given, family := c.single(first), c.single(last); given != nil && family != nil {
			return []int{c.join(given[0], family[0])}
		}
	}
	return nil
}

// single returns the columns of the file with a name, in order. Name#2 is the second of several, and #3 the third of all.
func (c *chooser) single(name string) []int {
	if found := c.equal(name); found != nil {
		return found
	}
	of, digits, ok := strings.Cut(name, "#")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return nil
	}
	if of == "" && n <= len(c.header) {
		return []int{n - 1}
	}
	if all := c.equal(of); n <= len(all) {
		return all[n-1 : n]
	}
	return nil
}

// equal returns the columns whose names are equal, or else equal without case, accents, spaces and punctuation.
func (c *chooser) equal(name string) (found []int) {
	if name == "" {
		return nil
	}
	sought := foldName(name)
	for _, isEqual := range []func(string) bool{
		func(in string) bool { return in == name },
		func(in string) bool { return sought != "" && foldName(in) == sought },
	} {
		for i, in := range c.header {
			if isEqual(in) {
				found = append(found, i)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// join returns the index of the join of two columns.
func (c *chooser) join(given, family int) int {
	c.joins = append(c.joins, [2]int{given, family})
	return joined + len(c.joins) - 1
}

// points returns how much a column speaks for a field; 0 or less if it cannot be the field.
func (c *chooser) points(i int, field string) (name, cells int) {
	if c.profiles != nil {
		cells = c.profiles[i].Points(field)
	}
	return survey.NamePoints(c.header[i], field), cells
}

// refuted reports whether a column's cells are no values of a field. A single cell refutes no usual name.
func (c *chooser) refuted(i int, field string, isUsual bool) bool {
	return i < len(c.profiles) && c.profiles[i].Refutes(field) && !(isUsual && c.profiles[i].Filled == 1)
}

// isRequired reports whether a field needs a column.
func isRequired(field string, defaults map[string]string) bool {
	_, hasDefault := defaults[field]
	return !hasDefault && !model.ImportField(field).Nullable
}

// guess adds the columns with other usual names of the fields, best first. The names in the lists count in turn, then
// words (survey.NamePoints), and last parts of names only for a field without a column. Cells that are no values of a
// field refute a name. The category's columns are the genre's if it has none.
func (c *chooser) guess() {
	folded, last := make([]string, len(c.header)), make([]string, len(c.header))
	for i, name := range c.header {
		folded[i] = foldName(name)
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && !otherThing.MatchString(name[:dot]) { // volumeInfo.title
			if last[i] = foldName(name[dot:]); last[i] == "name" {
				last[i] = "" // also of persons and shops
			}
		}
	}
	used := c.used()
	take := func(field string, i int) { c.found[field], used[i] = append(c.found[field], i), true }
	add := func(names []string, field string, spellings []string, isUsual bool) {
		for _, spelling := range spellings {
			for i, name := range names {
				if name == spelling && !used[i] && !c.refuted(i, field, isUsual) {
					take(field, i)
				}
			}
		}
	}
	isGuessed := func(field string) bool { _, isGiven := c.options.Columns[field]; return !isGiven }
	guessed := slices.DeleteFunc(slices.Clone(model.ImportFields), func(field string) bool { return !isGuessed(field) })
	for _, field := range guessed {
		add(folded, field, append([]string{foldName(field)}, model.ImportField(field).Spellings...), true)
	}
	for _, field := range guessed {
		if c.found[field] == nil {
			add(last, field, append([]string{foldName(field)}, model.ImportField(field).Spellings...), true)
		}
	}
	if isGuessed(author) {
		c.joinHalves(used)
	}
	isUnclear := map[string]bool{} // two columns speak for the field alike
	ranks := c.ranked(guessed, used)
	for n, best := range ranks {
		isEqual := func(r rank) bool {
			return r.field == best.field && folded[r.column] != folded[best.column] && r.name == best.name && r.cells == best.cells && !used[r.column]
		}
		if c.found[best.field] != nil || used[best.column] || best.name <= 0 || isUnclear[best.field] {
			continue
		}
		isUnclear[best.field] = c.profiles != nil && isRequired(best.field, c.options.Defaults) && slices.ContainsFunc(ranks[n:], isEqual)
		if !isUnclear[best.field] {
			add(folded, best.field, folded[best.column:best.column+1], false) // all columns of this name
		}
	}
	_, hasGenre := c.options.Defaults[genre]
	_, hasCategory := c.options.Defaults[category]
	if isGuessed(genre) && isGuessed(category) && c.found[genre] == nil && c.found[category] != nil && (hasCategory || !hasGenre) {
		c.found[genre] = c.found[category]
		delete(c.found, category)
	}
	for _, field := range guessed {
		for _, names := range [][]string{folded, last} {
			if c.found[field] == nil || field == genre { // a price paid is no list price
				add(names, field, model.ImportField(field).Fallbacks, false)
			}
		}
	}
}

// joinHalves gives the author the whole name, or else the join of the columns of given and family names.
func (c *chooser) joinHalves(used map[int]bool) {
	half := map[survey.Half]int{}
	for i, name := range c.header {
		if len(name) > maxRankedName || i >= maxRanked {
			continue
		}
		h := survey.HalfOf(name)
		if _, has := half[h]; !has && !c.refuted(i, author, false) && (!used[i] || slices.Contains(c.found[author], i)) {
			half[h] = i
		}
	}
	whole, hasWhole := half[survey.Whole]
	given, hasGiven := half[survey.Given]
	family, hasFamily := half[survey.Family]
	switch {
	case hasGiven && hasFamily && hasWhole:
		c.found[author] = []int{whole}
		used[given], used[family] = true, true // they are no names of books
	case hasGiven && hasFamily && (c.found[author] == nil || slices.Contains(c.found[author], given) || slices.Contains(c.found[author], family)):
		c.found[author] = []int{c.join(given, family)}
		used[given], used[family] = true, true
	}
}

// rank is a column that may be a field.
type rank struct {
	field       string
	column      int
	name, cells int // points
}

func (r rank) points() int { return r.name + r.cells }

// ranked returns the unused columns that may be one of the fields, best first.
func (c *chooser) ranked(fields []string, used map[int]bool) (all []rank) {
	for i, name := range c.header[:min(len(c.header), maxRanked)] {
		if used[i] || len(name) > maxRankedName {
			continue
		}
		for _, field := range fields {
			if r := (rank{field: field, column: i}); c.found[field] == nil && !c.isFurther(i, field, used) {
				isText := model.ImportField(field).Kind == model.KindText
				if r.name, r.cells = c.points(i, field); r.name >= 0 && r.cells >= 0 && (r.name > 0 || !isText || c.profiles == nil || !c.profiles[i].IsTyped()) {
					all = append(all, r)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rank) int { return cmp.Compare(b.points(), a.points()) })
	return all
}

// isFurther reports whether a column is a further one of the same numbered name, as Author 2 is beside Author 1.
func (c *chooser) isFurther(i int, field string, used map[int]bool) bool {
	base := strings.TrimRight(foldName(c.header[i]), "0123456789")
	if base == "" || survey.NamePoints(c.header[i], field) <= 0 {
		return false
	}
	return slices.ContainsFunc(c.header[:min(i, len(c.profiles))], func(name string) bool {
		first := slices.Index(c.header, name)
		return strings.TrimRight(foldName(name), "0123456789") == base && !used[first] && c.profiles[first].Filled > 0 && !c.refuted(first, field, false)
	})
}

// Limits of the ranking, because each column is compared with all words of all fields.
const (
	maxRanked     = 1000
	maxRankedName = 200 // bytes
)

// maxCandidates is the maximum number of columns that a question offers for a field, unless more are equal to the best.
const maxCandidates = 3

// open returns the fields that need a column, because they are required or have a given name, and have none.
func (c *chooser) open() (fields []string) {
	for _, field := range model.ImportFields {
		name, isGiven := c.options.Columns[field]
		if c.found[field] == nil && (name != "" || !isGiven && isRequired(field, c.options.Defaults)) {
			fields = append(fields, field)
		}
	}
	return fields
}

// findCandidates finds the columns that may be the open fields. A column is the first candidate of one field at most.
func (c *chooser) findCandidates() {
	c.candidates = map[string][]int{}
	first, most := map[int]bool{}, map[string]int{}
	ranks := c.ranked(c.open(), c.used())
	for i := range ranks {
		ranks[i].name += c.likeness(ranks[i])
	}
	slices.SortStableFunc(ranks, func(a, b rank) int { return cmp.Compare(b.points(), a.points()) })
	for _, r := range ranks {
		isFirst := c.candidates[r.field] == nil
		isTie := !isFirst && r.points() == most[r.field]
		if r.points() > minPoints && (!isFirst && r.points() > weakPoints && len(c.candidates[r.field]) < maxCandidates || isTie || isFirst && !first[r.column]) {
			if isFirst {
				most[r.field] = r.points()
			}
			c.candidates[r.field] = append(c.candidates[r.field], r.column)
			first[r.column] = first[r.column] || isFirst
		}
	}
	used := c.used()
	for _, field := range c.open() {
		for i := range c.profiles {
			isNamed := i < maxRanked && len(c.header[i]) <= maxRankedName && survey.NamePoints(c.header[i], field) > 0
			if c.candidates[field] == nil && isNamed && !used[i] && c.profiles[i].Filled > 1 {
				c.candidates[field] = []int{i} // not readable; a default would hide that
			}
		}
	}
	if slices.Contains(c.open(), "name") && c.candidates["name"] == nil {
		c.anyName(used, first)
	}
}

// anyName makes the first text that no other field needs the candidate for the name, or else the candidate for the author, or
// any column, because a name has no default.
func (c *chooser) anyName(used, first map[int]bool) {
	isText := func(i int) bool { return !c.profiles[i].IsTyped() }
	for _, may := range []func(int) bool{
		func(i int) bool { return isText(i) && !first[i] }, isText, func(i int) bool { return true },
	} {
		for i := range c.profiles {
			if !used[i] && c.profiles[i].Filled > 0 && may(i) {
				maps.DeleteFunc(c.candidates, func(_ string, of []int) bool { return of[0] == i })
				c.candidates["name"] = []int{i}
				return
			}
		}
	}
}

// Points up to which a column is no candidate, or only the first one.
const (
	minPoints  = 1
	weakPoints = 2
)

// likeness returns points for a name that is nearly the one in the options, or nearly a usual one.
func (c *chooser) likeness(r rank) int {
	name := foldName(c.header[r.column])
	sought := append([]string{foldName(r.field)}, model.ImportField(r.field).Spellings...)
	if given := c.options.Columns[r.field]; given != "" {
		sought = append([]string{foldName(given)}, sought...)
	}
	for _, s := range sought {
		if len(s) < 4 || len(name) > maxNearName {
			continue
		}
		longer := utf8.RuneCountInString(name) - utf8.RuneCountInString(s)
		if max(longer, -longer) <= len(s)/5 && levenshtein.ComputeDistance(name, s) <= len(s)/5 || longer == 0 && sortedLetters(name) == sortedLetters(s) {
			return nearPoints
		}
	}
	return 0
}

const (
	nearPoints  = 15
	maxNearName = 64 // bytes
)

// sortedLetters returns the letters of a name in order, which are the same for "titel" and "title".
func sortedLetters(name string) string { return string(slices.Sorted(slices.Values([]rune(name)))) }

// used returns the columns of the fields, and those of a file of rejected rows.
func (c *chooser) used() map[int]bool {
	used := map[int]bool{}
	for i := range rejectColumns {
		used[i] = len(c.header) > len(rejectColumns) && slices.Equal(c.header[:len(rejectColumns)], rejectColumns)
	}
	for _, of := range c.found {
		for _, i := range of {
			for _, part := range partsOf(i, c.joins) {
				used[part] = true
			}
		}
	}
	return used
}

// partsOf returns the columns of the file of which a column is made.
func partsOf(i int, joins [][2]int) []int {
	if i >= joined {
		return joins[i-joined][:]
	}
	return []int{i}
}
