package db

import (
	"regexp"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
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

// short writes that a stored folded text has a part in it, or at its end, where the
// part has no trigram and these indexes help to find it; else it writes nothing.
func short(w *statement, op model.Op, text, part string) string {
	if !strings.HasSuffix(text, "_fold") || op == model.StartsWithFolded {
		return ""
	}
	found := ""
	switch {
	case signs.MatchString(part) && rare.MatchString(part):
		found = text + " ~ '" + rareSigns + "'"
	case pair.MatchString(part) && op == model.ContainsFolded: // at the end of a word it has one
		found = "(" + text + " ~ " + w.arg(`(^|[\x01-\x7f])`+part+`|`+part+`[\x01-\x7f]`) + " OR " + text + " ~ '" + lonePairs + "')"
	default:
		return ""
	}
	// Not LIKE, for which an index of trigrams would give all rows.
	if op == model.EndsWithFolded {
		return "right(" + text + ", " + strconv.Itoa(len(part)) + ") = " + w.arg(part) + " AND " + found
	}
	return "strpos(" + text + ", " + w.arg(part) + ") > 0 AND " + found
}
