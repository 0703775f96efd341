package value

import (
	"regexp"
	"slices"
	"strings"
)

// TagSurvey finds the genres of a column in which a cell may have several, because a book has one.
type TagSurvey struct {
	Texts []string       // the first different cells
	Cells map[string]int // cells by text
	parts map[string]int // number of different cells that have the part
}

// maxTags is the maximum number of different cells that are counted.
const maxTags = 10_000

// fixedCells is the number of cells from which a text with commas is the name of one genre, if none of its parts stands in
// another one.
const fixedCells = 3

// manyGenres is the number of different cells from which tags would occur again.
const manyGenres = 50

// Add counts a cell.
func (s *TagSurvey) Add(text string) {
	text = strings.TrimSpace(text)
	if text == "" || s.Cells[text] == 0 && len(s.Cells) == maxTags {
		return
	}
	if s.Cells == nil {
		s.Cells, s.parts = map[string]int{}, map[string]int{}
	}
	if s.Cells[text]++; s.Cells[text] > 1 {
		return
	}
	s.Texts = append(s.Texts, text)
	for _, part := range splitTags(text, ",") {
		s.parts[part]++
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
	if len(parts) == 1 && !isMARC && !s.isName(trimmed) {
		parts = splitTags(trimmed, ",")
	}
	if len(parts) < 2 {
		return text
	}
	return parts[0]
}

// isName reports whether a text with commas is the name of one genre by how often it and its parts occur:
//   - It stands in several cells, and its parts in no other.
//   - It ends as a series does ("& Thriller"), and its first part stands in no other cell.
//   - The column has many genres, and the parts after the first stand in no other cell ("Africa, East").
func (s *TagSurvey) isName(text string) bool {
	isRepeated := func(part string) bool { return s.parts[part] > 1 }
	parts := splitTags(text, ",")
	if s.Cells[text] >= fixedCells && !slices.ContainsFunc(parts, isRepeated) {
		return true
	}
	if lastOfSeries.MatchString(signs.Replace(text)) && !slices.ContainsFunc(parts[:min(len(parts), 1)], isRepeated) {
		return true
	}
	return len(s.Texts) >= manyGenres && !slices.ContainsFunc(parts[min(len(parts), 1):], isRepeated)
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

// signs also mends what programs have made of "&amp;".
var signs = strings.NewReplacer("&amp;", "&", "&amp,", "&", "，", ",", "、", ",", "،", ",", "；", ";", "؛", ";", "｜", "|")
