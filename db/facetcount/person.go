package facetcount

import (
	"cmp"
	"maps"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/collate"
)

// person counts the rows of the authors with one identity (author.Identity).
type person struct {
	rows  int
	form  string         // the only one, or
	forms map[string]int // rows by form
}

// group counts authors by identity. Texts are read without, because a group of rows may have many of one text.
func (v *values) group() {
	v.persons = make(map[string]*person, len(v.texts))
	for text, n := range v.texts {
		v.addPerson(text, n)
	}
	v.texts = nil
}

// addPerson adds n rows to the person of an author.
func (v *values) addPerson(text string, n int) {
	key := author.Identity(text)
	p := v.persons[key]
	switch {
	case p == nil:
		p = &person{form: text}
		v.persons[key] = p
	case p.forms == nil && p.form != text:
		p.forms = map[string]int{p.form: p.rows}
	}
	p.rows += n
	if p.forms != nil {
		if p.forms[text] += n; p.forms[text] == 0 {
			delete(p.forms, text)
		}
		if len(p.forms) == 1 {
			for p.form = range p.forms {
			}
			p.forms = nil
		}
	}
	if p.rows == 0 {
		delete(v.persons, key)
	}
}

// GroupPersons returns the groups of a grouping by person of all groups by author.
func GroupPersons(authors []*model.BookGroup, g *model.Grouping) []*model.BookGroup {
	counts := New([]string{Person})
	for _, a := range authors {
		counts.AddRows(a.Aggregate.Count, *a.Author)
	}
	return counts.Groups(g, nil)
}

// Forms returns the identity and the text of each form of a counted column.
func (c *Counts) Forms(column string) (forms [][2]string) {
	counted := c.byName[column]
	if column == Person && counted.persons == nil {
		counted.group()
	}
	for text := range counted.texts {
		forms = append(forms, [2]string{collate.Identity(text), text})
	}
	for key, p := range counted.persons {
		for _, text := range p.all() {
			forms = append(forms, [2]string{key, text})
		}
	}
	return forms
}

// all returns the forms, by descending row count and then by name.
func (p *person) all() []string {
	if p.forms == nil {
		return []string{p.form}
	}
	return slices.SortedFunc(maps.Keys(p.forms), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.forms[b], p.forms[a]), cmp.Compare(collate.SortKey(a), collate.SortKey(b)),
			cmp.Compare(a, b))
	})
}
