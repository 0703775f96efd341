package db

import (
	"regexp"
	"strings"
)

// A part of one or two characters has no trigram, so that a trigram index would
// give all rows for it. Two letters or digits are in a trigram with what stands
// before or after them, though, if that is ASCII: a regular expression asks for all
// of these. Where it is not, and for signs, there are few rows: an index has them.
const (
	// lonePairs finds the texts in which two letters or digits have no ASCII beside them.
	lonePairs = `[^\x01-\x7f][a-z0-9]{2}($|[^\x01-\x7f])`
	// rareSigns finds the texts with a sign that most are without.
	rareSigns = `[#$%*+<=>@^_|~{}\\[\]` + "`" + `]|\?\?`
)

// partIndexes are made with those of trigrams. One is for all columns, which costs
// a write least.
var partIndexes = []string{
	`CREATE INDEX IF NOT EXISTS books_lone_pairs ON books (id) WHERE ` + anyText(lonePairs),
	`CREATE INDEX IF NOT EXISTS books_rare_signs ON books (id) WHERE ` + anyText(rareSigns),
}

func anyText(pattern string) string {
	var conditions []string
	for _, column := range []string{"name_fold", "author_fold", "description_fold"} {
		conditions = append(conditions, column+" ~ '"+pattern+"'")
	}
	return strings.Join(conditions, " OR ")
}

var (
	pair  = regexp.MustCompile(`^[a-z0-9]{2}$`)
	signs = regexp.MustCompile(`^[\x01-/:-@[-` + "`" + `{-\x7f]+$`)
	rare  = regexp.MustCompile(rareSigns)
)

// ofNoTrigram writes that a stored folded text contains a part, for a part without
// a trigram that indexes help to find; else it writes nothing.
func ofNoTrigram(w *statement, text, part string) string {
	found := ""
	switch {
	case !strings.HasSuffix(text, "_fold"):
		return ""
	case pair.MatchString(part):
		found = "(" + text + " ~ " + w.arg(`(^|[\x01-\x7f])`+part+`|`+part+`[\x01-\x7f]`) + " OR " + text + " ~ '" + lonePairs + "')"
	case signs.MatchString(part) && rare.MatchString(part):
		found = text + " ~ '" + rareSigns + "'"
	default:
		return ""
	}
	// Not LIKE, for which an index of trigrams would give all rows.
	return "strpos(" + text + ", " + w.arg(part) + ") > 0 AND " + found
}
