package model

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

// Page sizes of a connection.
const (
	DefaultPageSize = 20
	DefaultFeedPage = 100 // changes
	MaxPageSize     = 1_000
)

// Selection selects rows of a type.
type Selection struct {
	Where  *Condition // nil selects all
	Search string     // words; empty selects all
}

// All reports whether the selection has all rows.
func (s Selection) All() bool { return s.Where == nil && s.Search == "" }

// Key returns a text that identifies the selection.
func (s Selection) Key() string {
	if s.All() {
		return ""
	}
	return string(strconv.AppendQuote(s.Where.key(nil), s.Search))
}

// Bounds of a search.
const (
	maxSearchLength = 200 // characters
	maxSearchWords  = 32
)

// ParseSelection checks filter and search. The error is BadUserInput and names the field.
func ParseSelection(typename string, filter Filter, search *string) (Selection, error) {
	where, err := parseFilter(typename, filter)
	if err != nil || search == nil {
		return Selection{Where: where}, err
	}
	text := strings.TrimSpace(*search)
	switch {
	case !utf8.ValidString(text), strings.ContainsRune(text, 0):
		return Selection{}, BadArgument("search", "The search argument must be UTF-8 without the character NUL.")
	case utf8.RuneCountInString(text) > maxSearchLength:
		return Selection{}, BadArgument("search",
			"The search argument must not have more than %d characters.", maxSearchLength)
	case len(collate.Words(text)) > maxSearchWords:
		return Selection{},
			BadArgument("search", "The search argument must not have more than %d words.", maxSearchWords)
	}
	return Selection{Where: where, Search: text}, nil
}

// sizeOf checks the number of rows or groups of an argument.
func sizeOf(name string, size *int) (int, error) {
	switch {
	case size == nil:
		return DefaultPageSize, nil
	case *size < 0 || *size > MaxPageSize:
		return 0, BadArgument(name, "The %s argument must be between 0 and 1000.", name)
	}
	return *size, nil
}

// offsetOf checks the number of rows or groups to skip.
func offsetOf(offset *int) (int, error) {
	switch {
	case offset == nil:
		return 0, nil
	case *offset < 0:
		return 0, BadArgument("offset", "The offset argument must be at least 0.")
	}
	return *offset, nil
}
