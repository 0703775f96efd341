package db

import (
	"math"
	"slices"
	"strconv"

	"library-catalogue/graph/model"
)

// In order of the genre's or the category's name, a page of the books that match is
// either looked for book by book from its place on, or all that match are found first
// and then put in order. PostgreSQL chooses by how many it foresees, and takes them to
// be spread evenly over the genres: where all are in the last one, it looks at nearly
// every book on its way there. So it is told to find a few first. If there are no
// more, these are put in order. Else the page is looked for among the books near its
// place, and where these do not fill it, all that match are found.
var (
	few  = 2500
	near = 10_000
)

// byFew tells whether a page is to be found so. What is asked of genres themselves
// is decided for all books of a genre at once.
func byFew(w *statement, p *model.Page, seq sequence) bool {
	return w.table == "books" && w.dialect.Postgres && w.search == nil && len(p.Order.Keys) == 1 && seq.joins() != "" &&
		p.Limit != unlimited && p.Offset == 0 && p.Where != nil && !ofGenres(p.Where)
}

func ofGenres(c *model.Condition) bool {
	return c.Op == model.Related || c.Field == "genreId" || slices.ContainsFunc(c.Of, ofGenres)
}

// fewSQL writes the SELECT of a page whose books are found so.
func (l list[T]) fewSQL(w *statement, p *model.Page, seq sequence) string {
	books, matches := l.table.name, w.condition(p.Where, l.table.name, "r")
	beyond, entered := "1 = 1", "1 = 1"
	for _, b := range boundsOf(p) {
		beyond += " AND " + seq.beyond(w, b.position, b.before, b.inclusive)
		entered += " AND " + seq.entered(w, b.position, b.before, b.inclusive)
	}
	inOrder := func(alias string) string { return ` ORDER BY ` + seq.by(p.Backward, alias) }
	limit := func(n int) string { return ` LIMIT ` + strconv.Itoa(n) }
	isFew := `(SELECT size FROM these) < ` + strconv.Itoa(few)
	// PostgreSQL takes each value of a list to be that of some rows, and would look at
	// all books rather than for each value.
	first, c := limit(few), p.Where
	for c.Op == model.And && len(c.Of) == 1 {
		c = c.Of[0]
	}
	if col := catalogue[books].fields[c.Field]; c.Op == model.In && !col.text {
		first = ` ORDER BY r.` + col.name + first
	}
	// OFFSET 0 keeps the planner from finding all that match for the near ones.
	return `WITH few AS MATERIALIZED (SELECT r.id, r.genre_id FROM ` + books + ` r WHERE ` + matches + first + `), these AS MATERIALIZED (SELECT count(*) AS size FROM few),` +
		` near AS MATERIALIZED (SELECT k.* FROM (SELECT r.id` + seq.selected() + ` FROM ` + books + ` r` + seq.joins() +
		` WHERE NOT ` + isFew + ` AND ` + entered + inOrder("") + limit(near) + `) k` +
		` CROSS JOIN LATERAL (SELECT r.* FROM ` + books + ` r WHERE r.id = k.id OFFSET 0) r WHERE ` + matches + inOrder("k") + limit(p.Limit) + `),` +
		` found AS MATERIALIZED (SELECT * FROM few WHERE ` + isFew +
		` UNION ALL SELECT r.id, r.genre_id FROM ` + books + ` r WHERE NOT ` + isFew + ` AND (SELECT count(*) FROM near) < ` + strconv.Itoa(p.Limit) + ` AND ` + matches + `),` +
		` sorted AS MATERIALIZED (SELECT r.id` + seq.selected() + ` FROM found r` + seq.joins() + ` WHERE ` + beyond + `)` +
		// Where all were found, the near ones are among them.
		` SELECT ` + l.table.selected(w.dialect, "r") + seq.named("k") +
		` FROM (SELECT * FROM near UNION (SELECT * FROM sorted k` + inOrder("k") + limit(p.Limit) + `)) k JOIN ` + books + ` r ON r.id = k.id` + inOrder("k")
}

// entered is beyond for a key of another table and the id, in a form by which the
// index of the rows of each there is entered at the id.
func (s sequence) entered(w *statement, p *model.Position, before, inclusive bool) string {
	end := int64(math.MinInt64)
	operators := []string{" >= ", " > "}
	if s.descending[0] != before {
		operators[0] = " <= "
	}
	if s.descending[1] != before {
		operators[1], end = " < ", math.MaxInt64
	}
	if inclusive {
		operators[1] = operators[1][:2] + "= "
	}
	key := w.arg(p.Keys[0])
	return s.expressions[0] + operators[0] + key + " AND " + s.expressions[1] + operators[1] +
		"CASE WHEN " + s.expressions[0] + " = " + key + " THEN " + w.arg(p.ID) + "::bigint ELSE " + w.arg(end) + "::bigint END"
}
