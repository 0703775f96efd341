package value

import (
	"regexp"
	"strings"
)

// publication matches a publisher with its place before it, and its year and the edition after it.
var publication = regexp.MustCompile(
	`^(?:[^:()]{1,60}: )?([^:]*?[^:,(\s])\s*(?:\((?:c|©)?\d{4}\)|, (?:c|©)?\d{4})(?:,.*)?$`)

// PublisherOf returns the publisher of a text like "Stuttgart: Thienemann, 1979" or "Ace (1990), Edition: Reissue, 535
// pages", as LibraryThing has it. Other texts stay.
func PublisherOf(text string) string {
	if found := publication.FindStringSubmatch(strings.TrimSpace(text)); found != nil && len(text) <= maxValue {
		return found[1]
	}
	return text
}
