package db

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

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
	// accents finds the texts with a letter that folding takes an accent from, and
	// capitals those with a capital within a word. Most are without, so that an exact
	// part with one of them need not be looked for wherever its folded form is.
	// Descriptions have too many capitals.
	accents  = `[À-ÖØ-öø-ɏḀ-ỿ]`
	capitals = `[a-zA-Z][A-Z]`
)

// odd has, by column, what finds texts with odd letters.
var odd = map[string]*regexp.Regexp{
	"name": regexp.MustCompile(capitals + "|" + accents), "author": regexp.MustCompile(capitals + "|" + accents), "description": regexp.MustCompile(accents),
}

// partIndexes need the extension pg_trgm. A megabyte of rows waits for its places
// in those of trigrams: fewer make writes slower, and more make searches so, each
// of which looks at all that wait. One of the others is for all columns, which costs
// a write least.
var partIndexes = []string{
	partIndex("name", "name_fold"), partIndex("author", "author_short"), partIndex("description", "description_fold"),
	`CREATE INDEX IF NOT EXISTS books_lone_pairs ON books (id) WHERE ` + anyText(lonePairs),
	`CREATE INDEX IF NOT EXISTS books_rare_signs ON books (id) WHERE ` + anyText(rareSigns),
	`CREATE INDEX IF NOT EXISTS books_odd_letters ON books (id) WHERE ` + hasOdd("name", "name") + " OR " + hasOdd("author", "author") + " OR " + hasOdd("description", "description"),
}

func partIndex(field, text string) string {
	return `CREATE INDEX IF NOT EXISTS books_` + field + `_trigrams ON books USING gin ((` + text + ` || '` + textEnd + `') gin_trgm_ops)` + waiting
}

// partTexts is how many texts of each index of trigrams PostgreSQL keeps, by which it
// foresees how many have a part. Of 100, one that has it by chance would make a part
// of a few texts one of a hundredth of all, and each page would be gone through in its
// order until enough of them come.
const partTexts = "300"

var partStatistics = []string{keepTexts("name"), keepTexts("author"), keepTexts("description")}

func keepTexts(field string) string {
	return `ALTER INDEX books_` + field + `_trigrams ALTER COLUMN 1 SET STATISTICS ` + partTexts
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

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

var (
	pair  = regexp.MustCompile(`^[a-z0-9]{2}$`)
	signs = regexp.MustCompile(`^[\x01-/:-@[-` + "`" + `{-\x7f]+$`)
	rare  = regexp.MustCompile(rareSigns)
	// threes finds the parts that have a trigram, whatever is around them. A word has
	// two spaces before it and one after it.
	threes = regexp.MustCompile(`[\pL\pN]{3}|[^\pL\pN][\pL\pN]|[\pL\pN]{2}[^\pL\pN]`)
	// lone finds the parts that begin with one letter or digit, the last of a word. No
	// trigram has it, so the index is asked for the rest alone: PostgreSQL would take it
	// to find as few texts as have the part, though it may find all.
	lone = regexp.MustCompile(`^[\pL\pN][^\pL\pN]`)
)

// isIndexed tells whether an index finds the texts that have a part in them, or at
// their end.
func isIndexed(op model.Op, part string) bool {
	return op == model.EndsWithFolded || pair.MatchString(part) || threes.MatchString(part) || signs.MatchString(part) && rare.MatchString(part)
}

// partOfBook writes that a folded text of a book has a part in it, or at its end.
// What has no trigram is not looked for by LIKE in the index, which would give all
// rows for it, though PostgreSQL foresees few.
func partOfBook(w *statement, op model.Op, text, part string) string {
	indexed := "(" + text + " || '" + textEnd + "')"
	atEnd := op == model.EndsWithFolded
	like := func(text, part string) string {
		pattern := "%" + likeEscape.Replace(part)
		switch {
		case !atEnd:
			pattern += "%"
		case text == indexed:
			pattern += textEnd
		}
		return text + " LIKE " + w.arg(pattern)
	}
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
	case !isIndexed(op, part):
		return like(text, part)
	case lone.MatchString(part):
		_, first := utf8.DecodeRuneInString(part)
		return like(text, part) + " AND " + like(indexed, part[first:])
	}
	return like(indexed, part)
}

// partOfAuthor looks at authors where indexes have them, and at those that are too
// long for these one by one: there are few. What no index finds is looked for in
// one that has the authors, which is smaller than the table.
func partOfAuthor(w *statement, op model.Op, alias, part string) string {
	short := alias + ".author_short"
	text := "(" + short + " IS NOT NULL AND " + partOfBook(w, op, short, part) + " OR " +
		short + " IS NULL AND " + partOfBook(w, op, "long_author("+alias+".id)", part) + ")"
	if w.negated || isIndexed(op, part) {
		return text
	}
	return alias + ".id IN (SELECT " + alias + ".id FROM books " + alias + " WHERE " + text + ")"
}

// hasOdd is a condition that finds the texts of a column with odd letters.
func hasOdd(column, text string) string { return text + " ~ '" + odd[column].String() + "'" }
