package db

import (
	"encoding/json"
	"strconv"
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

type sqliteSearch struct{}

// matches writes the SELECT of the ids that a search finds.
func (d sqliteSearch) matches(w *statement, q *search) string {
	levels := q.levels()
	return d.at(w, q, levels[len(levels)-1])
}

// at writes the SELECT of the ids that match at a level.
func (d sqliteSearch) at(w *statement, q *search, l level) string {
	return `SELECT rowid AS id FROM ` + q.table + `_search WHERE ` + q.table + `_search MATCH ` + w.arg(d.query(q, l))
}

// ranked writes the SELECT of the ids that a search finds, with their ranks. The
// rows that match at the last level alone may be many, and are told apart first.
func (d sqliteSearch) ranked(w *statement, q *search) string {
	begins := func(column, then string) string {
		key, first := dialect.SQLite.SortKey(column+"_fold"), q.beginning(then)
		text := `m.id IN (SELECT id FROM ` + q.table + ` WHERE ` + key + ` >= ` + w.arg(first)
		if next := following(first); next != "" {
			text += ` AND ` + key + ` < ` + w.arg(next)
		}
		return text + `)`
	}
	levels, columns := q.levels(), searched[q.table]
	last := len(levels) - 1
	rank := `CASE WHEN m.id NOT IN (` + d.at(w, q, levels[last-1]) + `) THEN ` + strconv.Itoa(firstLevel+last) +
		` WHEN m.id IN (SELECT id FROM ` + q.table + ` WHERE ` + dialect.SQLite.SortKey("name_fold") + ` = ` + w.arg(q.beginning("")) + `) THEN 1 WHEN ` +
		begins("name", ":") + ` OR ` + begins("name", " (") + ` THEN 2`
	for _, column := range columns[:len(columns)-1] {
		rank += ` WHEN ` + begins(column, "") + ` THEN 3`
	}
	for i, level := range levels[:last-1] {
		rank += ` WHEN m.id IN (` + d.at(w, q, level) + `) THEN ` + strconv.Itoa(firstLevel+i)
	}
	return `SELECT m.id, ` + rank + ` ELSE ` + strconv.Itoa(firstLevel+last-1) + ` END AS rank FROM (` + d.at(w, q, levels[last]) + `) m`
}

func (sqliteSearch) best(*statement, *search, *model.Page, []bool) string { return "" }

func (sqliteSearch) upTo(rows string, most int) string {
	return `SELECT count(*) FROM (` + rows + ` LIMIT ` + strconv.Itoa(most) + `)`
}

// query writes an FTS5 query (https://www.sqlite.org/fts5.html, part 3).
func (sqliteSearch) query(q *search, l level) string {
	terms := make([]string, len(q.terms))
	for i, t := range q.terms {
		alternatives := []string{`"` + t.word + `"`}
		if l.begin {
			alternatives[0] += "*"
		}
		for _, words := range t.others {
			alternatives = append(alternatives, `("`+strings.Join(words, `" AND "`)+`")`)
		}
		terms[i] = "(" + strings.Join(alternatives, " OR ") + ")"
	}
	return "{" + strings.Join(searched[q.table][:l.columns], " ") + "} : (" + strings.Join(terms, " AND ") + ")"
}

// vocabulary writes the SELECT of the words of a length. There is no index by
// patterns: all are looked at.
func (sqliteSearch) vocabulary(_ *statement, table string, shortest, longest int, _ []string) string {
	return `SELECT term FROM ` + table + `_vocabulary WHERE length(term) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) +
		` AND term NOT GLOB '*[0-9]*'`
}

// living writes the SELECT of those of the words that a table has.
func (sqliteSearch) living(w *statement, table string, words []string) string {
	list, _ := json.Marshal(words) // words always have a JSON text
	return `SELECT value FROM json_each(` + w.arg(string(list)) + `) WHERE EXISTS (SELECT 1 FROM ` + table + `_vocabulary WHERE term = value)`
}
