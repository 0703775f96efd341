package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"library-catalogue/db/changes"
	"library-catalogue/db/query"
	"library-catalogue/db/stats"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// Changes returns a page of changes, as changes.Log.Changes does.
func (s *Store) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	return s.log.Changes(ctx, args)
}

// RecentChanges returns a page of changes, newest first, as changes.Log.Recent does.
func (s *Store) RecentChanges(ctx context.Context, args model.RecentArgs) (*model.ChangePage, error) {
	return s.log.Recent(ctx, args)
}

// Follow calls fn with each page of new changes, as changes.Feed does.
func (s *Store) Follow(
	ctx context.Context, args model.ChangeArgs, admit changes.Admit, fn func(context.Context, *model.ChangePage) error,
) error {
	return s.feed.Follow(ctx, args, admit, fn)
}

// FeedStats returns the state of the feed of changes.
func (s *Store) FeedStats() stats.Feed { return s.feed.Stats() }

// MeasureChanges measures the log of changes for FeedStats and Checks.
func (s *Store) MeasureChanges(ctx context.Context) error { return s.feed.Measure(ctx) }

// ForgetChanges deletes changes that are older than some days. Positions before them are then gone.
// 0 days keep all.
func (s *Store) ForgetChanges(ctx context.Context, days int) error { return s.log.Forget(ctx, days) }

// PurgeRow deletes the old columns of a row from the log and returns the number of changes that lost
// them. The changes remain, without the row. Responses stored for Idempotency-Keys are deleted, too.
func (s *Store) PurgeRow(ctx context.Context, typ model.CatalogueType, id model.ID) (int64, error) {
	if err := s.purgeAnswers(ctx); err != nil {
		return 0, err
	}
	return s.log.PurgeRow(ctx, typ, id)
}

// PurgeText deletes from the log the old columns of each row that had a text in one of them, and each
// actor that contains it, or that is the account with this subject. Case and accents do not count. It returns the
// numbers of changes that lost their columns and their actor. It deletes the responses stored for Idempotency-Keys,
// and the keys of callers with the text in their subject.
func (s *Store) PurgeText(ctx context.Context, text string) (rows, actors int64, err error) {
	operand := collate.Fold(text)
	if operand == "" {
		return 0, 0, model.BadArgument("text", "The text must not be empty.")
	}
	if err := s.purgeAnswers(ctx); err != nil {
		return 0, 0, err
	}
	keys := query.New(s.dialect)
	if _, err := s.exec(ctx, `DELETE FROM idempotency_keys WHERE `+s.log.SubjectSQL("subject", text, operand, keys),
		keys.Args...); err != nil {
		return 0, 0, err
	}
	return s.log.PurgeText(ctx, text, operand)
}

// ChangeSets returns change sets, as changes.Log.Sets does.
func (s *Snapshot) ChangeSets(
	ctx context.Context, ids []model.ChangeSetID,
) (map[model.ChangeSetID]*model.ChangeSet, error) {
	return s.store.log.Sets(ctx, ids)
}

// ChangesOfSet returns a page of the changes of a set, as changes.Log.ChangesOfSet does.
func (s *Store) ChangesOfSet(
	ctx context.Context, id model.ChangeSetID, after *string, first int,
) (*model.ChangePage, error) {
	return s.log.ChangesOfSet(ctx, id, after, first)
}

