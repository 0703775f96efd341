package db

import (
	"cmp"
	"context"
	"database/sql"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/facetcount"
	"library-catalogue/db/schema"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// importLock is the key of PostgreSQL's advisory lock for imports.
const importLock = 7_305_140_115

// LockImports blocks other imports, of any process, until the transaction ends. Without it, two
// imports of the same book would both find that it is missing.
func (s *Store) LockImports(ctx context.Context) error {
	if !s.dialect.HasAdvisoryLocks {
		return nil // SQLite has one writer
	}
	_, err := s.exec(ctx, `SELECT pg_advisory_xact_lock($1)`, importLock)
	return err
}

// AnalyzeGrown updates PostgreSQL's statistics after an import of many books, relative to the
// table. Autovacuum would do so a minute later, and until then plans read small tables in full.
func (s *Store) AnalyzeGrown(ctx context.Context, added int) error {
	if !s.dialect.EstimatesRows {
		return nil // its plans do not depend on row counts
	}
	var known float64
	err := s.getRow(ctx, &known, `SELECT reltuples FROM pg_class WHERE oid = 'books'::regclass`)
	if err != nil || float64(added) < 50+known/10 { // autovacuum's default threshold
		return err
	}
	_, err = s.exec(ctx,
		`ANALYZE books, books_search, genres, genres_search, categories, categories_search, vocabulary`)
	return err
}

// BooksKeyed returns the books that have the name of a key and its author or its ISBN, in order of id. It locks them
// until the transaction ends. named has the names of keys (BookKey.Name) that stored books have, by any author.
func (s *Store) BooksKeyed(
	ctx context.Context, keys []model.BookKey,
) (books []*model.Book, named map[string]bool, err error) {
	wanted := make(map[[2]string]bool, 2*len(keys)) // name and author, name and ISBN
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(append(names, key.Names()...), model.WithoutSubtitle(key)...)
		for _, name := range key.Names() {
			wanted[[2]string{name, key.Author}] = true
			if key.ISBN != "" {
				wanted[[2]string{name, key.ISBN}] = true
			}
		}
	}
	named = map[string]bool{}
	var ids []model.ID
	for part := range s.namesOf(names) {
		var found []struct {
			ID             model.ID
			Name, Author   string
			ISBN, Subtitle *string
		}
		if err := s.getRows(ctx, &found, s.alikeSQL("books", "r.id, r.name, r.author, r.isbn, r.subtitle", len(part)),
			part...); err != nil {
			return nil, nil, err
		}
		for _, book := range found {
			key := (&model.Book{Name: book.Name, Author: book.Author, ISBN: book.ISBN, Subtitle: book.Subtitle}).Key()
			isWanted := func(name string) bool {
				return wanted[[2]string{name, key.Author}] || key.ISBN != "" && wanted[[2]string{name, key.ISBN}]
			}
			named[key.Name] = true
			if slices.ContainsFunc(key.Names(), isWanted) {
				ids = append(ids, book.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, named, nil
	}
	books, err = fetch(ctx, s, bookMapping, `SELECT `+bookMapping.selected(s.dialect, "r")+` FROM books r
WHERE `+s.dialect.In("r.id", "$1")+` ORDER BY r.id`+s.dialect.ForUpdate, s.dialect.Array(ids))
	return books, named, err
}

// namesOf yields the sort keys of names as arguments of alikeSQL: one array, or importRows keys at a time.
func (s *Store) namesOf(names []string) iter.Seq[[]any] {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = collate.SortKey(name)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if s.dialect.HasArrays {
		return slices.Values([][]any{{pq.Array(keys)}})
	}
	return slices.Chunk(anys(keys), importRows)
}

// alikeSQL returns the SELECT of the rows r by n sort keys of their names (namesOf), in order of id. Names
// with one identity have one sort key. PostgreSQL looks each key up in the index of names even without statistics, as
// in the first import, because OFFSET keeps it from a join.
func (s *Store) alikeSQL(table, columns string, n int) string {
	keys := `(VALUES ` + tuples(n, 1) + `) AS k`
	if s.dialect.HasArrays {
		keys = `unnest(CAST($1 AS text[])) AS k (column1)` // the name that VALUES gives its column
	}
	rows := table + ` r WHERE ` + s.dialect.SortKey("r.name_fold") + ` = k.column1`
	if s.dialect.HasLateral {
		rows = `LATERAL (SELECT r.* FROM ` + rows + ` OFFSET 0) r`
	}
	return s.numbered(`SELECT ` + columns + ` FROM ` + keys + ` CROSS JOIN ` + rows + ` ORDER BY r.id`)
}

// FindBook returns the book that a new one means (model.MeetAgain), or nil. It locks the book until the transaction
// ends. The error is Conflict if several match.
func (s *Store) FindBook(ctx context.Context, row *model.Book) (*model.Book, error) {
	key := row.Key()
	books, _, err := s.BooksKeyed(ctx, []model.BookKey{key})
	if err != nil {
		return nil, err
	}
	var keyed []model.KeyedBook
	for _, book := range books {
		keyed = append(keyed, model.KeyedBook{Book: book, Of: book.Key()})
	}
	switch met := model.MeetAgain(row, key, keyed); len(met) {
	case 0:
		return nil, nil
	case 1:
		return met[0], nil
	default:
		return nil, model.Errorf(model.Conflict, "%s", model.AmbiguousBook(len(met)))
	}
}

// FindGenre returns the id of the genre with a name in a category: the one that is spelled alike, or else the first
// with the identity of the name, or 0. It locks the genre until the transaction ends.
func (s *Store) FindGenre(ctx context.Context, name string, category model.ID) (model.ID, error) {
	genres, err := s.Genres.Named(ctx, []string{name})
	if err != nil {
		return 0, err
	}
	genres = slices.DeleteFunc(genres, func(g *model.Genre) bool { return g.CategoryID != category })
	return s.held(ctx, "genres", choose(genres, func(g *model.Genre) (model.ID, bool) { return g.ID, g.Name == name }))
}

// FindCategory is like FindGenre, for the name of a category.
func (s *Store) FindCategory(ctx context.Context, name string) (model.ID, error) {
	categories, err := s.Categories.Named(ctx, []string{name})
	if err != nil {
		return 0, err
	}
	return s.held(ctx, "categories", choose(categories, func(c *model.Category) (model.ID, bool) {
		return c.ID, c.Name == name
	}))
}

// choose returns the id of the first row that is spelled alike, or else of the first, or 0.
func choose[T any](rows []*T, of func(*T) (id model.ID, alike bool)) (first model.ID) {
	for _, row := range rows {
		id, alike := of(row)
		if alike {
			return id
		}
		first = cmp.Or(first, id)
	}
	return first
}

// held locks a row until the transaction ends and returns its id, or 0 if it is gone.
func (s *Store) held(ctx context.Context, table string, id model.ID) (model.ID, error) {
	var ids []model.ID
	err := s.getRows(ctx, &ids, `SELECT id FROM `+table+` WHERE id = $1`+s.dialect.ForUpdate, id)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// ReplaceBooks stores new values of books that BooksKeyed returned. The books exist, so the INSERT
// always becomes an UPDATE. Both engines support this form, and PostgreSQL accepts untyped
// parameters in it.
func (s *Store) ReplaceBooks(ctx context.Context, books []*model.Book) error {
	columns := newBooks.columns()
	var set strings.Builder
	for _, column := range columns {
		set.WriteString(column + " = excluded." + column + ", ")
	}
	for part := range slices.Chunk(books, importRows) {
		var args []any
		for _, b := range part {
			args = append(append(args, b.ID), newBooks.values(b)...)
		}
		_, err := s.exec(ctx,
			s.numbered(`INSERT INTO books AS r (id, `+strings.Join(columns, ", ")+`) VALUES `+
				tuples(len(part), len(columns)+1)+`
ON CONFLICT (id) DO UPDATE SET `+set.String()+`version = r.version + 1, updated_at = `+s.dialect.Now), args...)
		if err != nil {
			return retryForeignKey(err)
		}
	}
	return nil
}

// Trouble returns the troubles of a kind on a day.
func (s *Snapshot) Trouble(ctx context.Context, kind model.TroubleKind, today string) (*model.Trouble, error) {
	t := &model.Trouble{Kind: kind}
	if filter := kind.Filter(today); filter != nil {
		page, err := model.PageArgs{Filter: filter, First: new(model.MaxTroubles)}.Page("Book")
		if err != nil {
			return nil, err
		}
		if t.Count, err = s.Books.Count(ctx, page.Selection); err != nil {
			return nil, err
		}
		t.Books, err = s.Books.Page(ctx, page)
		return t, err
	}
	if err := s.readDifferent(ctx, t); err != nil {
		return nil, err
	}
	p := &pairing{different: t.Different}
	var err error
	switch kind {
	case model.SameBook:
		name := s.store.dialect.SortKey("r.name_fold")
		if !s.store.dialect.DerivesTexts {
			name = "r.name_words" // its index covers it, which takes a fourth of the time
		}
		err = s.pairBooks(ctx, p, name, (*model.Book).Key, model.BookKey.Means)
	case model.SameShelfMark:
		err = s.pairBooks(ctx, p, "r.shelf_mark_key", func(b *model.Book) model.BookKey {
			return model.BookKey{Name: collate.Fold(b.Name)}
		}, func(one, other model.BookKey) bool { return one.Name != other.Name })
	default:
		err = s.pairNames(ctx, p, kind)
	}
	if err != nil {
		return nil, err
	}
	t.Count = len(p.found)
	t.Pairs = p.found[:min(t.Count, model.MaxTroubles)]
	t.Different = t.Different[:min(len(t.Different), model.MaxTroubles)]
	var ids []model.ID
	if kind == model.SameBook || kind == model.SameShelfMark {
		for _, pair := range slices.Concat(t.Pairs, t.Different) {
			ids = append(ids, model.ParseID(pair.One), model.ParseID(pair.Other))
		}
	}
	t.Books, err = s.Books.ByID(ctx, ids)
	return t, err
}

// readDifferent reads the pairs that are marked as different, the last mark first.
func (s *Snapshot) readDifferent(ctx context.Context, t *model.Trouble) error {
	text := versioned(`SELECT one, other FROM different_pairs WHERE kind = $1 ORDER BY at DESC, one, other`)
	return s.read(ctx, readStmt{text: text, args: []any{string(t.Kind)}}, func() scanRow {
		t.Different = nil
		return func(rows *sql.Rows, at *model.Revision) error {
			var pair model.TroublePair
			err := rows.Scan(append(revisionTargets(at), &pair.One, &pair.Other)...)
			t.Different = append(t.Different, pair)
			return err
		}
	})
}

// pairing finds pairs that are not marked as different.
type pairing struct{ different, found []model.TroublePair }

// add adds a pair, unless it is marked.
func (p *pairing) add(one, other string) (added bool) {
	pair := model.TroublePair{One: min(one, other), Other: max(one, other)}
	if added = !slices.Contains(p.different, pair); added {
		p.found = append(p.found, pair)
	}
	return added
}

// addGroups pairs each member with the first one before it in its group that may be the same. Members of a group follow
// each other.
func (p *pairing) addGroups(groups, members []string, mayBeSame func(i, j int) bool) {
	first := 0
	for i := range members {
		if groups[i] != groups[first] {
			first = i
		}
		for j := first; j < i && !(mayBeSame(i, j) && p.add(members[i], members[j])); j++ {
		}
	}
}

// initials are the initials of a name in its identity.
var initials = regexp.MustCompile(`\b\pL\. `)

// pairNames pairs the forms of one name, and names that are one edit apart. Names that differ in an initial are of two
// persons.
func (s *Snapshot) pairNames(ctx context.Context, p *pairing, kind model.TroubleKind) error {
	var forms [][2]string // identity and name
	column := facetcount.Person
	switch kind {
	case model.SimilarGenres:
		genres, err := s.readNames(ctx)
		if err != nil {
			return err
		}
		for _, g := range genres {
			forms = append(forms, [2]string{collate.Identity(g.Genre), g.Genre})
		}
		column = ""
	case model.SimilarPublishers:
		column = facetcount.Publisher
	}
	if column != "" {
		if err := s.count(ctx, model.Selection{}, []string{column}, func(c *facetcount.Counts) {
			forms = c.Forms(column)
		}); err != nil {
			return err
		}
	}
	slices.SortFunc(forms, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	forms = slices.Compact(forms) // genres may have one name
	keys, names := make([]string, len(forms)), make([]string, len(forms))
	for i, form := range forms {
		keys[i], names[i] = form[0], form[1]
	}
	p.addGroups(keys, names, func(int, int) bool { return true })
	isFirst := func(i int) bool { return i == 0 || keys[i] != keys[i-1] }
	search.OneEdit(keys, func(i, j int) {
		if isFirst(i) && isFirst(j) &&
			initials.ReplaceAllString(keys[i], "") != initials.ReplaceAllString(keys[j], "") {
			p.add(names[i], names[j])
		}
	})
	return nil
}

// maxCompared is the maximum number of books that are compared with each other.
const maxCompared = 10_000

// pairBooks pairs books with equal values of an indexed expression whose keys may be of the same book.
func (s *Snapshot) pairBooks(ctx context.Context, p *pairing, expression string,
	keyOf func(*model.Book) model.BookKey, mayBeSame func(one, other model.BookKey) bool,
) error {
	repeated := `(SELECT ` + expression + ` FROM books r WHERE ` + expression + ` > '' GROUP BY 1 HAVING count(*) > 1)`
	condition := expression + ` IN ` + repeated
	if s.store.dialect.HasArrays { // with IN, PostgreSQL reads all books twice
		condition = expression + ` = ANY (ARRAY` + repeated + `)`
	}
	text := versioned(`SELECT ` + expression + `, r.id, r.name, r.subtitle, r.author, r.isbn, r.shelf_mark FROM books r
WHERE ` + condition + ` ORDER BY ` + expression + `, r.id LIMIT $1`)
	var groups []string // value of each book
	var ids []string
	var keys []model.BookKey
	err := s.read(ctx, readStmt{text: text, args: []any{maxCompared}}, func() scanRow {
		groups, ids, keys = nil, nil, nil
		return func(rows *sql.Rows, at *model.Revision) error {
			var group string
			var b model.Book
			err := rows.Scan(append(revisionTargets(at), &group, &b.ID, &b.Name, &b.Subtitle, &b.Author, &b.ISBN,
				&b.ShelfMark)...)
			groups, ids, keys = append(groups, group), append(ids, b.ID.String()), append(keys, keyOf(&b))
			return err
		}
	})
	p.addGroups(groups, ids, func(i, j int) bool { return mayBeSame(keys[i], keys[j]) })
	return err
}

// MarkDifferent marks a pair as different, or takes the mark back. It advances the revision, because responses depend
// on marks.
func (s *Store) MarkDifferent(ctx context.Context, in *model.MarkDifferentInput) error {
	text := `INSERT INTO different_pairs (kind, one, other) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	if !in.Different {
		text = `DELETE FROM different_pairs WHERE kind = $1 AND one = $2 AND other = $3`
	}
	return s.Write(ctx, func(ctx context.Context) error {
		changed, err := s.exec(ctx, text, string(in.Kind), min(in.One, in.Other), max(in.One, in.Other))
		if err != nil || changed == 0 {
			return err
		}
		_, err = s.exec(ctx, `UPDATE revision SET n = n + $1 WHERE slot = (SELECT min(slot) FROM revision)`,
			schema.Step())
		return err
	})
}
