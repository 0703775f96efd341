package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// matrixGoal is within what a page of 50 is to be there, whatever it is narrowed
// by and in whatever order.
const matrixGoal = 20 * time.Millisecond

// filterOf is a filter of one operator of one field.
type filterOf struct {
	field, operator string
	operand         any
	at              []string // the edges that lead to the field
}

func (f filterOf) value() any {
	var v any = map[string]any{f.field: map[string]any{f.operator: f.operand}}
	for _, edge := range slices.Backward(f.at) {
		v = map[string]any{edge: v}
	}
	return v
}

// filters are all operators of all fields of a book, and of a genre's and a
// category's name, each with operands that no row fulfils, few, many and all.
func filters() (all []filterOf) {
	add := func(operator string, operand any, field string, at ...string) {
		all = append(all, filterOf{field, operator, operand, at})
	}
	// Points on the way from below all values to above them.
	numbers := func(from, to int, text bool) (points, many []any) {
		write := func(n int) any {
			if text {
				return fmt.Sprint(n)
			}
			return n
		}
		for i := range 2000 {
			many = append(many, write(from+i*max(1, (to-from)/2000)))
		}
		for _, n := range []int{from - 1, from, from + (to-from)/1000, (from + to) / 2, to - (to-from)/1000, to, to + 1} {
			points = append(points, write(n))
		}
		return points, many
	}
	days := func(write func(time.Time) string, from, to time.Time) (points, many []any) {
		for i := range 2000 {
			many = append(many, write(from.Add(to.Sub(from)*time.Duration(i)/2000).Truncate(time.Second)))
		}
		for _, part := range []float64{-0.01, 0, 0.001, 0.5, 0.999, 1, 1.01} {
			points = append(points, write(from.Add(time.Duration(float64(to.Sub(from))*part)).Truncate(time.Second)))
		}
		return points, many
	}
	compared := func(points, many []any, field string, at ...string) {
		for _, operator := range []string{"eq", "neq", "gt", "gte", "lt", "lte"} {
			for _, point := range points {
				add(operator, point, field, at...)
			}
		}
		for _, operator := range []string{"in", "notIn"} {
			for _, n := range []int{0, 1, 20, 2000} {
				add(operator, many[:min(n, len(many))], field, at...)
			}
		}
		add("isNull", true, field, at...)
		add("isNull", false, field, at...)
	}
	texts := func(points, parts []string, field string, at ...string) {
		var operands []any
		for _, text := range points {
			operands = append(operands, text)
		}
		compared(operands, operands, field, at...)
		for _, operator := range []string{"contains", "icontains", "startsWith", "istartsWith", "endsWith", "iendsWith"} {
			for _, part := range parts {
				add(operator, part, field, at...)
			}
		}
	}
	date := func(t time.Time) string { return t.Format(time.DateOnly) }
	moment := func(t time.Time) string { return t.Format(time.RFC3339) }
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	const span = seededBooks * time.Second

	points, many := numbers(1, seededBooks, true)
	compared(points, many, "id")
	points, many = numbers(50, 999, false)
	compared(points, many, "pages")
	points, many = numbers(1, seededGenres, true)
	compared(points, many, "genreId")
	compared(points, many, "categoryId", "genre")
	points, many = numbers(0, 99, true)
	compared(points, many, "price")
	points, many = days(date, day(1950, 1, 1), day(1950, 1, 1).AddDate(0, 0, 27_000))
	compared(points, many, "publishedAt")
	points, many = days(moment, day(2024, 1, 1), day(2024, 1, 1).Add(span))
	compared(points, many, "createdAt")
	points, many = days(moment, day(2024, 6, 1), day(2024, 6, 1).Add(span))
	compared(points, many, "updatedAt")

	none := []string{"zzz yyy", "zq", "#", "??", "BOOK", "É", ""}
	texts([]string{"A", `Book "1" of the shelf 1`, `Book "5"`, `Book "51234" of the shelf 430`, `Book "99998" of the shelf 344`, "Z"},
		append([]string{"Book", "o", `"512`, `"51234"`, "97", "f 97", "shelf 976", "7", "9\" of the"}, none...), "name")
	texts([]string{"A", "Author 1", "Author 3", "Author 2500", "Author 4999", "Z"},
		append([]string{"Author", "o", "r 2", "Author 2500", "250", "25", "7", "author 9"}, none...), "author")
	texts([]string{"0", "0001", "8", "fff", "z"},
		append([]string{"lorem", "o", "b1", "b1f", "b1f0", "a", "ff0a", " — "}, none...), "description")
	texts([]string{"A", "Genre 1", "Genre 200", "Z"}, append([]string{"Genre", "re 2", "200", "7"}, none...), "name", "genre")
	texts([]string{"A", "Category 1", "Category 7", "Z"}, append([]string{"Category", "ry 1", "7"}, none...), "name", "genre", "category")
	return all
}

// orders are all orders by one field.
func orders() (all [][]map[string]string) {
	for _, field := range []string{"ID", "NAME", "AUTHOR", "PAGES", "PUBLISHED_AT", "PRICE", "CREATED_AT", "UPDATED_AT", "GENRE_NAME", "CATEGORY_NAME"} {
		for _, direction := range []string{"ASC", "DESC"} {
			all = append(all, []map[string]string{{"field": field, "direction": direction}})
		}
	}
	return all
}

// cell is one page that was asked for.
type cell struct {
	operator, operand, order string
	deep                     bool // the page after 90,000 rows of the whole list
	p50                      time.Duration
}

