package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// tableOf implements table for rows of type T.
type tableOf[T any] struct {
	plural string
	fields []model.RowField[T]
	id     func(*T) model.ID
	rows   func(*db.Snapshot) db.Reader[T]
	table  func(*db.Store) db.Writer[T]
}

func (t tableOf[T]) name() string { return t.plural }

func (t tableOf[T]) keys() []string {
	keys := make([]string, len(t.fields))
	for i, f := range t.fields {
		keys[i] = f.Key
	}
	return keys
}

// with returns the fields with these keys.
func (t tableOf[T]) with(keys []string) ([]model.RowField[T], error) {
	fields := make([]model.RowField[T], len(keys))
	for i, key := range keys {
		k := slices.IndexFunc(t.fields, func(f model.RowField[T]) bool { return f.Key == key })
		if k < 0 || slices.Contains(keys[:i], key) {
			return nil,
				fmt.Errorf("the archive has the unknown or repeated field %q of %s: use a newer program", key, t.plural)
		}
		fields[i] = t.fields[k]
	}
	if !slices.Contains(keys, "id") {
		return nil, fmt.Errorf("the %s of the archive lack the field id", t.plural)
	}
	return fields, nil
}

func (t tableOf[T]) each(ctx context.Context, snapshot *db.Snapshot, keys []string, fn func(line []byte) error) error {
	fields, err := t.with(keys)
	if err != nil {
		return err
	}
	var line []byte
	return t.rows(snapshot).Stream(ctx, &model.Page{}, batchRows, func(_ context.Context, rows []*T) error {
		for _, row := range rows {
			if line, err = t.line(line[:0], fields, row); err != nil {
				return err
			}
			if err := fn(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// line appends the line of a row to dst. It returns an error for a row that the format cannot represent.
func (t tableOf[T]) line(dst []byte, fields []model.RowField[T], row *T) ([]byte, error) {
	if err := writable(fields, row); err != nil {
		return nil, fmt.Errorf("row %v of %s cannot be written: %w", t.id(row), t.plural, err)
	}
	dst = appendLine(dst, fields, row)
	if !utf8.Valid(dst) {
		return nil,
			fmt.Errorf("row %v of %s cannot be written: its text is not UTF-8. Correct it first", t.id(row), t.plural)
	}
	return dst, nil
}

// writable returns an error for a row with a time that the format cannot represent. Only another program can
// have stored it.
func writable[T any](fields []model.RowField[T], row *T) error {
	for _, f := range fields {
		if at, ok := f.Pointer(row).(*model.Timestamp); ok && !at.IsValid() {
			return fmt.Errorf("its %s is not in the years 1 to 9999. Correct it first", f.Key)
		}
	}
	return nil
}

// appendLine appends a row as a line of JSON, with the values of /api.
func appendLine[T any](dst []byte, fields []model.RowField[T], row *T) []byte {
	for i, f := range fields {
		dst = append(dst, `,"`...)
		if i == 0 {
			dst[len(dst)-2] = '{'
		}
		dst = append(append(dst, f.Key...), `":`...)
		dst = f.AppendREST(dst, row)
	}
	return append(dst, "}\n"...)
}

func (t tableOf[T]) restorer(store *db.Store, keys []string) (restorer, error) {
	fields, err := t.with(keys)
	return &restorerOf[T]{table: t, store: store, fields: fields}, err
}

type restorerOf[T any] struct {
	table  tableOf[T]
	store  *db.Store // nil stores nothing
	fields []model.RowField[T]
	rows   []*T
	last   model.ID
	again  []byte
}

func (r *restorerOf[T]) add(ctx context.Context, line []byte) error {
	form, err := model.ParseForm(line)
	if err != nil {
		return err
	}
	row := new(T)
	for _, f := range r.fields {
		if problem := f.Read(row, form[f.Key]); problem != "" {
			return errors.New(strings.ReplaceAll(problem, "%s", f.Key))
		}
	}
	if r.again = appendLine(r.again[:0], r.fields, row); !bytes.Equal(r.again, line) {
		return errors.New("the row is not in the form of archive create")
	}
	id := r.table.id(row)
	if id <= r.last {
		return fmt.Errorf("the id %v does not come after %v", id, r.last)
	}
	r.last = id
	if r.rows = append(r.rows, row); len(r.rows) == batchRows {
		return r.flush(ctx)
	}
	return nil
}

func (r *restorerOf[T]) flush(ctx context.Context) error {
	if r.store == nil || len(r.rows) == 0 {
		r.rows = r.rows[:0]
		return nil
	}
	err := r.table.table(r.store).Restore(ctx, r.fields, r.rows)
	if err != nil {
		err = fmt.Errorf("%s %v to %v: %w", r.table.plural, r.table.id(r.rows[0]), r.last, err)
	}
	clear(r.rows)
	r.rows = r.rows[:0]
	return err
}
