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

// foldName returns a column's name without case, accents, spaces and punctuation. It returns "" for a text that is too
// long for a name.
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

// origin is the column of a field, or several columns that are read as one: given and family names, or the authors of a
// book.
type origin struct {
	columns   []int // indexes in the header
	separator string
}

// columns has the origins of each field. In each row the first with a value counts.
type columns map[string][]origin

// chooser finds the columns of the fields.
type chooser struct {
	header   []string
	folded   []string          // the names by foldName
	profiles []*survey.Profile // profiles of the first columns; nil: only the names are known
	options  *Options

	found      columns
	used       map[int]bool // columns that no other field may have
	candidates candidates   // candidates for the open fields
}

func newChooser(header []string, options *Options) *chooser {
	c := &chooser{header: header, options: options, found: columns{}}
	for _, name := range header {
		c.folded = append(c.folded, foldName(name))
	}
	return c
}

// otherThing matches a part of a dotted name that is not the book: its title or year is not the book's.
var otherThing = regexp.MustCompile(`(?i)publisher|series|genre|categor`)

// takeNamed finds the columns of the fields by the names in the options, else by the fields' own names. A field with
// the name "" in the options has no column. mustGuess reports whether a field of no given name is missing: a required
// one, or any if other names are given, because the file is then no export of ours.
func (c *chooser) takeNamed() (mustGuess bool) {
	for _, field := range model.ImportFields {
		name, isGiven := c.options.nameOf(field)
		if found := c.named(name); found != nil {
			c.found[field] = found
		} else {
			mustGuess = mustGuess || !isGiven && (!model.ImportField(field).Nullable || len(c.options.Columns) > 0)
		}
	}
	return mustGuess
}

// named returns the columns with a name, in order; First+Last is two that are read as one.
func (c *chooser) named(name string) (found []origin) {
	for _, i := range c.single(name) {
		found = append(found, origin{columns: []int{i}})
	}
	if first, last, ok := strings.Cut(name, "+"); ok && found == nil {
		if given, family := c.single(first), c.single(last); given != nil && family != nil {
			found = []origin{{[]int{given[0], family[0]}, " "}}
		}
	}
	return found
}

// single returns the columns of the file with a name, in order. Name#2 is the second of several, and #3 the third of
// all.
func (c *chooser) single(name string) []int {
	if found := c.equal(name); found != nil {
		return found
	}
	of, digits, ok := strings.Cut(name, "#")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 {
		return nil
	}
	if added := addedColumns(c.header); of == "" && n+added <= len(c.header) {
		return []int{n + added - 1}
	}
	if all := c.equal(of); n <= len(all) {
		return all[n-1 : n]
	}
	return nil
}

