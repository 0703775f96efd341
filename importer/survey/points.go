package survey

import (
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
)

// evidence says for each field which cells can be read as the field, all if none are named but not the others, and how
// much all cells speak for it.
var evidence = map[string]struct {
	readable, others []cellKind
	points           func(*Profile) int
}{
	"name":          {points: ifText(textPoints)},
	"description":   {points: ifText(lengthPoints)},
	"pages":         {readable: []cellKind{pages}, points: unlessCodes(pagePoints)},
	"published_at":  {readable: []cellKind{years, buddhist, dates}, points: unlessCodes(datePoints)},
	"author":        {points: ifText(personPoints)},
	"isbn":          {readable: []cellKind{isbns}, points: isbnPoints},
	"publisher":     {others: []cellKind{years, dates}, points: publisherPoints},
	"language":      {points: ifText(textPoints)},
	"shelf_mark":    {points: func(*Profile) int { return 1 }},
	"subtitle":      {points: byName},
	"series":        {points: byName},
	"series_number": {points: byName},
	"price":         {readable: []cellKind{amounts}, points: unlessCodes(pricePoints)},
	"genre":         {others: []cellKind{money, words}, points: ifText(genrePoints)},
	"category":      {others: []cellKind{money, words}, points: ifText(genrePoints)},
}

const (
	// SurePoints are the points of cells that name their field: valid ISBNs, and names of publishers.
	SurePoints = 10
	// impossible are the points of a column that cannot be the field.
	impossible = -1
)

// Points returns how much the cells speak for a field, from 0 to 10. It is negative if the column cannot be the field:
// if less than half of its cells can be read.
func (p *Profile) Points(field string) int {
	if p.Filled == 0 {
		return 0
	}
	return evidence[field].points(p)
}

// Refutes reports whether hardly a cell can be read as the field.
func (p *Profile) Refutes(field string) bool {
	e, readable := evidence[field], p.Filled
	if e.readable != nil {
		readable = p.cells(e.readable...)
	}
	return 5*(readable-p.cells(e.others...)) < p.Filled
}

// cells returns the number of cells of some kinds.
func (p *Profile) cells(kinds ...cellKind) (n int) {
	for _, kind := range kinds {
		if n += p.seen[kind]; kind == pages {
			_, shared := p.units.Shared()
			n += len(p.numbers) + shared.Cells
		}
	}
	return n
}

// share returns the tenths of the cells that are of some kinds.
func (p *Profile) share(kinds ...cellKind) int { return 10 * p.cells(kinds...) / max(p.Filled, 1) }

// mostly reports whether nearly all cells are of some kinds.
func (p *Profile) mostly(kinds ...cellKind) bool { return p.share(kinds...) >= 8 }

// hasPages reports whether the shared unit of the numbers is a word for pages, or is in the name of the column.
func (p *Profile) hasPages() bool {
	unit, _ := p.units.Shared()
	isNamed := slices.Contains(split(p.Name), strings.ReplaceAll(collate.Fold(unit), " ", ""))
	return unit != "" && (isNamed || count("pages", split(unit)) > 0)
}

// isCounting reports whether the whole numbers count up by 1.
func (p *Profile) isCounting() bool {
	for i, n := range p.numbers {
		if n != p.numbers[0]+i {
			return false
		}
	}
	return len(p.numbers) > 2
}

// unlessCodes returns points that are impossible if the cells are codes or marks.
func unlessCodes(points func(*Profile) int) func(*Profile) int {
	return func(p *Profile) int {
		if p.share(codes) >= 5 || p.mostly(marks) {
			return impossible
		}
		return points(p)
	}
}

// ifText returns points that are impossible if the cells are codes, numbers or dates.
func ifText(points func(*Profile) int) func(*Profile) int {
	return unlessCodes(func(p *Profile) int {
		unit, _ := p.units.Shared()
		areNumbers := (p.mostly(amounts) && !p.mostly(words) || p.mostly(pages)) && (p.Filled > 2 || unit != "")
		if areNumbers || p.mostly(dates) {
			return impossible
		}
		return points(p)
	})
}

// byName are the points of a field that only the usual names of columns tell.
func byName(*Profile) int { return impossible }

func isbnPoints(p *Profile) int {
	if share := p.share(isbns); share < 9 {
		return share - 5
	}
	return SurePoints
}

func publisherPoints(p *Profile) int {
	if p.mostly(publishers) {
		return SurePoints
	}
	return ifText(textPoints)(p)
}

func datePoints(p *Profile) int {
	if share := p.share(years, buddhist, dates); share >= 5 {
		return share
	}
	return impossible
}

func pagePoints(p *Profile) int {
	unit, _ := p.units.Shared()
	isMoney := p.share(money) >= 5 && NamePoints(p.Name, "pages") <= 0 // S. is Seiten and soles
	switch {
	case p.share(pages) < 5, isMoney, p.isCounting():
		return impossible
	case p.hasPages(): // Kurasa: 58 kurasa
		return 8
	case unit != "":
		return 5
	}
	median := slices.Sorted(slices.Values(p.numbers))[len(p.numbers)/2]
	if p.mostly(years) || median < 20 || median > 2000 {
		return 1
	}
	return p.share(pages)
}

func pricePoints(p *Profile) int {
	switch {
	case p.share(amounts) < 5, p.isCounting():
		return impossible
	case p.mostly(years):
		return 1
	}
	unknown := p.share(words) * 4 / 10 // unknown currencies, or unknown units of pages
	if p.hasPages() {
		unknown = 0
	}
	return 2 + max(p.share(money)*8/10, unknown, p.share(decimals)*5/10)
}

func personPoints(p *Profile) int {
	return min(2+p.share(persons)*8/10+p.share(pairs)*3/10-p.share(genres)/3, 10)
}

func genrePoints(p *Profile) int {
	switch {
	case p.mostly(money, words):
		return impossible
	case p.letters/p.Filled > 40, p.Filled > 3 && len(p.distinct) == 1, p.mostly(publishers):
		return 1 // the same in each row, as book, or publishers
	}
	return max(2+p.repeated()*8/10-p.share(persons)/3-p.share(pairs)/4+p.share(genres)*4/10, 1)
}

func lengthPoints(p *Profile) int { return min(p.letters/p.Filled/15, 10) }

func textPoints(p *Profile) int {
	if p.letters/p.Filled > 150 {
		return 1
	}
	return max(8-p.repeated()-p.share(persons)/3-p.share(pairs)/5-p.share(genres)/3, 1)
}

// repeated returns the tenths of the cells that repeat a value.
func (p *Profile) repeated() int { return 10 - 10*len(p.distinct)/p.Filled }
