package db

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"library-catalogue/graph/model"
)

// resolve returns the changes that match, with their rows.
func (s *Store) resolve(ctx context.Context, t *tx, found []foundChange) ([]loggedChange, error) {
	var logged []loggedChange
	last := map[model.CatalogueType]map[model.ID]*model.Change{} // whose row is the current one
	for _, c := range found {
		if !c.Matches {
			continue
		}
		at, typ := s.position(c), typesByCode[c.Type]
		change := &model.Change{
			Position: at.String(), Type: typ, RowID: c.RowID,
			Operation: operationsByCode[c.Operation], Version: c.Version, At: c.At, Actor: c.Actor,
		}
		logged = append(logged, loggedChange{at, c.Seq, change})
		var err error
		switch {
		case c.Operation == "d", c.Operation == "r":
		case !c.Superseded:
			if last[typ] == nil {
				last[typ] = map[model.ID]*model.Change{}
			}
			last[typ][c.RowID] = change
		case c.After == nil: // purged, or a new row has the same id after a reset
		case typ == model.TypeBook:
			change.Book, err = decodeImage(bookMapping, *c.After)
		case typ == model.TypeGenre:
			change.Genre, err = decodeImage(genreMapping, *c.After)
		default:
			change.Category, err = decodeImage(categoryMapping, *c.After)
		}
		if err != nil {
			return nil, err
		}
		setIdentity(change)
	}
	snapshot := s.newSnapshot(t)
	err := readLast(ctx, reader[model.Book]{snapshot, &books}, last[model.TypeBook], func(c *model.Change, b *model.Book) { c.Book = b })
	if err == nil {
		err = readLast(ctx, reader[model.Genre]{snapshot, &genres}, last[model.TypeGenre], func(c *model.Change, g *model.Genre) { c.Genre = g })
	}
	if err == nil {
		err = readLast(ctx, reader[model.Category]{snapshot, &categories}, last[model.TypeCategory], func(c *model.Change, k *model.Category) { c.Category = k })
	}
	if err != nil {
		return nil, err
	}
	return logged, nil
}

// readLast sets the rows of changes by their ids to the current rows.
func readLast[T any](ctx context.Context, r reader[T], changes map[model.ID]*model.Change, set func(*model.Change, *T)) error {
	if len(changes) == 0 {
		return nil
	}
	rows, err := r.ByID(ctx, slices.Collect(maps.Keys(changes)))
	if err != nil {
		return err
	}
	for _, row := range rows {
		set(changes[r.id(row)], row)
	}
	return nil
}

// setIdentity sets the columns that a logged row omits.
func setIdentity(c *model.Change) {
	switch {
	case c.Book != nil:
		c.Book.ID, c.Book.Version = c.RowID, c.Version
	case c.Genre != nil:
		c.Genre.ID, c.Genre.Version = c.RowID, c.Version
	case c.Category != nil:
		c.Category.ID, c.Category.Version = c.RowID, c.Version
	}
}

// decodeImage returns the row of a JSON object of columns. Columns that it lacks are newer than the
// object and stay zero.
func decodeImage[T any](t mapping[T], object string) (*T, error) {
	var columns map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &columns); err != nil {
		return nil, fmt.Errorf("a logged row of %s: %w", t.Name, err)
	}
	row := new(T)
	for _, f := range t.fields {
		value, logged := columns[f.Column]
		if !logged {
			continue
		}
		if err := decodeColumn(f.Pointer(row), value); err != nil {
			return nil, fmt.Errorf("a logged row of %s: column %s: %w", t.Name, f.Column, err)
		}
	}
	return row, nil
}

// decodeColumn sets the value behind a pointer of a RowField.
func decodeColumn(p any, value json.RawMessage) error {
	var text string
	switch p := p.(type) {
	case *model.ID:
		return json.Unmarshal(value, (*int64)(p))
	case *model.Cents:
		return json.Unmarshal(value, (*int64)(p))
	case *model.Date:
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		return p.Scan(text)
	case *model.Timestamp:
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		*p = model.Timestamp(at.UnixMicro())
		return err
	}
	return json.Unmarshal(value, p)
}
