package view

import (
	"strconv"
	"strings"
	"time"
)

// Named is a row that a page names.
type Named struct{ ID, Name string }

// Number formats an integer with thousands separators.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Books formats a number of books.
func Books(n int) string {
	if n == 1 {
		return "1 book"
	}
	return Number(n) + " books"
}

// Leading returns the first n characters of a text.
func Leading(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(n, len(runes))])
}

// Cloth returns the CSS classes of the colour of a book's binding.
func Cloth(genreID, id string) string {
	genre, _ := strconv.Atoi(genreID)
	book, _ := strconv.Atoi(id)
	return "cloth c" + strconv.Itoa(genre%8) + " t" + strconv.Itoa(book%3)
}

// KnownDate returns a day, or the year alone of 1 January, because that stands for a year without month and day.
func KnownDate(day string) string { return strings.TrimSuffix(day, "-01-01") }

// Date formats a day like 31 January 1969, and 1 January like 1969.
func Date(day string) string {
	if year := KnownDate(day); year != day {
		return strings.TrimLeft(year, "0")
	}
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 January 2006")
}

// Moment formats a time in UTC.
func Moment(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.Format("2 January 2006, 15:04") + " UTC"
}
