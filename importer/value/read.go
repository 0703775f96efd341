package value

import (
	"fmt"
	"strings"

	"library-catalogue/graph/model"
)

// Read returns a single value of a kind in the catalogue's notation, without a column that shows how it is meant. The
// problem says what to write if it cannot be read, or in two ways.
func Read(kind model.Kind, text string, lastYear int) (plain, problem string) {
	text = strings.TrimSpace(text)
	switch kind {
	case model.KindDate:
		if _, ok := model.ParseDate(text); ok {
			return text, ""
		}
		mdy, _, isMDY := ParseDate(text, DatesMDY, lastYear)
		dmy, _, isDMY := ParseDate(text, DatesDMY, lastYear)
		return only(text, mdy.String(), isMDY, dmy.String(), isDMY, "a year or a day, like 1969 or 1969-01-31")
	case model.KindCents:
		decimals, isDecimals := ParseAmount(text, false, "")
		thousands, isThousands := ParseAmount(text, true, "")
		return only(text, stored(thousands), isThousands, stored(decimals), isDecimals, "an amount, like 15.71")
	case model.KindInt:
		pages, ok := ParsePages(text, "")
		return only(text, pages, ok, pages, ok, "a whole number, like 304")
	}
	return text, ""
}

// stored returns an amount with two decimals, if it has no more.
func stored(amount string) string {
	if cents, ok := model.ParseCents(amount); ok {
		return cents.String()
	}
	return amount
}

// only returns the reading of a text if there is one, and else what to write.
func only(text, one string, isOne bool, other string, isOther bool, form string) (plain, problem string) {
	switch {
	case isOne && isOther && one != other:
		return "", fmt.Sprintf("“%s” can be read in two ways. Write %s or %s.", text, one, other)
	case isOne:
		return one, ""
	case isOther:
		return other, ""
	}
	return "", "Write " + form + "."
}
