package web

import (
	"html/template"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// parseTemplates returns the templates of the pages by name, each with the layout. login enables the login.
func parseTemplates(a assets, login bool) (map[string]*template.Template, error) {
	functions := template.FuncMap{
		"asset": a.url, "modules": a.modules, "number": number, "books": books, "date": date, "moment": moment,
		"login":       func() bool { return login },
		"searchURL":   func(text string) string { return listing{Search: text}.URL() },
		"genreURL":    func(id string) string { return listing{Genres: []string{id}}.URL() },
		"categoryURL": func(id string) string { return listing{Categories: []string{id}}.URL() },
	}
	paths, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	templates := map[string]*template.Template{}
	for _, path := range paths {
		t, err := template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", path)
		if err != nil {
			return nil, err
		}
		templates[strings.TrimPrefix(path, "templates/")] = t
	}
	return templates, nil
}

// number formats an integer with thousands separators.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// books formats a number of books.
func books(n int) string {
	if n == 1 {
		return "1 book"
	}
	return number(n) + " books"
}

// leading returns the first n characters of a text.
func leading(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(n, len(runes))])
}

// cloth returns the CSS classes of the colour of a book's binding.
func cloth(genreID, id string) string {
	genre, _ := strconv.Atoi(genreID)
	book, _ := strconv.Atoi(id)
	return "cloth c" + strconv.Itoa(genre%8) + " t" + strconv.Itoa(book%3)
}

// date formats a day like 1 January 1969.
func date(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 January 2006")
}

// moment formats a time in UTC.
func moment(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return t.Format("2 January 2006, 15:04") + " UTC"
}
