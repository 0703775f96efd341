package changes

import (
	"context"
	"slices"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// changesBatch is the number of changes that one transaction deletes, so that others wait for none.
const changesBatch = 500

// Forget deletes changes that are older than some days. Positions before them are then gone.
// 0 days keep all.
func (l *Log) Forget(ctx context.Context, days int) error {
	if days == 0 {
		return nil
	}
	for _, text := range l.SQL.forget {
		text = strings.ReplaceAll(text, "{cut}", l.Dialect.HoursAgo(24*days))
		for deleted := int64(1); deleted > 0; {
			var err error
			if deleted, err = l.DB.Exec(ctx, text, changesBatch); err != nil {
				return err
			}
		}
	}
	return nil
}

// PurgeRow deletes the old columns of a row from the log and returns the number of changes that lost
// them. The changes remain, without the row.
func (l *Log) PurgeRow(ctx context.Context, typ model.CatalogueType, id model.ID) (int64, error) {
	if err := l.purgeKept(ctx); err != nil {
		return 0, err
	}
	return l.DB.Exec(ctx, `UPDATE changes SET old = NULL WHERE row_id = $1 AND type = $2 AND old IS NOT NULL`, id,
		types[typ].code)
}

// purgeKept deletes the row that SQLite's triggers keep of the last REPLACE.
func (l *Log) purgeKept(ctx context.Context) error {
	if l.SQL.purge == "" {
		return nil
	}
	_, err := l.DB.Exec(ctx, l.SQL.purge)
	return err
}

// SubjectSQL returns the condition that a subject contains a folded text. The subject of an account must be equal,
// because account:1 is part of account:12.
func (l *Log) SubjectSQL(column, text, operand string, b *query.Builder) string {
	if _, ok := model.AccountOf(text); ok {
		return column + " = " + b.Arg(text)
	}
	return l.Dialect.Match(model.ContainsFolded, "fold("+column+")", operand, b.Arg)
}

// PurgeText deletes from the log the old columns of each row that had a folded text in one of them, and each
// actor that contains it, or that is the account with this subject. Case and accents do not count. It returns the
// numbers of changes that lost their columns and their actor.
func (l *Log) PurgeText(ctx context.Context, text, operand string) (rows, actors int64, err error) {
	if err := l.purgeKept(ctx); err != nil {
		return 0, 0, err
	}
	rows, err = l.purge(ctx, "old", func(b *query.Builder) string {
		return `EXISTS (SELECT 1 FROM ` + l.SQL.members + `(old) AS v WHERE ` +
			l.Dialect.Match(model.ContainsFolded, "fold(v.value)", operand, b.Arg) + `)`
	})
	if err == nil {
		actors, err = l.purge(ctx, "actor", func(b *query.Builder) string {
			return l.SubjectSQL("actor", text, operand, b)
		})
	}
	return rows, actors, err
}

// purge removes the values of a column that meet a condition, and returns their number.
func (l *Log) purge(
	ctx context.Context, column string, condition func(*query.Builder) string,
) (purged int64, err error) {
	b := query.New(l.Dialect)
	var found []struct {
		RowID model.ID `db:"row_id"`
		Seq   int64
	}
	if err := l.DB.Select(ctx, &found, `SELECT row_id, seq FROM changes WHERE `+column+` IS NOT NULL AND `+condition(b),
		b.Args...); err != nil {
		return 0, err
	}
	update := `UPDATE changes SET ` + column + ` = NULL WHERE ` + l.Dialect.In("row_id", "$1") + ` AND ` +
		l.Dialect.In("seq", "$2")
	for part := range slices.Chunk(found, changesBatch) {
		var ids []model.ID
		var numbers []int64
		for _, c := range part {
			ids, numbers = append(ids, c.RowID), append(numbers, c.Seq)
		}
		n, err := l.DB.Exec(ctx, update, l.Dialect.Array(ids), l.Dialect.Array(numbers))
		if purged += n; err != nil {
			return purged, err
		}
	}
	return purged, nil
}
