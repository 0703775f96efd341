package view

import (
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Named is a row that a page names.
type Named struct{ ID, Name string }

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

// Date returns a day for scripts to write out, and 1 January as the year.
func Date(day string) template.HTML {
	day = template.HTMLEscapeString(day)
	if year := KnownDate(day); year != day {
		return template.HTML(strings.TrimLeft(year, "0")) //nolint:gosec // escaped
	}
	return template.HTML(`<time datetime="` + day + `">` + day + "</time>") //nolint:gosec // escaped
}

// Moment returns a time for scripts to write out.
func Moment(text string) template.HTML {
	return template.HTML(`<time datetime="` + template.HTMLEscapeString(text) + `">` + //nolint:gosec // escaped
		template.HTMLEscapeString(Minute(text)) + "</time>")
}

// Minute formats a time in UTC.
func Minute(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.UTC().Format("2006-01-02 15:04") + " UTC"
}