// Undo brings all rows of a change set back, each as it was before its first change in the set, but for version and
// updated_at. A row that cannot be so has a Conflict. allow is called with all rows before anything is written. Errors:
// PositionGone, Conflict under the policy RejectConflicts, BadUserInput for too many changes.
func (s *Store) Undo(
	ctx context.Context, id model.ChangeSetID, in model.UndoChangeSetInput, allow func([]*model.UndoneRow) error,
) (done *model.UndoChangeSetPayload, err error) {
	err = s.Write(ctx, func(ctx context.Context) error {
		done = &model.UndoChangeSetPayload{ClientMutationID: in.ClientMutationID}
		logged, err := s.log.ChangesToUndo(ctx, id)
		if err != nil {
			return err
		}
		all := &undo{
			categories: newUndoOf(s, &categories), genres: newUndoOf(s, &genres), books: newUndoOf(s, &books),
			set: id.Set, dryRun: in.DryRun,
		}
		if done.Rows, err = all.plan(ctx, logged, allow); err != nil || in.DryRun {
			return err
		}
		if err := conflictOf(done.Rows); err != nil && in.OnConflict == model.RejectConflicts {
			return err
		}
		if slices.ContainsFunc(done.Rows, func(row *model.UndoneRow) bool { return row.Conflict == nil }) {
			done.ChangeSetID = new(model.ChangeSetID{Set: model.ChangeSetOf(ctx)}.String())
		}
		return all.apply(ctx)
	})
	return done, err
}

// conflicts are the words for messages.
var conflicts = map[model.UndoConflict]string{
	model.ChangedSince:  "has changed since",
	model.HasOtherRows:  "has other rows now",
	model.ParentMissing: "has lost its genre or category",
}

// maxNamed is the maximum number of rows that the message of a Conflict names.
const maxNamed = 10

