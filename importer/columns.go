package importer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/survey"
)

// foldName returns a column's name without case, accents, spaces and punctuation. It returns "" for a text that is too long
// for a name.
func foldName(name string) string {
	if len(name) > maxRankedName {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, collate.Fold(name))
}

// columns maps fields to the indexes of their columns in a header. In each row the first column with a value counts.
type columns map[string][]int

// joined is the least index of a column that joins others.
const joined = 1 << 20

// join is columns that are read as one: given and family names, or the authors of a book.
type join struct {
	parts     []int
	separator string
}

// chooser finds the columns of the fields.
type chooser struct {
	header   []string
	folded   []string          // the names by foldName; see names
	profiles []*survey.Profile // of the first columns; nil: only the names are known
	options  Options

	found      columns
	joins      []join           // of the indexes from joined
	candidates map[string][]int // by field without a column: columns that may be it, best first
	likely     map[string]int   // by field: how many of the first candidates are answers
}

// otherThing matches a part of a dotted name that is not the book: its title or year is not the book's.
var otherThing = regexp.MustCompile(`(?i)publisher|series|genre|categor`)

// takeNamed finds the columns of the fields by the names in the options, else by the fields' own names. A field with the
// name "" in the options has no column. mustGuess reports whether a field of no given name is missing: a required
// one, or any if other names are given, because the file is then no export of ours.
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
			mustGuess = mustGuess || !isGiven && (!model.ImportField(field).Nullable || len(c.options.Columns) > 0)
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
			return []int{c.join(" ", given[0], family[0])}
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
func (c *chooser) equal(name string) []int {
	if found := indexes(c.header, name); found != nil {
		return found
	}
	return indexes(c.names(), foldName(name))
}

// indexes returns the indexes of a name, unless it is empty.
func indexes(names []string, name string) (found []int) {
	for i, in := range names {
		if in == name && name != "" {
			found = append(found, i)
		}
	}
	return found
}

// names returns the names of the columns by foldName.
func (c *chooser) names() []string {
	if c.folded == nil {
		c.folded = make([]string, len(c.header))
		for i, name := range c.header {
			c.folded[i] = foldName(name)
		}
	}
	return c.folded
}

// join returns the index of the join of columns.
func (c *chooser) join(separator string, parts ...int) int {
	c.joins = append(c.joins, join{parts, separator})
	return joined + len(c.joins) - 1
}

// cellPoints returns how much the cells of a column speak for a field; less than 0 if it cannot be the field.
func (c *chooser) cellPoints(i int, field string) int {
	if c.profiles == nil {
		return 0
	}
	return c.profiles[i].Points(field)
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
	folded, last := c.names(), make([]string, len(c.header))
	for i, name := range c.header {
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
	if of := c.found[author]; isGuessed(author) && len(of) > 0 && of[0] < joined { // in English, because a Spanish editor is a publisher
		add(folded, author, []string{"editor", "editors"}, false)
	}
	isUnclear := map[string]bool{} // two columns speak for the field alike
	ranks := c.ranked(guessed, used)
	for n, best := range ranks {
		isEqual := func(r rank) bool {
			return r.field == best.field && folded[r.column] != folded[best.column] && r.name == best.name && r.cells == best.cells && !used[r.column]
		}
		if c.found[best.field] != nil || used[best.column] || best.name <= 0 && !best.isSure() || isUnclear[best.field] {
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
	if isGuessed(author) {
		c.joinNumbered(folded, used)
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
		c.found[author] = []int{c.join(" ", given, family)}
		used[given], used[family] = true, true
	}
}

// joinNumbered joins the columns Author 1, Author 2 and so on, because a book has all of these authors.
func (c *chooser) joinNumbered(folded []string, used map[int]bool) {
	found := c.found[author]
	if len(found) == 0 || found[0] >= joined {
		return
	}
	const digits = "0123456789"
	base, isNumbered := strings.TrimRight(folded[found[0]], digits), false
	var all []int
	for i, name := range folded[:min(len(folded), maxRanked)] {
		if base != "" && strings.TrimRight(name, digits) == base && (!used[i] || slices.Contains(found, i)) && !c.refuted(i, author, true) {
			all = append(all, i)
			isNumbered = isNumbered || name != base
		}
	}
	if len(all) > 1 && isNumbered {
		c.found[author] = []int{c.join("; ", all...)}
	}
}

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
func partsOf(i int, joins []join) []int {
	if i >= joined {
		return joins[i-joined].parts
	}
	return []int{i}
}
