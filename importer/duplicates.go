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

// Values of Options.Duplicates: the row to import of several that are the same book with different values.
const (
	DuplicatesAsk    = "ask" // refuse the file; the same as ""
	DuplicatesLast   = "last"
	DuplicatesFirst  = "first"
	DuplicatesKeep   = "keep"   // all, as different books
	DuplicatesReject = "reject" // none
)

// nameRow holds the hashes of a row before its values are read: its name, its ISBN and all values. It has 12 bytes, so
// a million rows take 12 MB.
type nameRow struct{ name, isbn, values uint32 }

// names are the nameRows of a file, partitioned by name, so that parts grow and are sorted separately.
type names struct {
	seed   maphash.Seed
	values maphash.Hash
	next   nameRow // the row that add will add
	parts  [256][]nameRow
}

func newNames() *names {
	n := &names{seed: maphash.MakeSeed()}
	n.values.SetSeed(n.seed)
	return n
}

// nameOf returns the hash of the letters and digits of a name, because its signs may change when it is read.
func (n *names) nameOf(name string) uint32 {
	return uint32(maphash.String(n.seed, cmp.Or(foldName(name), name)))
}

// value hashes a value of the row that add will add.
func (n *names) value(field, text string) {
	switch {
	case text == "":
	case field == "name":
		n.next.name = n.nameOf(text)
	case field == "isbn":
		if digits, ok := value.ParseISBN(text); ok {
			n.next.isbn, text = uint32(maphash.String(n.seed, digits)), digits
		}
	}
	_, _ = n.values.WriteString(text)
	_ = n.values.WriteByte(0)
}

// add adds a row, unless it has no name.
func (n *names) add() {
	if n.next.name != 0 {
		n.next.values = uint32(n.values.Sum64())
		n.parts[n.next.name>>24] = append(n.parts[n.next.name>>24], n.next)
	}
	n.next = nameRow{}
	n.values.Reset()
}

// repeated returns the hashes of the names of several rows that differ in a value, and not in the ISBN.
func (n *names) repeated() map[uint32]bool {
	repeated := map[uint32]bool{}
	for _, part := range n.parts {
		slices.SortFunc(part, func(a, b nameRow) int {
			return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.isbn, b.isbn))
		})
		for i := 1; i < len(part); i++ {
			// A row without an ISBN comes first, and may be each of those after it.
			if a, b := part[i-1], part[i]; a.name == b.name && a.values != b.values &&
				(a.isbn == b.isbn || a.isbn == 0) {
				repeated[a.name] = true
			}
		}
	}
	return repeated
}

// bookRow holds the hashes of a row that may be the same book as another.
type bookRow struct {
	key         model.Key[uint64]
	values, row uint32
}

// duplicate is a row that is not imported because of another.
type duplicate struct{ row, other uint32 }

// findDuplicates finds rows of the same book with different values, by the rule of the store, and decides which to
// import, or asks. Different cells may have the same meaning, so it reads rows with a repeated name again with the
// decided readings.
func (f *File) findDuplicates(ctx context.Context, surveyed *names) (*Question, error) {
	repeated := surveyed.repeated()
	if len(repeated) == 0 {
		return nil, nil
	}
	seed := maphash.MakeSeed()
	hash := func(text string) uint64 {
		if text == "" {
			return 0
		}
		return maphash.String(seed, text)
	}
	named := map[uint64][]bookRow{}
	err := f.eachBook(ctx, func(row *Row, book model.ImportBookInput) error {
		if !repeated[surveyed.nameOf(book.Name)] {
			return nil
		}
		for _, field := range model.ImportFields {
			surveyed.value(field, book.Text(field))
		}
		key := book.Row().Key()
		hashed := model.Key[uint64]{Name: hash(key.Name), Author: hash(key.Author), ISBN: hash(key.ISBN),
			ShelfMark: hash(key.ShelfMark), Whole: hash(key.Whole)}
		named[hashed.Name] = append(named[hashed.Name],
			bookRow{hashed, uint32(surveyed.values.Sum64()), uint32(row.Number)})
		surveyed.values.Reset()
		return nil
	})
	if err != nil {
		return nil, err
	}
	var conflicts []duplicate
	isAsked := f.options.Duplicates == DuplicatesAsk || f.options.Duplicates == ""
	for _, rows := range named {
		for _, book := range sameBooks(rows) {
			other := slices.IndexFunc(book.rows, func(r bookRow) bool { return r.values != book.rows[0].values })
			switch {
			case other > 0 && isAsked:
				conflicts = append(conflicts, duplicate{book.rows[0].row, book.rows[other].row})
			case other > 0:
				f.dropRows(book.rows, book.rows[other].row)
			}
		}
	}
	byRow := func(a, b duplicate) int { return cmp.Compare(a.row, b.row) }
	slices.SortFunc(f.dropped, byRow)
	slices.SortFunc(conflicts, byRow)
	if len(conflicts) > 0 {
		return f.duplicatesQuestion(ctx, conflicts)
	}
	return nil, nil
}