const (
	matrixQuery = `query ($filter: BookFilter, $orderBy: [BookOrder!], $after: String) { books(first: 50, filter: $filter, orderBy: $orderBy, after: $after) {` +
		` nodes { id name author price genre { name } } pageInfo { endCursor hasNextPage } } }`
	offsetQuery = `query ($orderBy: [BookOrder!]) { books(first: 1, offset: 89999, orderBy: $orderBy) { pageInfo { endCursor } } }`
)

// matrix asks the service for pages on one connection, and prints which were slow.
func (b *bench) matrix(ctx context.Context) error {
	cells, err := matrixOf(ctx, b.service, filters(), orders())
	if err != nil {
		return err
	}
	writeMatrix(os.Stdout, cells)
	return nil
}

// matrixOf asks for a page by each filter in every order, the first and a deep one.
func matrixOf(ctx context.Context, server *process, filters []filterOf, orders [][]map[string]string) (cells []cell, err error) {
	c, err := dial(ctx, server.address, time.Now().Add(time.Hour))
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	ask := func(query string, variables map[string]any) ([]byte, time.Duration, error) {
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			return nil, 0, err
		}
		q := &request{method: "POST", path: template{{text: "/graphql"}}, header: "Cache-Control: no-cache\r\n", body: template{{text: string(body)}}}
		sent, _ := q.append(nil, nil, nil)
		begin := time.Now()
		a, err := c.do(sent)
		took := time.Since(begin)
		if err == nil {
			err = q.check(a)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", body[:min(len(body), 2000)], err)
		}
		return a.body, took, err
	}
	median := func(variables map[string]any, times int, took []time.Duration) ([]time.Duration, error) {
		for range times {
			_, t, err := ask(matrixQuery, variables)
			if err != nil {
				return nil, err
			}
			took = append(took, t)
		}
		return took, nil
	}
	for _, order := range orders {
		name := order[0]["field"] + " " + order[0]["direction"]
		text, _, err := ask(offsetQuery, map[string]any{"orderBy": order})
		if err != nil {
			return nil, err
		}
		var place struct {
			Data struct {
				Books struct{ PageInfo struct{ EndCursor string } }
			}
		}
		if err := json.Unmarshal(text, &place); err != nil {
			return nil, err
		}
		for _, f := range filters {
			for _, deep := range []bool{false, true} {
				variables := map[string]any{"filter": f.value(), "orderBy": order}
				if deep {
					variables["after"] = place.Data.Books.PageInfo.EndCursor
				}
				took, err := median(variables, 3, nil)
				if err == nil && quantile(took, 0.5) > matrixGoal/2 { // look again at what may be slow
					took, err = median(variables, 4, took)
				}
				if err != nil {
					return nil, err
				}
				operand, _ := json.Marshal(f.operand)
				path := strings.Join(append(slices.Clone(f.at), f.field, f.operator), ".")
				cells = append(cells, cell{path, fmt.Sprintf("%.40s", operand), name, deep, quantile(took, 0.5)})
			}
		}
		progress("in order of %s: %d of %d pages so far within %v", name, within20(cells), len(cells), matrixGoal)
	}
	return cells, nil
}

func within20(cells []cell) (n int) {
	for _, c := range cells {
		if c.p50 <= matrixGoal {
			n++
		}
	}
	return n
}

// operatorsOf gives for each operator, in each order and on each page, the median
// of the pages with its operands.
func operatorsOf(cells []cell) (operators []cell) {
	took := map[cell][]time.Duration{}
	for _, c := range cells {
		of := cell{operator: c.operator, order: c.order, deep: c.deep}
		took[of] = append(took[of], c.p50)
	}
	for c, took := range took {
		c.p50 = quantile(took, 0.5)
		operators = append(operators, c)
	}
	return operators
}

// writeMatrix writes how many pages were there in time, and the slowest: by
// operator, and by operator and operand.
func writeMatrix(w io.Writer, cells []cell) {
	slices.SortFunc(cells, slowestFirst)
	operators := operatorsOf(cells)
	slices.SortFunc(operators, slowestFirst)
	at := func(part float64) float64 {
		return milliseconds(cells[int(math.Ceil((1-part)*float64(len(cells)-1)))].p50)
	}
	fmt.Fprintf(w, "Pages of 50 of %d books, by one operator of one field in one order: %d of %d have a p50 within %v, that of all operands.\n",
		seededBooks, within20(operators), len(operators), matrixGoal)
	fmt.Fprintf(w, "With each operand by itself: %d of %d; of these medians the middle one is %.2f ms, and 99 of 100 are within %.2f ms.\n",
		within20(cells), len(cells), at(0.5), at(0.99))
	writeSlowest(w, operators[:min(5, len(operators))])
	writeSlowest(w, cells[:min(15, len(cells))])
}

// slowestFirst compares cells for an order that begins with the slowest.
func slowestFirst(a, b cell) int {
	return cmp.Or(cmp.Compare(b.p50, a.p50), strings.Compare(a.operator, b.operator), strings.Compare(a.order, b.order))
}

func writeSlowest(w io.Writer, cells []cell) {
	fmt.Fprintln(w, "\n| the slowest | in order of | page | p50 ms |\n|---|---|---|---:|")
	for _, c := range cells {
		page := "first"
		if c.deep {
			page = "after 90,000"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %.2f |\n", strings.TrimSpace(c.operator+" "+c.operand), c.order, page, milliseconds(c.p50))
	}
}
