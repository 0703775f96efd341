package resolvers

import (
	"cmp"
	"context"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// createRows stores the rows of a bulk input. field names them in errors. It needs the scopes.
func createRows[I, T any](ctx context.Context, field string, input model.BulkInput[I],
	create func(ctx context.Context, inputs []*I, all bool) ([]*T, []model.FieldErrors, error), scopes ...string,
) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	if err := model.CheckRows(field, len(input.Rows)); err != nil {
		return nil, err
	}
	rows, problems, err := create(ctx, input.Rows, input.ErrorPolicy == model.RejectAll)
	if err != nil {
		return nil, err
	}
	errs, count := make([]error, len(problems)), 0
	for i, p := range problems {
		errs[i] = p.Err()
		if rows[i] != nil {
			count++
		}
	}
	return model.NewBulkPayload(rows, errs, count, input.ClientMutationID), nil
}

// patchOf is a pointer to a patch.
type patchOf[P any] interface {
	*P
	db.Patch
}

// updateRow changes a row, after a check of its new values. It needs the scope.
func updateRow[P, T any, PP patchOf[P]](
	ctx context.Context, writer db.Writer[T], input model.UpdateInput[P], scope string,
	check func(context.Context, *P) error,
) (*model.Payload[T], error) {
	if err := authorise(ctx, scope); err != nil {
		return nil, err
	}
	if err := check(ctx, input.Patch); err != nil {
		return nil, err
	}
	row, err := writer.Update(ctx, input.ID, PP(input.Patch), input.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Row: row, ClientMutationID: input.ClientMutationID}, nil
}

// updateRows changes the matching rows of a type, after a check of their new values. It needs the scope.
func updateRows[P, T any, PP patchOf[P]](
	ctx context.Context, store *db.Store, writer db.Writer[T], input model.UpdateManyInput[P], scope string,
	check func(context.Context, *P) error,
) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scope); err != nil {
		return nil, err
	}
	if err := check(ctx, input.Patch); err != nil {
		return nil, err
	}
	sel, err := model.ParseBulkSelection(writer.Noun(), input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	err = store.Write(ctx, func(ctx context.Context) error {
		ids, err := writer.Match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		rows, err = writer.UpdateAll(ctx, ids, PP(input.Patch))
		return err
	})
	if err != nil {
		return nil, err
	}
	return model.NewBulkPayload(rows, make([]error, len(rows)), len(rows), input.ClientMutationID), nil
}

// updateBooks changes books, or shows how they would change. It needs the scope books:update.
func (r *mutationResolver) updateBooks(
	ctx context.Context, input model.UpdateBooksInput,
) (*model.UpdateBooksPayload, error) {
	if !input.NeedsBooks() && !model.SelectsBefore(ctx) {
		return updateRows(ctx, r.store, r.store.Books, input.UpdateManyInput, booksUpdate, r.checkBookPatch)
	}
	allow := authorise
	if input.DryRun { // a scope in the list of Idempotent is a write
		allow = func(ctx context.Context, scopes ...string) error {
			_, err := model.Authorise(ctx, scopes...)
			return err
		}
	}
	if err := allow(ctx, booksUpdate); err != nil {
		return nil, err
	}
	if err := input.Validate().Err(); err != nil {
		return nil, err
	}
	if err := r.checkBookPatch(ctx, input.Patch); err != nil {
		return nil, err
	}
	books := r.store.Books
	sel, err := model.ParseBulkSelection(books.Noun(), input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var payload *model.UpdateBooksPayload
	err = r.store.Write(ctx, func(ctx context.Context) error {
		ids, err := books.Match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		stored, err := books.Unchecked(ctx).ByID(ctx, ids)
		if err != nil {
			return err
		}
		slices.SortFunc(stored, func(a, b *model.Book) int { return cmp.Compare(a.ID, b.ID) })
		rows := input.Rows
		if rows == nil {
			for _, id := range ids {
				rows = append(rows, &model.UpdateBooksRow{ID: id})
			}
		}
		before, after, errs := changedBooks(&input, rows, stored)
		count := 0
		if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			if count, err = r.storeBooks(ctx, &input, ids, before, after); err != nil {
				return err
			}
		} else if !input.DryRun {
			clear(after)
		}
		payload = model.NewBulkPayload(after, errs, count, input.ClientMutationID)
		for i, result := range payload.Results {
			result.Before = before[i]
		}
		return nil
	})
	return payload, err
}

