package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/value"
)

// Values of Options.Duplicates: the row to import of several that are the same book, by name and author, with
// different values.
const (
	DuplicatesAsk    = "ask" // refuse the file; the same as ""
	DuplicatesLast   = "last"
	DuplicatesFirst  = "first"
	DuplicatesKeep   = "keep"   // all, as different books
	DuplicatesReject = "reject" // none
)

// keyRow holds the hashes of a row: of the key of its book (model.BookKey), and of all values. It has 16 bytes, so a million
// rows take 16 MB.
type keyRow struct {
	key         uint64
	values, row uint32
}

// keys are the keyRows of a file. They are partitioned, so that parts grow and are sorted separately.
type keys struct {
	seed   maphash.Seed
	values maphash.Hash
	book   [4]string // keyFields of the row that add will add
	parts  [256][]keyRow
}

func newKeys(seed maphash.Seed) *keys {
	k := &keys{seed: seed}
	k.values.SetSeed(seed)
	return k
}

// value hashes a value of the row that add will add.
func (k *keys) value(field, text string) {
	if i := slices.Index(keyFields, field); i >= 0 {
		k.book[i] = text
	}
	if field == "isbn" {
		if digits, ok := value.ParseISBN(text); ok {
			k.book[2] = digits
		}
	}
	_, _ = k.values.WriteString(text)
	_ = k.values.WriteByte(0)
}

// keyFields are the fields that identify a book in a file. Books with another ISBN are other editions, and those with
// another shelf mark are copies.
var keyFields = []string{"name", "author", "isbn", "shelf_mark"}

func (k *keys) key() uint64 {
	key := model.NewBookKey(k.book[0], k.book[1])
	key.ISBN, key.ShelfMark = k.book[2], k.book[3]
	return maphash.Comparable(k.seed, key)
}

// add adds a row, unless it has no key.
func (k *keys) add(row int) {
	if k.book[0] != "" && k.book[1] != "" {
		key := k.key()
		k.parts[key>>56] = append(k.parts[key>>56], keyRow{key, uint32(k.values.Sum64()), uint32(row)})
	}
	k.reset()
}

func (k *keys) reset() {
	k.book = [4]string{}
	k.values.Reset()
}

