package model_test

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"library-catalogue/graph/model"
)

// rows makes books with these ids.
func rows(ids ...model.ID) []*model.Book {
	books := []*model.Book{}
	for _, id := range ids {
		books = append(books, &model.Book{ID: id})
	}
	return books
}

// read reads a page of a list as a database does.
func read(list []*model.Book, p *model.Page) []*model.Book {
	var within []*model.Book
	for _, b := range list {
		if (p.After == nil || b.ID > p.After.ID) && (p.From == nil || b.ID >= p.From.ID) &&
			(p.Before == nil || b.ID < p.Before.ID) && (p.Until == nil || b.ID <= p.Until.ID) {
			within = append(within, b)
		}
	}
	if p.Backward {
		slices.Reverse(within)
	}
	within = within[min(p.Offset, len(within)):]
	within = within[:min(p.Limit, len(within))]
	if p.Backward {
		slices.Reverse(within)
	}
	return within
}

func connect(t *testing.T, list []*model.Book, args model.PageArgs) *model.BookConnection {
	t.Helper()
	return model.NewConnection("Book", pageOf(t, args),
		func(_ context.Context, p *model.Page) ([]*model.Book, error) { return read(list, p), nil },
		func(context.Context, model.Selection) (int, error) { return len(list), nil }, nil)
}

func pageOf(t *testing.T, args model.PageArgs) *model.Page {
	t.Helper()
	p, err := args.Page("Book")
	must(t, err)
	return p
}

// cursor returns the cursor of the book with this id.
func cursor(t *testing.T, id model.ID) *string {
	t.Helper()
	c := connect(t, nil, model.PageArgs{}).Cursor(&model.Book{ID: id})
	return &c
}

// page is what a connection says of itself.
type page struct {
	IDs               []model.ID
	Next, Previous    bool
	Total             int
	StartsAt, EndsAt  string
	CursorsAreOfNodes bool
}

func look(t *testing.T, c *model.BookConnection) (p page) {
	t.Helper()
	ctx := t.Context()
	nodes, err := c.Nodes(ctx)
	info, infoErr := c.PageInfo(ctx)
	must(t, errors.Join(err, infoErr))
	for _, b := range nodes {
		p.IDs = append(p.IDs, b.ID)
	}
	edges, err := c.Edges(ctx)
	next, nextErr := info.HasNextPage(ctx)
	previous, previousErr := info.HasPreviousPage(ctx)
	total, totalErr := c.TotalCount(ctx)
	must(t, errors.Join(err, nextErr, previousErr, totalErr))
	p.Next, p.Previous, p.Total = next, previous, total
	p.CursorsAreOfNodes = len(edges) == len(nodes)
	for i, e := range edges {
		p.CursorsAreOfNodes = p.CursorsAreOfNodes && e.Node == nodes[i] && e.Cursor() == c.Cursor(nodes[i])
	}
	if info.StartCursor != nil {
		p.StartsAt = *info.StartCursor
	}
	if info.EndCursor != nil {
		p.EndsAt = *info.EndCursor
	}
	return p
}

// want returns the page in plain words: the rows between the bounds, less what
// offset passes over, cut to size from the one end or the other.
func want(t *testing.T, list []*model.Book, after, before model.ID, first, last *int, offset int) (p page) {
	from := 0
	for from < len(list) && list[from].ID <= after {
		from++
	}
	to := len(list)
	for before != 0 && to > from && list[to-1].ID >= before {
		to--
	}
	start, end := from, to
	if last != nil {
		end = max(to-offset, from)
		start = max(end-*last, from)
	} else {
		size := 20
		if first != nil {
			size = *first
		}
		start = min(from+offset, to)
		end = min(start+size, to)
	}
	for _, b := range list[start:end] {
		p.IDs = append(p.IDs, b.ID)
	}
	p.Previous, p.Next, p.Total, p.CursorsAreOfNodes = start > 0, end < len(list), len(list), true
	if len(p.IDs) > 0 {
		p.StartsAt, p.EndsAt = *cursor(t, p.IDs[0]), *cursor(t, p.IDs[len(p.IDs)-1])
	}
	return p
}

// TestEveryPage goes through every page that short lists have, in any way to ask
// for it: also by the cursors of rows that are no longer there.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	lists := [][]*model.Book{rows(), rows(3), rows(2, 5), rows(1, 2, 3, 4), rows(2, 3, 6, 7), rows(1, math.MaxInt64)}
	bounds := []model.ID{0, 1, 2, 3, 4, 5, 6, 7, 8, math.MaxInt64}
	for _, list := range lists {
		for _, after := range bounds {
			for _, before := range bounds {
				for offset := range 5 {
					for size := -1; size <= 5; size++ {
						for _, backward := range []bool{false, true} {
							args := model.PageArgs{}
							if after != 0 {
								args.After = cursor(t, after)
							}
							if before != 0 {
								args.Before = cursor(t, before)
							}
							if offset > 0 {
								args.Offset = &offset
							}
							switch {
							case size < 0: // the default
							case backward:
								args.Last = &size
							default:
								args.First = &size
							}
							got := look(t, connect(t, list, args))
							if diff := cmp.Diff(want(t, list, after, before, args.First, args.Last, offset), got); diff != "" {
								t.Fatalf("of %v, after %d, before %d, offset %d, size %d, backward %t (-want +got):\n%s",
									list, after, before, offset, size, backward, diff)
							}
						}
					}
				}
			}
		}
	}
}