// changedBooks returns the stored books of rows and their new values, or the error of each row.
func changedBooks(
	input *model.UpdateBooksInput, rows []*model.UpdateBooksRow, stored []*model.Book,
) (before, after []*model.Book, errs []error) {
	before, after, errs = make([]*model.Book, len(rows)), make([]*model.Book, len(rows)), make([]error, len(rows))
	for i, row := range rows {
		at, ok := slices.BinarySearchFunc(stored, row.ID, func(b *model.Book, id model.ID) int {
			return cmp.Compare(b.ID, id)
		})
		if !ok {
			errs[i] = model.Errorf(model.NotFound, "Book %d not found", row.ID)
			continue
		}
		before[i] = stored[at]
		if v := row.ExpectedVersion; v != nil && *v != before[i].Version {
			stale := model.Errorf(model.Stale, "Book %d has version %d. Read it again.", row.ID, before[i].Version)
			stale.Version = before[i].Version
			errs[i] = stale
			continue
		}
		changed, problems := input.Change(before[i])
		if errs[i] = problems.Err(); errs[i] == nil {
			after[i] = changed
		}
	}
	return before, after, errs
}

// storeBooks stores the new values, except in a dry run, and sets after to the stored books. It returns the number
// of changed books. A patch alone changes all books, as in updateRows.
func (r *mutationResolver) storeBooks(
	ctx context.Context, input *model.UpdateBooksInput, ids []model.ID, before, after []*model.Book,
) (int, error) {
	var changed []*model.Book
	isPatch := input.PriceFactor == nil && input.Author == nil
	for i, book := range after {
		if isPatch || !book.SameContent(before[i]) {
			changed = append(changed, book)
		}
	}
	if input.DryRun || len(changed) == 0 {
		return len(changed), nil
	}
	var rows []*model.Book
	var err error
	if isPatch {
		rows, err = r.store.Books.UpdateAll(ctx, ids, input.Patch)
	} else if err = r.store.ReplaceBooks(ctx, changed); err == nil {
		rows, err = r.store.Books.Unchecked(ctx).ByID(ctx, ids)
	}
	byID := make(map[model.ID]*model.Book, len(rows))
	for _, row := range rows {
		byID[row.ID] = row
	}
	for i, book := range after {
		after[i] = byID[book.ID]
	}
	return len(changed), err
}

// deleteRows deletes the matching rows of a type. It needs the scopes.
func deleteRows[T any, P interface {
	*T
	model.Node
}](ctx context.Context, store *db.Store, writer db.Writer[T], input model.DeleteManyInput,
	scopes ...string) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	sel, err := model.ParseBulkSelection(writer.Noun(), input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	var errs []error
	var deletable []model.ID
	err = store.Write(ctx, func(ctx context.Context) error {
		ids, err := writer.Match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		if err := input.OnChildren.Validate(input.ReassignTo, ids...).Err(); err != nil {
			return err
		}
		if rows, err = writer.Unchecked(ctx).ByID(ctx, ids); err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b *T) int { return cmp.Compare(P(a).RowID(), P(b).RowID()) })
		var inUse map[model.ID]error
		switch input.OnChildren {
		case model.Reassign:
			err = writer.MoveChildren(ctx, ids, *input.ReassignTo)
		case model.Restrict:
			inUse, err = writer.InUse(ctx, ids)
		}
		if err != nil {
			return err
		}
		errs, deletable = make([]error, len(ids)), nil
		for i, id := range ids {
			if errs[i] = inUse[id]; errs[i] == nil {
				deletable = append(deletable, id)
			}
		}
		if input.ErrorPolicy == model.RejectAll && len(deletable) < len(ids) {
			deletable = nil
		}
		return writer.DeleteAll(ctx, deletable)
	})
	if err != nil {
		return nil, err
	}
	return model.NewBulkPayload(rows, errs, len(deletable), input.ClientMutationID), nil
}

// deleteRow deletes a row. With the policy Reassign it first moves the row's children. It needs the scopes.
func deleteRow[T any](
	ctx context.Context, store *db.Store, writer db.Writer[T], input model.DeleteInput, scopes ...string,
) (*model.DeletePayload, error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	if err := input.OnChildren.Validate(input.ReassignTo, input.ID).Err(); err != nil {
		return nil, err
	}
	err := store.Write(ctx, func(ctx context.Context) error {
		if input.OnChildren == model.Reassign {
			if err := writer.MoveChildren(ctx, []model.ID{input.ID}, *input.ReassignTo); err != nil {
				return err
			}
		}
		return writer.Delete(ctx, input.ID, input.ExpectedVersion, input.OnChildren)
	})
	if err != nil {
		return nil, err
	}
	return model.NewDeletePayload(writer.Noun(), input.ID, input.ClientMutationID), nil
}