// dropRows drops rows of one book as the options say. other is one that differs from the first.
func (f *File) dropRows(rows []bookRow, other uint32) {
	first, last := rows[0].row, rows[len(rows)-1].row
	for _, r := range rows {
		switch rule := f.options.Duplicates; {
		case rule == DuplicatesLast && r.row != last:
			f.dropped = append(f.dropped, duplicate{r.row, last})
		case rule == DuplicatesReject && r.row == first:
			f.dropped = append(f.dropped, duplicate{first, other})
		case rule != DuplicatesLast && r.row != first:
			f.dropped = append(f.dropped, duplicate{r.row, first})
		}
	}
}

// sameBook is the rows of one book, and its key after them.
type sameBook struct {
	key  model.Key[uint64]
	rows []bookRow
}

// maxSameName is the maximum number of books of one name that are compared with a row.
const maxSameName = 1000

// sameBooks returns the books of rows with one name. In their order each means an earlier book, or else is another. A
// row that may mean several is left to the store, which rejects it.
func sameBooks(rows []bookRow) (books []*sameBook) {
	for _, r := range rows {
		switch met := model.Meant(r.key, books[:min(len(books), maxSameName)], func(b *sameBook) model.Key[uint64] {
			return b.key
		}); len(met) {
		case 0:
			books = append(books, &sameBook{r.key, []bookRow{r}})
		case 1:
			met[0].key.Author = r.key.Author
			met[0].key.ISBN, met[0].key.ShelfMark = cmp.Or(r.key.ISBN, met[0].key.ISBN),
				cmp.Or(r.key.ShelfMark, met[0].key.ShelfMark)
			met[0].key.Whole = cmp.Or(r.key.Whole, met[0].key.Whole)
			met[0].rows = append(met[0].rows, r)
		}
	}
	return books
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
	rows, last := map[uint32]*Row{}, uint32(0)
	for _, c := range shown {
		rows[c.row], rows[c.other] = nil, nil
		last = max(last, c.other)
	}
	err := f.eachBook(ctx, func(row *Row, _ model.ImportBookInput) error {
		if hasKey(rows, uint32(row.Number)) {
			rows[uint32(row.Number)] = row
		}
		if uint32(row.Number) == last {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text := model.Messagef("%d books have several rows with different values", len(conflicts))
	if len(conflicts) == 1 {
		text = model.Messagef("1 book has several rows with different values")
	}
	q := &Question{Option: "duplicates", Rows: len(conflicts),
		Text: text, Answers: []Answer{
			{"duplicates", DuplicatesKeep, "imports all, as different books",
				model.Messagef("Keep all: they are different books")},
			{"duplicates", DuplicatesLast, "imports the last of the rows", model.Messagef("Use the last row")},
			{"duplicates", DuplicatesFirst, "imports the first", model.Messagef("Use the first row")},
			{"duplicates", DuplicatesReject, "imports none", model.Messagef("Skip these books")},
		}}
	for _, c := range shown {
		one, other := rows[c.row].form.ImportBook(), rows[c.other].form.ImportBook()
		q.Examples = append(q.Examples, model.Messagef("%s and %s: %s, %s: %s", rows[c.row].Place(),
			rows[c.other].Place(), Printable(one.Name), Printable(one.Author), difference(one, other)))
	}
	if more := len(conflicts) - len(shown); more > 0 {
		q.Examples = append(q.Examples, model.Messagef("and %d more", more))
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