// conflictOf returns the Conflict of the rows that have one, or nil.
func conflictOf(rows []*model.UndoneRow) error {
	var named []string
	for _, row := range rows {
		if row.Conflict != nil {
			named = append(named,
				fmt.Sprintf("%s %d %s", strings.ToLower(string(row.Type)), row.RowID, conflicts[*row.Conflict]))
		}
	}
	if named == nil {
		return nil
	}
	if more := len(named) - maxNamed; more > 0 {
		named = append(named[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return model.Errorf(model.Conflict, "Nothing was undone: %s. Use onConflict: SKIP to undo the other rows.",
		strings.Join(named, "; "))
}

// undo is an undo of a change set.
type undo struct {
	categories *undoOf[model.Category]
	genres     *undoOf[model.Genre]
	books      *undoOf[model.Book]
	set        int64
	dryRun     bool
}

// plan returns the rows of an undo with their conflicts.
func (u *undo) plan(
	ctx context.Context, logged []changes.Undoable, allow func([]*model.UndoneRow) error,
) (rows []*model.UndoneRow, err error) {
	for _, read := range []func([]changes.Undoable) error{u.categories.read, u.genres.read, u.books.read} {
		if err := read(logged); err != nil {
			return nil, err
		}
	}
	rows = slices.Concat(u.categories.rows(), u.genres.rows(), u.books.rows())
	if err := allow(rows); err != nil {
		return nil, err
	}
	if !u.dryRun { // no later change, and no new child
		err := cmp.Or(lockRows(ctx, u.categories), lockRows(ctx, u.genres), lockRows(ctx, u.books))
		if err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{
		func() error { return u.categories.changedSince(ctx, u.set) },
		func() error { return u.genres.changedSince(ctx, u.set) },
		func() error { return u.books.changedSince(ctx, u.set) },
		func() error { return missParents(ctx, u.genres, u.categories) },
		func() error { return missParents(ctx, u.books, u.genres) },
		func() error { return keepParents(ctx, u.genres, u.books) },
		func() error { return keepParents(ctx, u.categories, u.genres) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// lockRows locks the rows of an undo that exist.
func lockRows[T any](ctx context.Context, u *undoOf[T]) error {
	_, err := u.lockAll(ctx, u.ids)
	return err
}

// apply stores parents before their children, and deletes them after.
func (u *undo) apply(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		u.categories.bring, u.genres.bring, u.books.bring, u.books.remove, u.genres.remove, u.categories.remove,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Position returns the newest position that the Snapshot sees. It may see later changes, which have no tick yet.
func (s *Snapshot) Position(ctx context.Context) (string, error) {
	var p model.Position
	err := s.readRow(ctx, readStmt{text: versioned(s.store.log.SQL.Newest)}, &p.Tick)
	return p.String(), err
}

// tick gives each committed change that the Snapshot sees a position and a time, and reports whether a
// further read sees them. It cannot if the transaction writes or the database refuses writes. It
// returns ErrSnapshotChanged if only another transaction would see them.
func (s *Snapshot) tick(ctx context.Context) (done bool, err error) {
	switch {
	case s.tx == nil:
		err = s.store.log.Settle(ctx)
		return err == nil && !s.store.log.RefusesTicks(), err
	case !s.tx.readOnly, s.store.log.RefusesTicks(), s.store.replicas.ServesAll():
		return false, nil
	}
	s.needsTick.Store(true)
	return false, s.Changed()
}

// logDB implements changes.DB.
type logDB struct{ *Store }

// Get implements changes.DB.
func (s logDB) Get(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, nil, false, text, func(h stmt.Handle) error { return stmt.Get(ctx, h, into, text, args...) })
}

// Exec implements changes.DB.
func (s logDB) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return s.exec(ctx, text, args...)
}

// Select implements changes.DB.
func (s logDB) Select(ctx context.Context, into any, text string, args ...any) error {
	return s.getRows(ctx, into, text, args...)
}

// Write implements changes.DB.
func (s logDB) Write(ctx context.Context, fn func(context.Context) error) error {
	return s.retry(ctx, func() error { return s.transact(ctx, s.writePool, s.dialect.Committed, withTx(fn)) })
}

// Read implements changes.DB. Planning a statement on the newest changes takes several times as long as running it.
func (s logDB) Read(ctx context.Context, keepsPlans bool, fn func(context.Context, changes.Snapshot) error) error {
	return s.transact(ctx, s.readPool, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		if keepsPlans && s.dialect.PlanOnce != "" && !s.readPool.Unprepared.Load() {
			err := s.run(ctx, t, false, s.dialect.PlanOnce, func(h stmt.Handle) error {
				_, err := h.ExecContext(ctx, s.dialect.PlanOnce)
				return err
			})
			if err != nil {
				return err
			}
		}
		return fn(ctx, logSnapshot{s.newSnapshot(t), keepsPlans})
	})
}

// Start implements changes.DB.
func (s logDB) Start(fn func(context.Context)) { s.runInBackground(fn) }

// logSnapshot implements changes.Snapshot.
type logSnapshot struct {
	*Snapshot
	keepsPlans bool
}

// Select implements changes.Snapshot.
func (s logSnapshot) Select(ctx context.Context, into any, text string, args ...any) error {
	if s.keepsPlans {
		s.store.readPool.PrepareSoon(text)
	}
	return s.store.run(ctx, s.tx, false, text, func(h stmt.Handle) error {
		if !s.keepsPlans {
			h = stmt.Unprepared(h)
		}
		return stmt.Select(ctx, h, into, text, args...)
	})
}

// SetRows implements changes.Snapshot.
func (s logSnapshot) SetRows(ctx context.Context, typ model.CatalogueType, logged map[model.ID]*model.Change) error {
	return s.logged(typ).setRows(ctx, logged)
}

func (r *reader[T]) setRows(ctx context.Context, logged map[model.ID]*model.Change) error {
	if len(logged) == 0 {
		return nil
	}
	r.s.store.readPool.PrepareSoon(r.s.store.byIDSQL[r.Name])
	rows, err := r.ByID(ctx, slices.Collect(maps.Keys(logged)))
	if err != nil {
		return err
	}
	for _, row := range rows {
		logged[r.id(row)].SetRow(row)
	}
	return nil
}

// accountDB implements account.DB.
type accountDB struct{ logDB }

// Read implements account.DB.
func (s accountDB) Read(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), false, text, func(h stmt.Handle) error {
		reflect.ValueOf(into).Elem().SetLen(0) // it may run again
		return stmt.Select(ctx, h, into, text, args...)
	})
}
