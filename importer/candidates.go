package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"library-catalogue/graph/model"
	"library-catalogue/importer/survey"
)

// rank is a column that may be a field.
type rank struct {
	field       string
	column      int
	name, cells int // points
}

func (r rank) points() int { return r.name + r.cells }

// isSure reports whether the cells of a column without a known name are evidence enough for an optional field.
func (r rank) isSure() bool {
	return model.ImportField(r.field).Is(model.OnInclude) && r.cells >= survey.SurePoints
}

// ranked returns the unused columns that may be one of the fields, best first.
func (c *chooser) ranked(fields []string, used map[int]bool) (all []rank) {
	for i, text := range c.header[:min(len(c.header), maxRanked)] {
		if used[i] || len(text) > maxRankedName {
			continue
		}
		name := survey.ParseName(text)
		for _, field := range fields {
			if c.found[field] != nil {
				continue
			}
			if r := (rank{field, i, name.Points(field), c.cellPoints(i, field)}); r.name <= 0 || !c.isFurther(i, field, used) {
				isText := model.ImportField(field).Kind == model.KindText
				if r.name >= 0 && r.cells >= 0 && (r.name > 0 || !isText || r.isSure() || c.profiles == nil || !c.profiles[i].IsTyped()) {
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
	base := strings.TrimRight(c.names()[i], "0123456789")
	for first, name := range c.names()[:min(i, len(c.profiles))] {
		if base != "" && strings.HasPrefix(name, base) && strings.TrimRight(name, "0123456789") == base &&
			!used[first] && c.profiles[first].Filled > 0 && !c.refuted(first, field, false) {
			return true
		}
	}
	return false
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

// findCandidates finds the columns that may be the open fields, those with a word for the field first. A column is the first
// candidate of one field at most.
func (c *chooser) findCandidates() {
	c.candidates, c.likely = map[string][]int{}, map[string]int{}
	first, most := map[int]bool{}, map[string]int{}
	ranks := c.ranked(c.open(), c.used())
	for i := range ranks {
		ranks[i].name += c.likeness(ranks[i])
	}
	slices.SortStableFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(min(b.name, 1), min(a.name, 1)), cmp.Compare(b.points(), a.points()))
	})
	for _, r := range ranks {
		isFirst := c.candidates[r.field] == nil
		isTie := !isFirst && r.points() == most[r.field]
		if r.points() > minPoints && (!isFirst && r.points() > weakPoints && len(c.candidates[r.field]) < maxCandidates || isTie || isFirst && !first[r.column]) {
			if isFirst {
				most[r.field] = r.points()
			}
			c.candidates[r.field] = append(c.candidates[r.field], r.column)
			first[r.column] = first[r.column] || isFirst
			if c.isLikely(r) {
				c.likely[r.field]++
			}
		}
	}
	used := c.used()
	for _, field := range c.open() {
		for i := range c.profiles {
			if len(c.header[i]) > maxRankedName || c.likely[field] > 0 || used[i] || c.profiles[i].Filled < 2 {
				continue
			}
			switch points := survey.NamePoints(c.header[i], field); {
			case points > 0:
				c.candidates[field], c.likely[field] = []int{i}, 1 // not readable; a default would hide that
			case points == 0 && field == published && c.candidates[field] == nil && !first[i] && c.profiles[i].HasYears():
				c.candidates[field] = []int{i}
			}
		}
	}
	if slices.Contains(c.open(), "name") && c.candidates["name"] == nil {
		c.anyName(used, first)
	}
}

// isLikely reports whether a column is probably the field, so that it is an answer and not only offered: its name has a word
// for the field, or the names of all columns say nothing. The field name has no default, so that any column is an answer.
func (c *chooser) isLikely(r rank) bool {
	return r.name > 0 || r.field == "name" || len(c.found) < minKnown
}

// minKnown is the number of fields with a known name from which a header is of a known language.
const minKnown = 2

// anyName makes the first text that no other field needs the candidate for the name, or else the candidate for the author, or
// any column, because a name has no default.
func (c *chooser) anyName(used, first map[int]bool) {
	isText := func(i int) bool { return !c.profiles[i].IsTyped() }
	for _, may := range []func(int) bool{
		func(i int) bool { return isText(i) && !first[i] }, isText, func(i int) bool { return true },
	} {
		for i := range c.profiles {
			if !used[i] && c.profiles[i].Filled > 0 && may(i) {
				maps.DeleteFunc(c.likely, func(field string, _ int) bool { return c.candidates[field][0] == i })
				maps.DeleteFunc(c.candidates, func(_ string, of []int) bool { return of[0] == i })
				c.candidates["name"], c.likely["name"] = []int{i}, 1
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
