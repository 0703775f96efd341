package rest

import (
	"context"
	"io"
	"strconv"

	"library-catalogue/graph/model"
)

// operations are the operations on the rows of a resource. The objects that they return are in format f.
type operations interface {
	// appendPage appends the objects of a page to dst. It returns the number of rows on all pages if counted is true,
	// and the cursor of the next page, nil for none.
	appendPage(ctx context.Context, dst []byte, f *format, args model.PageArgs, counted bool) (out []byte, total int,
		next *string, err error)
	// writeAll writes the objects of all pages to dst, begin before and the format's end after them.
	writeAll(ctx context.Context, dst io.Writer, f *format, args model.PageArgs, begin []byte) error
	// one returns the object of a row; nil, nil: no such row.
	one(ctx context.Context, f *format, id string) (*object, error)
	create(ctx context.Context, f *format, form model.Form) (*object, error)
	update(ctx context.Context, f *format, id model.ID, form model.Form, version *int64) (*object, error)
	remove(ctx context.Context, in model.DeleteInput) error
}

// object is an object of a response.
type object struct {
	id      model.ID
	version int64  // version of the row
	tag     string // ETag from the versions of the row and its nested objects
	text    []byte // in its format
}

// node is a row of type T.
type node[T any] interface {
	*T
	model.Node
}

// appender appends a row with its nested objects.
type appender[P any] = func(dst []byte, row P, g *model.Genre, c *model.Category) []byte

// rows implements operations on the rows of type T by the resolvers. C is the input of a new row, U the patch of a row.
type rows[T any, P node[T], C, U any] struct {
	*handler
	typename string
	pageOf   func(ctx context.Context, first *int, after *string, last *int, before *string, offset *int,
		filter map[string]any,
		orderBy []*model.OrderBy, search *string) (*model.Connection[P], error)
	stream    func(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []P) error) error
	row       func(ctx context.Context, id string, asOf *model.Timestamp) (P, error)
	createRow func(context.Context, C) (*model.Payload[T], error)
	updateRow func(context.Context, model.UpdateInput[U]) (*model.Payload[T], error)
	deleteRow func(context.Context, model.DeleteInput) (*model.DeletePayload, error)
	input     func(model.Form) C
	patch     func(model.Form) *U

	parents  func(context.Context, P) (*model.Genre, *model.Category, error) // nested objects; nil: the type has none
	version  func(P) int64
	appender func(*format, genreCache) appender[P]
}

func (t *rows[T, P, C, U]) appendPage(
	ctx context.Context, dst []byte, f *format, a model.PageArgs, counted bool,
) (_ []byte, total int, next *string, err error) {
	page, err := t.pageOf(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
	if err != nil {
		return dst, 0, nil, err
	}
	if counted {
		if total, err = page.TotalCount(ctx); err != nil {
			return dst, 0, nil, err
		}
	}
	nodes, err := page.Nodes(ctx)
	if err != nil {
		return dst, 0, nil, err
	}
	if dst, err = t.appendRows(ctx, dst, f, t.appender(f, nil), nodes); err != nil {
		return dst, 0, nil, err
	}
	info, err := page.PageInfo(ctx)
	if err != nil {
		return dst, 0, nil, err
	}
	if more, err := info.HasNextPage(ctx); !more {
		return dst, total, nil, err
	}
	return dst, total, info.EndCursor, nil
}

func (t *rows[T, P, C, U]) writeAll(
	ctx context.Context, dst io.Writer, f *format, args model.PageArgs, text []byte,
) error {
	appendRow, first := t.appender(f, genreCache{}), true
	err := t.stream(ctx, args, rowsPerRead, func(ctx context.Context, rows []P) (err error) {
		if !first {
			text = append(text, f.separator...)
		}
		first = false
		if text, err = t.appendRows(ctx, text, f, appendRow, rows); err != nil {
			return err
		}
		_, err = dst.Write(text)
		text = text[:0]
		return err
	})
	if err != nil {
		return err
	}
	_, err = dst.Write(append(text, f.end...))
	return err
}

// appendRows appends rows, separated as in their format.
func (t *rows[T, P, C, U]) appendRows(
	ctx context.Context, dst []byte, f *format, appendRow appender[P], rows []P,
) ([]byte, error) {
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, f.separator...)
		}
		g, c, err := t.parents(ctx, row)
		if err != nil {
			return dst, err
		}
		dst = appendRow(dst, row, g, c)
	}
	return dst, nil
}

func (t *rows[T, P, C, U]) one(ctx context.Context, f *format, id string) (*object, error) {
	row, err := t.row(ctx, id, nil)
	if err != nil || row == nil {
		return nil, err
	}
	return t.object(ctx, f, row)
}

// object returns the object of a row.
func (t *rows[T, P, C, U]) object(ctx context.Context, f *format, row P) (*object, error) {
	g, c, err := t.parents(ctx, row)
	if err != nil {
		return nil, err
	}
	version := t.version(row)
	tag := `"` + strconv.FormatInt(version, 10)
	if g != nil {
		tag += "." + strconv.FormatInt(g.Version, 10)
	}
	if c != nil {
		tag += "." + strconv.FormatInt(c.Version, 10)
	}
	return &object{row.RowID(), version, tag + f.tagSuffix + `"`, t.appender(f, nil)(nil, row, g, c)}, nil
}

func (t *rows[T, P, C, U]) create(ctx context.Context, f *format, form model.Form) (*object, error) {
	payload, err := t.createRow(ctx, t.input(form))
	return t.written(ctx, f, payload, err)
}

func (t *rows[T, P, C, U]) update(
	ctx context.Context, f *format, id model.ID, form model.Form, version *int64,
) (*object, error) {
	payload, err := t.updateRow(ctx, model.UpdateInput[U]{ID: id, Patch: t.patch(form), ExpectedVersion: version})
	return t.written(ctx, f, payload, err)
}

// written returns the object of a created or updated row. Error: Conflict if a concurrent request has deleted the row
// since, with its parent.
func (t *rows[T, P, C, U]) written(
	ctx context.Context, f *format, payload *model.Payload[T], err error,
) (object *object, _ error) {
	if err != nil {
		return nil, err
	}
	err = t.catalogue.ReadBack(ctx, func(ctx context.Context) (err error) {
		object, err = t.object(ctx, f, payload.Row)
		return err
	})
	if model.IsCode(err, model.NotFound) {
		err = model.Errorf(model.Conflict,
			"%s was stored, then deleted by a concurrent request together with its parent.", t.typename)
	}
	return object, err
}

func (t *rows[T, P, C, U]) remove(ctx context.Context, in model.DeleteInput) error {
	_, err := t.deleteRow(ctx, in)
	return err
}
