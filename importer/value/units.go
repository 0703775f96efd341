package value

import "regexp"

// otherUnits match units of other things: lengths, weights, volumes and thousands.
var otherUnits = regexp.MustCompile(`^(?:[cmk]?m|[см]м|м|k?g|kb|mb|кг|г|гр|[卷巻冊册권部本子千万萬].*)$`)

// UnitSurvey finds the unknown unit, or the unknown currency, that the numbers of a column share.
type UnitSurvey struct {
	numbers int // cells with a number, and no unit of another thing
	units   map[string]*Seen
}

// maxUnits is the maximum number of units that are counted.
const maxUnits = 100

// Add counts a cell with a number of pages.
func (s *UnitSurvey) Add(row int, text string) {
	if _, ok := ParsePages(text, ""); ok {
		s.count(row, text, "")
	} else if number, unit := SplitUnit(text); number != "" && !otherUnits.MatchString(unit) &&
		!volumeWords.Has(unit) && !isCurrency(unit) {
		s.count(row, text, unit)
	}
}

// count counts a number and its unknown unit, or "".
func (s *UnitSurvey) count(row int, text, unit string) {
	s.numbers++
	if unit == "" || s.units[unit] == nil && len(s.units) == maxUnits {
		return
	}
	if s.units == nil {
		s.units = map[string]*Seen{}
	}
	if s.units[unit] == nil {
		s.units[unit] = &Seen{Text: text, Row: row}
	}
	s.units[unit].Cells++
}

// Shared returns the unit of at least two cells, and four fifths of the numbers, or "".
func (s *UnitSurvey) Shared() (unit string, cells Seen) {
	for unit, seen := range s.units {
		if seen.Cells > 1 && 10*seen.Cells >= 8*s.numbers {
			return unit, *seen
		}
	}
	return "", Seen{}
}