// TestPlacesToLook holds the rows that are looked for beyond a page to be at the
// same place in every list: only then are they read together for many parents.
func TestPlacesToLook(t *testing.T) {
	t.Parallel()
	size, offset := 2, 1
	for name, args := range map[string]model.PageArgs{
		"first":        {First: &size},
		"first after":  {First: &size, After: cursor(t, 3)},
		"first before": {First: &size, Before: cursor(t, 6)},
		"first offset": {First: &size, Offset: &offset},
		"last":         {Last: &size},
		"last after":   {Last: &size, After: cursor(t, 3)},
		"last before":  {Last: &size, Before: cursor(t, 6)},
		"last offset":  {Last: &size, Offset: &offset},
		"all":          {Last: &size, Offset: &offset, After: cursor(t, 3), Before: cursor(t, 6)},
	} {
		asked := map[string]bool{}
		for _, list := range [][]*model.Book{rows(1, 2, 3, 4, 5, 6, 7, 8), rows(10, 20, 30, 40), rows(4, 5)} {
			c := model.NewConnection("Book", pageOf(t, args),
				func(_ context.Context, p *model.Page) ([]*model.Book, error) {
					asked[p.Key()] = true
					return read(list, p), nil
				}, nil, nil)
			info, err := c.PageInfo(t.Context())
			must(t, err)
			_, nextErr := info.HasNextPage(t.Context())
			_, previousErr := info.HasPreviousPage(t.Context())
			must(t, errors.Join(nextErr, previousErr))
		}
		if len(asked) > 3 { // the page itself, and one place at either end
			t.Errorf("%s: %d pages are read: %v", name, len(asked), asked)
		}
	}
}

// TestNothingIsReadUnasked makes connections of which little is asked.
func TestNothingIsReadUnasked(t *testing.T) {
	t.Parallel()
	var loaded, counted int
	size := 2
	c := model.NewConnection("Book", pageOf(t, model.PageArgs{First: &size}),
		func(_ context.Context, p *model.Page) ([]*model.Book, error) {
			loaded++
			return read(rows(1, 2, 3), p), nil
		},
		func(context.Context, model.Selection) (int, error) {
			counted++
			return 3, nil
		}, nil)
	if loaded+counted != 0 {
		t.Error("something is read before it is asked for")
	}
	if _, err := c.TotalCount(t.Context()); err != nil || loaded != 0 || counted != 1 {
		t.Errorf("totalCount reads %d pages and counts %d times: %v", loaded, counted, err)
	}
	look(t, c)
	if loaded != 1 || counted != 2 {
		t.Errorf("a forward page is read %d times", loaded)
	}
}

// TestLoadFails wants the error of a load from everything that needs the page.
func TestLoadFails(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	fail := func(load func(context.Context, *model.Page) ([]*model.Book, error)) *model.BookConnection {
		return model.NewConnection("Book", pageOf(t, model.PageArgs{}), load, func(context.Context, model.Selection) (int, error) { return 0, mine }, nil)
	}
	c := fail(func(context.Context, *model.Page) ([]*model.Book, error) { return nil, mine })
	_, nodes := c.Nodes(t.Context())
	_, edges := c.Edges(t.Context())
	_, info := c.PageInfo(t.Context())
	_, total := c.TotalCount(t.Context())
	for name, err := range map[string]error{"nodes": nodes, "edges": edges, "pageInfo": info, "totalCount": total} {
		if !errors.Is(err, mine) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// Where it panics, who asks next must not take the page for an empty one.
	c = fail(func(context.Context, *model.Page) ([]*model.Book, error) { panic("as the test wants") })
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Nodes(t.Context())
	}()
	if nodes, err := c.Nodes(t.Context()); err == nil {
		t.Errorf("after a panic the page is %v", nodes)
	}
}

// TestWalk goes through lists page by page, forward and backward.
func TestWalk(t *testing.T) {
	t.Parallel()
	list := rows(1, 2, 5, 6, 7, 11, 12, 20, 33)
	for size := 1; size <= len(list)+1; size++ {
		for _, backward := range []bool{false, true} {
			var seen []*model.Book
			args := model.PageArgs{First: &size}
			if backward {
				args = model.PageArgs{Last: &size}
			}
			for more := true; more; {
				c := connect(t, list, args)
				nodes, err := c.Nodes(t.Context())
				info, infoErr := c.PageInfo(t.Context())
				must(t, errors.Join(err, infoErr))
				if backward {
					seen = append(slices.Clone(nodes), seen...)
					args.Before = info.StartCursor
					more, err = info.HasPreviousPage(t.Context())
				} else {
					seen = append(seen, nodes...)
					args.After = info.EndCursor
					more, err = info.HasNextPage(t.Context())
				}
				must(t, err)
			}
			if diff := cmp.Diff(list, seen); diff != "" {
				t.Errorf("by %d, backward %t (-want +got):\n%s", size, backward, diff)
			}
		}
	}
}

