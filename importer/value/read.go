package value

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// Read returns a single value of a kind in the catalogue's notation, without a column that shows how it is meant. The
// problem says what to write if it cannot be read, or in two ways.
func Read(kind model.Kind, text string, lastYear int) (plain string, problem model.Message) {
	text = strings.TrimSpace(text)
	readings, unreadable := []string{}, model.Message{}
	add := func(reading string, ok bool) {
		if ok {
			readings = append(readings, reading)
		}
	}
	switch kind {
	case model.KindDate:
		if _, ok := model.ParseDate(text); ok {
			return text, model.Message{}
		}
		unreadable.Key = "Write a year or a day, like 1969 or 1969-01-31."
		for _, order := range []string{DatesMDY, DatesDMY} {
			day, _, ok := ParseDate(text, order, lastYear)
			add(day.String(), ok)
		}
	case model.KindCents:
		unreadable.Key = "Write an amount, like 15.71."
		for _, comma := range []bool{true, false} {
			amount, ok := ParseAmount(text, comma, "")
			if cents, isStored := model.ParseCents(amount); isStored { // no more than two decimals
				amount = cents.String()
			}
			add(amount, ok)
		}
	case model.KindInt:
		unreadable.Key = "Write a whole number, like 304."
		add(ParsePages(text, ""))
	default:
		return text, model.Message{}
	}
	switch readings = slices.Compact(readings); len(readings) {
	case 0:
		return "", unreadable
	case 1:
		return readings[0], model.Message{}
	}
	return "", model.Messagef("“%s” can be read in two ways. Write %s or %s.", text, readings[0], readings[1])
}
