package author

import (
	"iter"
	"strings"
)

// commas are the signs that read takes for a comma. Cells without one are not read, because columns are long.
const commas = ",，、،"

// IsInverted reports whether the authors in a column are written with the family name first: at least 7 of 10 names
// with one comma have one word before it, or two before and one behind it: "García Márquez, Gabriel".
//
//   - Fewer than three such names count only if Parse inverts one of them too, because "Plato, Walter Hamilton" alone
//     is two persons.
//   - If all have one word on both sides, such as "Ilf, Petrov", and more cells have a given name first, they are two
//     persons.
func IsInverted(cells iter.Seq[string]) bool {
	var all, family, twoWords, sure, spoken int
	for cell := range cells {
		if strings.ContainsAny(cell, commas) {
			r := read(cell, column)
			all, family, twoWords, sure = all+r.pairs, family+r.family, twoWords+r.twoWords, sure+r.sure
		} else if words := strings.Fields(cell); len(words) > 1 && !isInstitution(words) {
			spoken++
		}
	}
	if all == twoWords && spoken > all {
		return false
	}
	return (sure > 0 || all > 2) && family*10 >= all*7
}

// ReadColumn returns a cell of an inverted column with the given names first: "Le Guin, Ursula K." becomes
// "Ursula K. Le Guin". Other cells do not change.
func ReadColumn(cell string) string {
	if !strings.ContainsAny(cell, commas) {
		return cell
	}
	if r := read(cell, column); r.inverted {
		return Join(r.persons)
	}
	return cell
}

// ReadMARC returns a cell with names of MARC fields, such as 100$a and 700$a, with the given names first and without
// cataloguers' punctuation, years and roles: "Miller, Anna, 1950-" becomes "Anna Miller".
func ReadMARC(cell string) string {
	if r := read(cell, heading); r.persons != nil {
		return strings.TrimSuffix(Join(r.persons), ";")
	}
	return cell
}
