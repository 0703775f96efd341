package value

import (
	"iter"
	"regexp"
	"strings"
)

// TagSurvey finds the genres of a column in which a cell may have several, because a book has one.
type TagSurvey struct {
	texts []string       // the first different cells
	cells map[string]int // by text
	parts map[string]int // number of different cells that have the part
}

// maxTags is the maximum number of different cells that are counted.
const maxTags = 10_000

// fixedCells is the number of cells from which a text with commas is the name of one genre, if none of its parts stands in
// another one.
const fixedCells = 3

// Add counts a cell.
func (s *TagSurvey) Add(text string) {
	text = strings.TrimSpace(text)
	if text == "" || s.cells[text] == 0 && len(s.cells) == maxTags {
		return
	}
	if s.cells == nil {
		s.cells, s.parts = map[string]int{}, map[string]int{}
	}
	if s.cells[text]++; s.cells[text] > 1 {
		return
	}
	s.texts = append(s.texts, text)
	for _, part := range splitTags(text, ",") {
		s.parts[part]++
	}
}

// All returns the different cells in their order, and how often each occurs.
func (s *TagSurvey) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, text := range s.texts {
			if !yield(text, s.cells[text]) {
				return
			}
		}
	}
}

// lastOfSeries matches the end of one name with commas: Crime, Mystery & Thriller.
var lastOfSeries = regexp.MustCompile(`(?i),[^,]*(?: & | and | und | et | y | e | en | og | och | i | и | та )[^,]*$`)

// First returns the first genre of a cell with several. Semicolons and bars separate them, and so do commas, unless the text
// shows that it is one name. The headings of MARC (isMARC) have commas of their own.
func (s *TagSurvey) First(text string, isMARC bool) string {
	trimmed := strings.TrimSpace(text)
	parts := splitTags(trimmed, ";")
	if len(parts) == 1 {
		parts = splitTags(trimmed, "|")
	}
	if len(parts) == 1 && !isMARC && !lastOfSeries.MatchString(trimmed) && !s.isFixed(trimmed) {
		parts = splitTags(trimmed, ",")
	}
	if len(parts) < 2 {
		return text
	}
	return parts[0]
}

// isFixed reports whether a text is the name of one genre by how often it and its parts occur.
func (s *TagSurvey) isFixed(text string) bool {
	if s.cells[text] < fixedCells {
		return false
	}
	for _, part := range splitTags(text, ",") {
		if s.parts[part] > 1 {
			return false
		}
	}
	return true
}

// splitTags returns the texts between separators that are not empty. Full-width and Arabic commas and semicolons count.
func splitTags(text, separator string) (parts []string) {
	for part := range strings.SplitSeq(signs.Replace(text), separator) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

var signs = strings.NewReplacer("，", ",", "、", ",", "،", ",", "；", ";", "؛", ";", "｜", "|")
