package db

import (
	"context"
	"slices"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// changesBatch is the number of changes that one transaction deletes, so that others wait for none.
const changesBatch = 500

// ForgetChanges deletes changes that are older than some days. Positions before them are then gone.
// 0 days keep all.
func (s *Store) ForgetChanges(ctx context.Context, days int) error {
	if days == 0 {
		return nil
	}
	for _, text := range s.dialect.ForgetChanges {
		text = strings.ReplaceAll(text, "{cut}", s.dialect.HoursAgo(24*days))
		for deleted := int64(1); deleted > 0; {
			var err error
			if deleted, err = s.exec(ctx, text, changesBatch); err != nil {
				return err
			}
		}
	}
	return nil
}

// PurgeRow deletes the old columns of a row from the log and returns the number of changes that lost
// them. The changes remain, without the row. Responses stored for Idempotency-Keys are deleted, too.
func (s *Store) PurgeRow(ctx context.Context, typ model.CatalogueType, id model.ID) (int64, error) {
	if err := s.purgeAnswers(ctx); err != nil {
		return 0, err
	}
	return s.exec(ctx, `UPDATE changes SET old = NULL WHERE row_id = $1 AND type = $2 AND old IS NOT NULL`, id, loggedTypes[typ].code)
}

// PurgeText deletes from the log the old columns of each row that had a text in one of them, and each
// actor that contains it. Case and accents do not count. It returns the numbers of changes that lost
// their columns and their actor. It deletes the responses stored for Idempotency-Keys, and the keys of
// callers whose subject contains the text.
func (s *Store) PurgeText(ctx context.Context, text string) (rows, actors int64, err error) {
	operand := collate.Fold(text)
	if operand == "" {
		return 0, 0, badArgument("text", "The text must not be empty.")
	}
	if err := s.purgeAnswers(ctx); err != nil {
		return 0, 0, err
	}
	keys := query.New(s.dialect)
	if _, err := s.exec(ctx, `DELETE FROM idempotency_keys WHERE `+s.dialect.Match(model.ContainsFolded, "fold(subject)", operand, keys.Arg), keys.Args...); err != nil {
		return 0, 0, err
	}
	for _, part := range []struct {
		changed   *int64
		column    string
		condition func(b *query.Builder) string
	}{
		{&rows, "old", func(b *query.Builder) string {
			return `EXISTS (SELECT 1 FROM ` + s.dialect.Members + `(old) AS v WHERE ` + s.dialect.Match(model.ContainsFolded, "fold(v.value)", operand, b.Arg) + `)`
		}},
		{&actors, "actor", func(b *query.Builder) string {
			return s.dialect.Match(model.ContainsFolded, "fold(actor)", operand, b.Arg)
		}},
	} {
		b := query.New(s.dialect)
		var found []struct {
			RowID model.ID `db:"row_id"`
			Seq   int64
		}
		if err := s.getRows(ctx, &found, `SELECT row_id, seq FROM changes WHERE `+part.column+` IS NOT NULL AND `+part.condition(b), b.Args...); err != nil {
			return rows, actors, err
		}
		for batch := range slices.Chunk(found, changesBatch) {
			var ids []model.ID
			var numbers []int64
			for _, c := range batch {
				ids, numbers = append(ids, c.RowID), append(numbers, c.Seq)
			}
			n, err := s.exec(ctx, `UPDATE changes SET `+part.column+` = NULL WHERE `+s.dialect.In("row_id", "$1")+` AND `+s.dialect.In("seq", "$2"), s.dialect.Array(ids), s.dialect.Array(numbers))
			if *part.changed += n; err != nil {
				return rows, actors, err
			}
		}
	}
	return rows, actors, nil
}