// groups calls fn for each key of several rows, with the rows in order.
func (k *keys) groups(fn func(rows []keyRow)) {
	for _, part := range k.parts {
		slices.SortFunc(part, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
		for len(part) > 0 {
			n := 1
			for n < len(part) && part[n].key == part[0].key {
				n++
			}
			if n > 1 {
				fn(part[:n])
			}
			part = part[n:]
		}
	}
}

func differ(rows []keyRow) bool {
	return slices.ContainsFunc(rows, func(r keyRow) bool { return r.values != rows[0].values })
}

// duplicate is a row that is not imported because of another.
type duplicate struct{ row, other uint32 }

// findDuplicates finds rows of the same book with different values, and decides which to import, or asks. Different
// cells may have the same meaning, so it reads candidates again with the decided readings.
func (f *File) findDuplicates(ctx context.Context, surveyed *keys) (*Question, error) {
	questionable := map[uint64]bool{}
	surveyed.groups(func(rows []keyRow) {
		if differ(rows) {
			questionable[rows[0].key] = true
		}
	})
	if len(questionable) == 0 {
		return nil, nil
	}
	read := newKeys(surveyed.seed)
	err := f.eachBook(ctx, func(row *Row, book model.ImportBookInput) error {
		for _, field := range keyFields {
			read.value(field, book.Text(field))
		}
		if !questionable[read.key()] {
			read.reset()
			return nil
		}
		for _, field := range model.ImportFields {
			if !slices.Contains(keyFields, field) {
				read.value(field, book.Text(field))
			}
		}
		read.add(row.Number)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var conflicts []duplicate
	read.groups(func(rows []keyRow) {
		if !differ(rows) {
			return
		}
		first, last := rows[0].row, rows[len(rows)-1].row
		other := rows[slices.IndexFunc(rows, func(r keyRow) bool { return r.values != rows[0].values })].row
		conflicts = append(conflicts, duplicate{first, other})
		for _, r := range rows {
			switch {
			case f.options.Duplicates == DuplicatesLast && r.row != last:
				f.dropped = append(f.dropped, duplicate{r.row, last})
			case f.options.Duplicates == DuplicatesFirst && r.row != first:
				f.dropped = append(f.dropped, duplicate{r.row, first})
			case f.options.Duplicates == DuplicatesKeep && r.row != first:
				f.dropped = append(f.dropped, duplicate{r.row, first})
			case f.options.Duplicates == DuplicatesReject && r.row == first:
				f.dropped = append(f.dropped, duplicate{first, other})
			case f.options.Duplicates == DuplicatesReject:
				f.dropped = append(f.dropped, duplicate{r.row, first})
			}
		}
	})
	byRow := func(a, b duplicate) int { return cmp.Compare(a.row, b.row) }
	slices.SortFunc(f.dropped, byRow)
	slices.SortFunc(conflicts, byRow)
	if len(conflicts) > 0 && (f.options.Duplicates == DuplicatesAsk || f.options.Duplicates == "") {
		return f.duplicatesQuestion(ctx, conflicts)
	}
	return nil, nil
}

// eachBook calls fn with each valid row, until it returns io.EOF.
func (f *File) eachBook(ctx context.Context, fn func(*Row, model.ImportBookInput) error) error {
	rows, err := f.Open(ctx)
	for err == nil {
		var row *Row
		if row, err = rows.Next(); err != nil {
			break
		}
		if len(row.Problems) > 0 {
			continue
		}
		book := row.form.ImportBook()
		if len(book.Validate()) == 0 {
			err = fn(row, book)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// shownConflicts is the maximum number of books that a question lists.
const shownConflicts = 3

func (f *File) duplicatesQuestion(ctx context.Context, conflicts []duplicate) (*Question, error) {
	shown := conflicts[:min(len(conflicts), shownConflicts)]
	books, places := map[uint32]model.ImportBookInput{}, map[uint32]string{}
	last := uint32(0)
	for _, c := range shown {
		books[c.row], books[c.other] = model.ImportBookInput{}, model.ImportBookInput{}
		last = max(last, c.other)
	}
	err := f.eachBook(ctx, func(row *Row, book model.ImportBookInput) error {
		if _, ok := books[uint32(row.Number)]; ok {
			books[uint32(row.Number)], places[uint32(row.Number)] = book, row.Place()
		}
		if uint32(row.Number) == last {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	has := "books have"
	if len(conflicts) == 1 {
		has = "book has"
	}
	q := &Question{Option: "duplicates", Rows: len(conflicts), Text: fmt.Sprintf("%d %s several rows with different values", len(conflicts), has), Answers: []Answer{
		{"", DuplicatesLast, "imports the last of the rows", "Use the last row"},
		{"", DuplicatesFirst, "imports the first", "Use the first row"},
		{"", DuplicatesKeep, "imports all, as different books", "Keep all: they are different books"},
		{"", DuplicatesReject, "imports none", "Skip these books"},
	}}
	for _, c := range shown {
		one, other := books[c.row], books[c.other]
		q.Examples = append(q.Examples, fmt.Sprintf("%s and %s: %s, %s: %s", places[c.row], places[c.other], Printable(one.Name), Printable(one.Author), difference(one, other)))
	}
	if more := len(conflicts) - len(shown); more > 0 {
		q.Examples = append(q.Examples, fmt.Sprintf("and %d more", more))
	}
	return q, nil
}

// difference lists the values in which two rows differ.
func difference(a, b model.ImportBookInput) string {
	var all []string
	for _, field := range model.ImportFields {
		if one, other := a.Text(field), b.Text(field); one != other {
			all = append(all, fmt.Sprintf("%s %s or %s", field, Printable(one), Printable(other)))
		}
	}
	return strings.Join(all, "; ")
}
