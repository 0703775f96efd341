package db

import (
	"context"
	"database/sql"
	"reflect"

	"library-catalogue/db/changes"
	"library-catalogue/db/query"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
)

// newSearch returns the search for a text in a table. Each Snapshot prepares it once.
func (s *Snapshot) newSearch(ctx context.Context, t *query.Table, text string) (*search.Search, error) {
	return s.search.Get(t, text, func() (*search.Search, error) {
		return search.New(ctx, s.store.dialect, t, text, s.store.options.manyFound, s.selectColumn, s.words(t))
	})
}

// words returns a function that returns the words of all books, or nil if reading them costs less than keeping them.
func (s *Snapshot) words(t *query.Table) func(context.Context) ([]string, error) {
	if t != query.Books || s.store.dialect.HasTrigrams || !s.KeepsCounts() {
		return nil
	}
	return func(ctx context.Context) (words []string, err error) {
		r := &countReader{reader[model.Book]{s, &books}, model.Selection{}}
		newest, err := r.NewestMark(ctx)
		if err != nil {
			return nil, err
		}
		changed := func(ctx context.Context, after changes.Mark, add func(string)) (bool, error) {
			delta, _, err := r.Since(ctx, after, []string{"author", "description", "name", "series", "subtitle"})
			if err != nil || delta == nil {
				return false, err
			}
			for texts := range delta.Now() {
				for _, text := range texts {
					if text, ok := text.(string); ok {
						add(text)
					}
				}
			}
			return true, nil
		}
		words, err = s.store.vocabulary.Words(ctx, newest, changed)
		if words != nil || err != nil || s.tx != nil {
			return words, err
		}
		if _, err := s.store.load(ctx, "words", s.store.loadWords); err != nil {
			return nil, err
		}
		return s.store.vocabulary.Words(ctx, newest, changed)
	}
}

// loadWords keeps the words of all books.
func (s *Store) loadWords(ctx context.Context) error {
	return s.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, snapshot *Snapshot) error {
		mark, err := (&countReader{reader[model.Book]{snapshot, &books}, model.Selection{}}).NewestMark(ctx)
		if err != nil {
			return err
		}
		var words []string
		if err := snapshot.selectColumn(ctx, &words, search.AllWordsSQL); err != nil {
			return err
		}
		s.vocabulary.Load(words, mark)
		return nil
	})
}

func (r *reader[T]) Correct(ctx context.Context, text string) (*string, error) {
	found, err := r.s.newSearch(ctx, r.Table, text)
	if err != nil || found.Correction() == "" {
		return nil, err
	}
	return new(found.Correction()), nil
}

// selectColumn implements search.Select.
func (s *Snapshot) selectColumn(ctx context.Context, dest any, text string, args ...any) error {
	text = versioned("SELECT q.* FROM (" + text + ") q")
	values := reflect.ValueOf(dest).Elem()
	value := reflect.New(values.Type().Elem())
	return s.read(ctx, readStmt{text, args, true}, func() scanRow {
		values.SetZero()
		return func(rows *sql.Rows, at *model.Revision) error {
			err := rows.Scan(append(revisionTargets(at), value.Interface())...)
			values.Set(reflect.Append(values, value.Elem()))
			return err
		}
	})
}
