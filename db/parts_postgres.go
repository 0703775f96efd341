package db

import (
	"regexp"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// The parts of books' folded texts that filters ask for are found by trigrams. A
// text has textEnd at its end there, which is in no folded text, so that an ending
// has trigrams of its own.
const textEnd = "Q"

// A part of one or two characters has no trigram, so that the index would give all
// rows for it. Two letters or digits are in a trigram with what stands before or
// after them, though, if that is ASCII: a regular expression asks for all of these.
// Where it is not, and for signs, there are few rows: an index has them.
const (
	// lonePairs finds the texts in which two letters or digits have no ASCII beside them.
	lonePairs = `[^\x01-\x7f][a-z0-9]{2}($|[^\x01-\x7f])`
	// rareSigns finds the texts with a sign that most are without.
	rareSigns = `[#$%*+<=>@^_|~{}\\[\]` + "`" + `]|\?\?`
)

// partIndexes need the extension pg_trgm. A megabyte of rows waits for its places
// in those of trigrams: fewer make writes slower, and more make searches so, each
// of which looks at all that wait. One of the others is for all columns, which costs
// a write least.
var partIndexes = []string{
	partIndex("name", "name_fold"), partIndex("author", "author_short"), partIndex("description", "description_fold"),
	`CREATE INDEX IF NOT EXISTS books_lone_pairs ON books (id) WHERE ` + anyText(lonePairs),
	`CREATE INDEX IF NOT EXISTS books_rare_signs ON books (id) WHERE ` + anyText(rareSigns),
}

func partIndex(field, text string) string {
	return `CREATE INDEX IF NOT EXISTS books_` + field + `_trigrams ON books USING gin ((` + text + ` || '` + textEnd + `') gin_trgm_ops)` + waiting
}

const waiting = ` WITH (gin_pending_list_limit = 1024)`

// anyText is a condition for each text by itself: of one on all of them together
// PostgreSQL could not foresee how many rows fulfil it.
func anyText(pattern string) string {
	var conditions []string
	for _, column := range []string{"name_fold", "author_short", "description_fold"} {
		conditions = append(conditions, column+" ~ '"+pattern+"'")
	}
	return strings.Join(conditions, " OR ")
}

var (
	pair  = regexp.MustCompile(`^[a-z0-9]{2}$`)
	signs = regexp.MustCompile(`^[\x01-/:-@[-` + "`" + `{-\x7f]+$`)
	rare  = regexp.MustCompile(rareSigns)
)

// partOfBook writes that a folded text of a book has a part in it, or at its end.
// What has no trigram is not looked for by LIKE, for which the index would give all
// rows.
func partOfBook(w *statement, op model.Op, text, part string) string {
	indexed := "(" + text + " || '" + textEnd + "')"
	atEnd := op == model.EndsWithFolded
	switch {
	case signs.MatchString(part) && rare.MatchString(part):
		value := w.arg(part)
		has := "strpos(" + text + ", " + value + ") > 0"
		if atEnd {
			has = "right(" + text + ", " + strconv.Itoa(len(part)) + ") = " + value
		}
		return has + " AND " + text + " ~ '" + rareSigns + "'"
	case pair.MatchString(part) && !atEnd:
		return "strpos(" + text + ", " + w.arg(part) + ") > 0 AND (" + indexed + " ~ " + w.arg(`(^|[\x01-\x7f])`+part+`|`+part+`[\x01-\x7f]`) +
			" OR " + text + " ~ '" + lonePairs + "')"
	}
	pattern := "%" + likeEscape.Replace(part) + "%"
	if atEnd {
		pattern = "%" + likeEscape.Replace(part) + textEnd
	}
	return indexed + " LIKE " + w.arg(pattern)
}