func TestPageArgsAreRefused(t *testing.T) {
	t.Parallel()
	n := func(n int) *int { return &n }
	s := func(s string) *string { return &s }
	mine := *cursor(t, 12)
	raw, err := base64.RawURLEncoding.DecodeString(mine)
	must(t, err)
	spelled := func(raw []byte) *string { return s(base64.RawURLEncoding.EncodeToString(raw)) }
	foreign := map[string]*string{
		"empty":              s(""),
		"garbage":            s("not a cursor!"),
		"a number":           s("12"),
		"of another type":    nil,
		"cut":                s(mine[:len(mine)-1]),
		"longer":             spelled(append(slices.Clone(raw), 0)),
		"hash alone":         spelled(raw[:4]),
		"another hash":       spelled(append([]byte{raw[0] ^ 1}, raw[1:]...)),
		"no row":             spelled(append(slices.Clone(raw[:4]), 0)),
		"id too long":        spelled(append(slices.Clone(raw[:4]), 0x8c, 0)), // 12 in two bytes
		"id past int64":      spelled(append(slices.Clone(raw[:4]), slices.Repeat([]byte{0xff}, 9)...)),
		"id past uint64":     spelled(append(slices.Clone(raw[:4]), slices.Repeat([]byte{0xff}, 20)...)),
		"padded":             s(base64.URLEncoding.EncodeToString(raw)),
		"with a line break":  s(mine[:3] + "\n" + mine[3:]),
		"other ending bits":  s(mine[:len(mine)-1] + string(mine[len(mine)-1]+1)),
		"a million of bytes": s(strings.Repeat("A", 1_000_000)),
		"a node's id":        s((&model.Book{ID: 12}).NodeID()),
		"not in ASCII":       s("Ünïcödé"),
	}
	genres := model.NewConnection[*model.Genre]("Genre", pageOf(t, model.PageArgs{}), nil, nil, nil)
	foreign["of another type"] = s(genres.Cursor(&model.Genre{ID: 12}))
	type refused struct {
		args           model.PageArgs
		field, message string
	}
	refusals := map[string]refused{
		"first and last":        {model.PageArgs{First: n(1), Last: n(1)}, "last", "Give first or last, not both."},
		"first and last of 0":   {model.PageArgs{First: n(0), Last: n(0)}, "last", "Give first or last, not both."},
		"negative first":        {model.PageArgs{First: n(-1)}, "first", "The first argument must be between 0 and 1000."},
		"first over 1000":       {model.PageArgs{First: n(1001)}, "first", "The first argument must be between 0 and 1000."},
		"first past all bounds": {model.PageArgs{First: n(math.MaxInt)}, "first", "The first argument must be between 0 and 1000."},
		"negative last":         {model.PageArgs{Last: n(math.MinInt)}, "last", "The last argument must be between 0 and 1000."},
		"last over 1000":        {model.PageArgs{Last: n(1001)}, "last", "The last argument must be between 0 and 1000."},
		"negative offset":       {model.PageArgs{Offset: n(-1)}, "offset", "The offset argument must be at least 0."},
	}
	for name, c := range foreign {
		refusals["after "+name] = refused{model.PageArgs{After: c}, "after", "The after argument must be a cursor that this list gave."}
		refusals["before "+name] = refused{model.PageArgs{Before: c}, "before", "The before argument must be a cursor that this list gave."}
	}
	for name, r := range refusals {
		_, err := r.args.Page("Book")
		if !model.IsCode(err, model.BadUserInput) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := model.FieldErrors{{Field: r.field, Message: r.message}}
		if diff := cmp.Diff(want, model.AsError(err).Fields, cmpopts.IgnoreFields(model.FieldError{}, "Format")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, args := range map[string]model.PageArgs{
		"nothing": {}, "first 0": {First: n(0)}, "first 1000": {First: n(1000)}, "last 1000": {Last: n(1000)},
		"offset": {Offset: n(math.MaxInt)}, "the last cursor there is": {After: cursor(t, math.MaxInt64)},
	} {
		if _, err := args.Page("Book"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("AAAAAAw")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := model.PageArgs{After: &text}.Page("Book")
		if err != nil {
			if !model.IsCode(err, model.BadUserInput) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if p.After.ID < 1 || *cursor(t, p.After.ID) != text {
			t.Errorf("%q is taken for the cursor of %d, which is %q", text, p.After.ID, *cursor(t, p.After.ID))
		}
	})
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
