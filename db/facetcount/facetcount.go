// Package facetcount counts the facets and figures of books in one pass over their columns,
// for an engine that would put all rows in order for each of them instead.
package facetcount

import (
	"cmp"
	"maps"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// The columns of books r whose values are counted, as SQLite's SQL. The year is the
// number that a date begins with.
const (
	Genre  = "r.genre_id"
	author = "r.author"
	year   = "CAST(r.published_at AS integer)"
	day    = "r.published_at"
	price  = "r.price_cents"
	pages  = "r.pages"
)

var keyColumns = map[model.GroupKey]string{
	model.ByGenre: Genre, model.ByCategory: Genre, model.ByAuthor: author, model.ByYear: year, model.ByPriceRange: price,
}

var figureColumns = []struct {
	figures model.Aggregates
	column  string
}{
	{model.PriceMin | model.PriceMax | model.PriceAvg | model.PriceSum, price},
	{model.PagesMin | model.PagesMax | model.PagesAvg | model.PagesSum, pages},
	{model.PublishedAtMin | model.PublishedAtMax, day},
}

// Supports reports whether a grouping can be made by counting: it is by one key, and asks
// for the numbers of rows, or for figures over all.
func Supports(g *model.Grouping) bool {
	switch {
	case len(g.By) > 1, len(g.By) == 1 && g.Aggregates != model.RowCount, g.Having != nil, g.Offset > 0:
		return false
	case len(g.Order) > 0 && !slices.Equal(g.Order, []model.GroupOrder{{Field: "count", Descending: true}}):
		return false
	}
	return len(Columns(g)) > 0
}

// Columns returns the columns whose values a grouping counts.
func Columns(g *model.Grouping) (columns []string) {
	for _, key := range g.By {
		columns = append(columns, keyColumns[key])
	}
	for _, f := range figureColumns {
		if g.Aggregates&f.figures != 0 {
			columns = append(columns, f.column)
		}
	}
	return columns
}

// Counts are how many rows have each value of some columns.
type Counts struct {
	Names map[int64]Names // of all genres, by id, where Genre is among the columns

	rows    int
	columns []*values
	byName  map[string]*values
}

// Names are the names of a genre and of its category.
type Names struct {
	Genre, Category string
	CategoryID      int64
}

// values are numbers of rows by values, of which either are in use.
type values struct {
	numbers map[int64]int
	texts   map[string]int
}

// New returns counts of no rows.
func New(columns []string) *Counts {
	c := &Counts{byName: map[string]*values{}}
	for _, name := range columns {
		v := &values{map[int64]int{}, map[string]int{}}
		c.columns, c.byName[name] = append(c.columns, v), v
	}
	return c
}

// Add counts a row by its columns, each an int64 or a string.
func (c *Counts) Add(row []any) {
	c.rows++
	for i, value := range row {
		switch value := value.(type) {
		case int64:
			c.columns[i].numbers[value]++
		case string:
			c.columns[i].texts[value]++
		}
	}
}

// Groups returns the groups by a grouping whose Columns were counted.
func (c *Counts) Groups(g *model.Grouping) []*model.BookGroup {
	if len(g.By) == 0 {
		return []*model.BookGroup{{Aggregate: c.aggregate()}}
	}
	key := g.By[0]
	counted, names := c.byName[keyColumns[key]], map[int64]string{}
	switch key {
	case model.ByGenre:
		for id, n := range c.Names {
			names[id] = n.Genre
		}
	case model.ByCategory:
		counted = counted.by(func(genre int64) int64 { return c.Names[genre].CategoryID })
		for _, n := range c.Names {
			names[n.CategoryID] = n.Category
		}
	case model.ByPriceRange:
		counted = counted.by(func(price int64) int64 {
			bounds, _ := slices.BinarySearch(g.Bounds, model.Cents(price+1))
			return int64(bounds)
		})
	}
	first := counted.first(names, len(g.Order) > 0, g.Limit)
	groups := make([]*model.BookGroup, len(first))
	for i, v := range first {
		groups[i] = &model.BookGroup{Aggregate: model.Aggregate{Count: v.rows}}
		switch key {
		case model.ByGenre:
			groups[i].GenreID = model.ID(v.number)
		case model.ByCategory:
			groups[i].CategoryID = model.ID(v.number)
		case model.ByAuthor:
			groups[i].Author = &v.text
		case model.ByYear:
			groups[i].Year = new(int(v.number))
		case model.ByPriceRange:
			groups[i].PriceRange = int(v.number)
		}
	}
	return groups
}

// value is a value, which is a number or a text, and how many rows have it.
type value struct {
	rows   int
	name   string // its SortKey
	number int64
	text   string
}

// first returns the first values in order of their names, or with most rows first.
func (v *values) first(names map[int64]string, mostFirst bool, limit int) (all []value) {
	rows := slices.AppendSeq(slices.Collect(maps.Values(v.numbers)), maps.Values(v.texts))
	fewest := 0 // rows that one of the first may have
	if mostFirst && 0 < limit && limit < len(rows) {
		slices.Sort(rows)
		fewest = rows[len(rows)-limit]
	}
	for number, n := range v.numbers {
		if n >= fewest {
			all = append(all, value{rows: n, name: collate.SortKey(names[number]), number: number})
		}
	}
	for text, n := range v.texts {
		if n >= fewest {
			all = append(all, value{rows: n, name: collate.SortKey(text), text: text})
		}
	}
	slices.SortFunc(all, func(a, b value) int {
		most := 0
		if mostFirst {
			most = cmp.Compare(b.rows, a.rows)
		}
		return cmp.Or(most, cmp.Compare(a.name, b.name), cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
	})
	return all[:min(len(all), limit)]
}

// by returns the counts by what of returns of each number.
func (v *values) by(of func(int64) int64) *values {
	counts := map[int64]int{}
	for number, n := range v.numbers {
		counts[of(number)] += n
	}
	return &values{numbers: counts}
}

// aggregate returns the figures over the columns that were counted. Averages are
// rounded half up.
func (c *Counts) aggregate() (a model.Aggregate) {
	a.Count = c.rows
	n := int64(c.rows)
	if n == 0 {
		return a
	}
	if prices := c.byName[price]; prices != nil {
		low, high, sum := prices.span()
		a.Price = model.DecimalAggregate{Min: new(model.Cents(low)), Max: new(model.Cents(high)), Avg: new(model.Cents((sum + n/2) / n)), Sum: model.Cents(sum)}
	}
	if lengths := c.byName[pages]; lengths != nil {
		low, high, sum := lengths.span()
		a.Pages = model.IntAggregate{Min: new(int(low)), Max: new(int(high)), Avg: new(model.Cents((100*sum + n/2) / n)), Sum: model.BigInt(sum)}
	}
	if days := c.byName[day]; days != nil {
		texts := slices.Sorted(maps.Keys(days.texts))
		first, _ := model.ParseDate(texts[0])
		last, _ := model.ParseDate(texts[len(texts)-1])
		a.PublishedAt = model.DateAggregate{Min: &first, Max: &last}
	}
	return a
}

// span returns the lowest and the highest of numbers, of which there is one at least,
// and their sum.
func (v *values) span() (low, high, sum int64) {
	numbers := slices.Sorted(maps.Keys(v.numbers))
	for number, n := range v.numbers {
		sum += number * int64(n)
	}
	return numbers[0], numbers[len(numbers)-1], sum
}