// equal returns the columns with a name, or else those with the name but for case, accents, spaces and punctuation.
func (c *chooser) equal(name string) []int {
	if found := indexes(c.header, name); found != nil {
		return found
	}
	return indexes(c.folded, foldName(name))
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

// guess adds the columns with other usual names of the fields, best first. The names in the lists count in turn, then
// words (survey.NamePoints), and last parts of names only for a field without a column. Cells that are no values of a
// field refute a name. The category's columns are the genre's if it has none.
func (c *chooser) guess() {
	c.used = c.usedColumns()
	fields := slices.DeleteFunc(slices.Clone(model.ImportFields), c.options.isGiven)
	last := c.lastNames()
	for _, field := range fields {
		c.take(c.folded, field, spellings(field), true)
	}
	for _, field := range fields {
		if c.found[field] == nil {
			c.take(last, field, spellings(field), true)
		}
	}
	isAuthorGuessed := !c.options.isGiven(author)
	if isAuthorGuessed {
		c.joinHalves()
		c.takeEditors()
	}
	c.takeRanked(fields)
	c.takeCategory()
	if isAuthorGuessed {
		c.joinNumbered()
	}
	for _, field := range fields {
		for _, names := range [][]string{c.folded, last} {
			if c.found[field] == nil || field == genre { // a price paid is no list price
				c.take(names, field, model.ImportField(field).Fallbacks, false)
			}
		}
	}
}

// lastNames returns the last parts of dotted names, folded: title of volumeInfo.title. It has "" for others.
func (c *chooser) lastNames() []string {
	last := make([]string, len(c.header))
	for i, name := range c.header {
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && !otherThing.MatchString(name[:dot]) {
			if last[i] = foldName(name[dot:]); last[i] == "name" {
				last[i] = "" // also of persons and shops
			}
		}
	}
	return last
}

// spellings returns the usual names of a field, folded.
func spellings(field string) []string {
	return append([]string{foldName(field)}, model.ImportField(field).Spellings...)
}

// take gives a field the unused columns with a name of a list, in its order, unless their cells refute it.
func (c *chooser) take(names []string, field string, list []string, isUsual bool) {
	for _, sought := range list {
		for i, name := range names {
			if name == sought && !c.used[i] && !c.refuted(i, field, isUsual) {
				c.found[field] = append(c.found[field], origin{columns: []int{i}})
				c.used[i] = true
			}
		}
	}
}

// takeEditors adds editors to the authors by their names in English, because a Spanish editor is a publisher.
func (c *chooser) takeEditors() {
	if found := c.found[author]; len(found) > 0 && len(found[0].columns) == 1 {
		c.take(c.folded, author, []string{"editor", "editors"}, false)
	}
}

// takeRanked gives each field without a column the best one with a word for it, or with sure cells. A required field
// gets none if two columns speak for it alike.
func (c *chooser) takeRanked(fields []string) {
	ranks := c.ranked(fields)
	isUnclear := map[string]bool{}
	for n, best := range ranks {
		isEqual := func(r rank) bool {
			isOther := c.folded[r.column] != c.folded[best.column] && !c.used[r.column]
			return isOther && r.field == best.field && r.name == best.name && r.cells == best.cells
		}
		switch {
		case c.found[best.field] != nil, c.used[best.column], best.name <= 0 && !best.isSure(), isUnclear[best.field]:
		case c.profiles != nil && c.options.needs(best.field) && slices.ContainsFunc(ranks[n:], isEqual):
			isUnclear[best.field] = true
		default:
			c.take(c.folded, best.field, c.folded[best.column:best.column+1], false) // all columns of this name
		}
	}
}

// takeCategory makes the category's columns the genre's, if it has none and no default of its own.
func (c *chooser) takeCategory() {
	isDefault := c.options.hasDefault(genre) && !c.options.hasDefault(category)
	isGiven := c.options.isGiven(genre) || c.options.isGiven(category)
	if found := c.found[category]; found != nil && c.found[genre] == nil && !isGiven && !isDefault {
		c.found[genre] = found
		delete(c.found, category)
	}
}

// has reports whether a column is one of a field.
func (c *chooser) has(field string, column int) bool {
	return slices.ContainsFunc(c.found[field], func(o origin) bool { return slices.Contains(o.columns, column) })
}

// joinHalves gives the author the whole name, or else the join of the columns of given and family names.
func (c *chooser) joinHalves() {
	half := map[survey.Half]int{}
	for i, name := range c.header[:min(len(c.header), maxRanked)] {
		if len(name) > maxRankedName || c.used[i] && !c.has(author, i) || c.refuted(i, author, false) {
			continue
		}
		if h := survey.HalfOf(name); !hasKey(half, h) {
			half[h] = i
		}
	}
	if !hasKey(half, survey.Given) || !hasKey(half, survey.Family) {
		return
	}
	halves := []int{half[survey.Given], half[survey.Family]}
	isFree := func(i int) bool { return c.found[author] == nil || c.has(author, i) }
	switch whole, hasWhole := half[survey.Whole]; {
	case hasWhole:
		c.found[author] = []origin{{columns: []int{whole}}}
	case slices.ContainsFunc(halves, isFree):
		c.found[author] = []origin{{halves, " "}}
	default:
		return
	}
	for _, i := range halves {
		c.used[i] = true // they are no names of books
	}
}

// joinNumbered joins the columns Author 1, Author 2 and so on, because a book has all of these authors.
func (c *chooser) joinNumbered() {
	found := c.found[author]
	if len(found) == 0 || len(found[0].columns) > 1 {
		return
	}
	base, isNumbered := unnumbered(c.folded[found[0].columns[0]]), false
	var all []int
	for i, name := range c.folded[:min(len(c.folded), maxRanked)] {
		if base != "" && unnumbered(name) == base && (!c.used[i] || c.has(author, i)) && !c.refuted(i, author, true) {
			all = append(all, i)
			isNumbered = isNumbered || name != base
		}
	}
	if len(all) > 1 && isNumbered {
		c.found[author] = []origin{{all, "; "}}
	}
}

// unnumbered returns a name without the number at its end.
func unnumbered(name string) string { return strings.TrimRight(name, "0123456789") }

// usedColumns returns the columns of all fields, and those that a file of rejected rows adds.
func (c *chooser) usedColumns() map[int]bool {
	used := map[int]bool{}
	for i := range addedColumns(c.header) {
		used[i] = true
	}
	for _, origins := range c.found {
		for _, o := range origins {
			for _, i := range o.columns {
				used[i] = true
			}
		}
	}
	return used
}
