package importer

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"library-catalogue/graph/model"
	"library-catalogue/importer/survey"
)

// rank is a column that may be a field.
type rank struct {
	field       string
	column      int
	name, cells int  // points
	isAnswer    bool // it is probably the field, and not only offered
}

func (r rank) points() int { return r.name + r.cells }

// isSure reports whether the cells of a column without a known name are evidence enough for an optional field.
func (r rank) isSure() bool {
	return model.ImportField(r.field).Is(model.OnInclude) && r.cells >= survey.SurePoints
}

// ranked returns the unused columns that may be one of the fields without a column, best first.
func (c *chooser) ranked(fields []string) (all []rank) {
	for i, text := range c.header[:min(len(c.header), maxRanked)] {
		if c.used[i] || len(text) > maxRankedName {
			continue
		}
		name := survey.ParseName(text)
		for _, field := range fields {
			if c.found[field] != nil {
				continue
			}
			r := rank{field: field, column: i, name: name.Points(field), cells: c.cellPoints(i, field)}
			if c.mayBe(r) {
				all = append(all, r)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rank) int { return cmp.Compare(b.points(), a.points()) })
	return all
}

// mayBe reports whether a column may be a field: neither its name nor its cells speak against that, and numbers are no
// text without a word in their name.
func (c *chooser) mayBe(r rank) bool {
	switch {
	case r.name < 0, r.cells < 0:
		return false
	case r.name > 0:
		return !c.isFurther(r)
	}
	isText := model.ImportField(r.field).Kind == model.KindText
	return !isText || r.isSure() || c.profiles == nil || !c.profiles[r.column].IsTyped()
}

// isFurther reports whether a column is a further one of the same numbered name, as Author 2 is after Author 1.
func (c *chooser) isFurther(r rank) bool {
	base := unnumbered(c.folded[r.column])
	for first, name := range c.folded[:min(r.column, len(c.profiles))] {
		isFirst := base != "" && unnumbered(name) == base && !c.used[first] && c.profiles[first].Filled > 0
		if isFirst && !c.refuted(first, r.field, false) {
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
		name, isGiven := c.options.nameOf(field)
		if c.found[field] == nil && name != "" && (isGiven || c.options.needs(field)) {
			fields = append(fields, field)
		}
	}
	return fields
}

// findCandidates finds the columns that may be the open fields, those with a word for the field first. A column is the
// first candidate of one field at most.
func (c *chooser) findCandidates() {
	c.used, c.candidates = c.usedColumns(), candidates{}
	open := c.open()
	ranks := c.ranked(open)
	for i := range ranks {
		ranks[i].name += c.likeness(ranks[i])
		// name has no default
		ranks[i].isAnswer = ranks[i].name > 0 || ranks[i].field == "name" || len(c.found) < minKnown
	}
	slices.SortStableFunc(ranks, func(a, b rank) int {
		return cmp.Or(cmp.Compare(min(b.name, 1), min(a.name, 1)), cmp.Compare(b.points(), a.points()))
	})
	first := map[int]bool{}
	for _, r := range ranks {
		c.offer(r, first)
	}
	for _, field := range open {
		c.offerUnreadable(field, first)
	}
	if slices.Contains(open, "name") && c.candidates["name"] == nil {
		c.anyName(first)
	}
}

// offer adds a candidate, unless it is much worse than those before it. first has the first candidates of the fields.
func (c *chooser) offer(r rank, first map[int]bool) {
	others := c.candidates[r.field]
	switch {
	case r.points() <= minPoints:
		return
	case others == nil:
		if first[r.column] {
			return
		}
		first[r.column] = true
	case r.points() != others[0].points() && (r.points() <= weakPoints || len(others) >= maxCandidates):
		return
	}
	c.candidates[r.field] = append(others, r)
}

// offerUnreadable makes a column with a word for a field its only candidate if there is no probable one, because a
// default would hide that it cannot be read. Years without a name are offered for the date.
func (c *chooser) offerUnreadable(field string, first map[int]bool) {
	for i, profile := range c.profiles {
		if len(c.header[i]) > maxRankedName || c.used[i] || profile.Filled < 2 || c.candidates.isAnswered(field) {
			continue
		}
		isOffered := field == published && c.candidates[field] == nil && !first[i] && profile.HasYears()
		if points := survey.NamePoints(c.header[i], field); points > 0 || points == 0 && isOffered {
			c.candidates[field] = []rank{{field: field, column: i, isAnswer: points > 0}}
		}
	}
}

// candidates are the columns that may be fields without a column, best first.
type candidates map[string][]rank

// isAnswered reports whether a field has a probable column.
func (c candidates) isAnswered(field string) bool { return len(c[field]) > 0 && c[field][0].isAnswer }

// minKnown is the number of fields with a known name from which a header is of a known language.
const minKnown = 2

// anyName makes the first text that no other field needs the candidate for the name, or else the candidate for the
// author, or any column, because a name has no default.
func (c *chooser) anyName(first map[int]bool) {
	isText := func(i int) bool { return !c.profiles[i].IsTyped() }
	for _, may := range []func(int) bool{
		func(i int) bool { return isText(i) && !first[i] }, isText, func(i int) bool { return true },
	} {
		for i, profile := range c.profiles {
			if !c.used[i] && profile.Filled > 0 && may(i) {
				maps.DeleteFunc(c.candidates, func(_ string, of []rank) bool { return of[0].column == i })
				c.candidates["name"] = []rank{{field: "name", column: i, isAnswer: true}}
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
	name, sought := c.folded[r.column], spellings(r.field)
	if given := c.options.Columns[r.field]; given != "" {
		sought = append([]string{foldName(given)}, sought...)
	}
	for _, s := range sought {
		if len(s) < 4 || len(name) > maxNearName {
			continue
		}
		longer, most := utf8.RuneCountInString(name)-utf8.RuneCountInString(s), len(s)/5
		isAnagram := longer == 0 && sortedLetters(name) == sortedLetters(s)
		if isAnagram || max(longer, -longer) <= most && levenshtein.ComputeDistance(name, s) <= most {
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
