// Package facetcount has facets and figures of books as the row counts of the values of columns, which are read once
// for all of them, and brought forward by the rows that changed.
package facetcount

import (
	"cmp"
	"maps"
	"slices"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// The counted columns of books. Day is a date, and year its year.
const (
	Genre     = "genre_id"
	Author    = "author"
	Person    = "person" // authors by identity
	Publisher = "publisher"
	language  = "language"
	year      = "year"
	day       = "published_at"
	price     = "price_cents"
	pages     = "pages"
)

// SQL returns the expression of a column of books r.
func SQL(d *dialect.Dialect, column string) string {
	switch column {
	case Person:
		column = Author
	case year:
		return d.Year("r." + day)
	case day:
		return "CAST(r." + day + " AS text)"
	}
	return "r." + column
}

var keyColumns = map[model.GroupKey]string{
	model.ByGenre: Genre, model.ByCategory: Genre, model.ByAuthor: Author, model.ByPerson: Person, model.ByYear: year,
	model.ByPublisher: Publisher, model.ByLanguage: language, model.ByPriceRange: price,
}

var figureColumns = []struct {
	figures model.Aggregates
	column  string
}{
	{model.PriceMin | model.PriceMax | model.PriceAvg | model.PriceSum, price},
	{model.PagesMin | model.PagesMax | model.PagesAvg | model.PagesSum, pages},
	{model.PublishedAtMin | model.PublishedAtMax, day},
}

// Supports reports whether this package can compute a grouping: row counts by one key, or figures
// over all rows.
func Supports(g *model.Grouping) bool {
	switch {
	case len(g.By) > 1, len(g.By) == 1 && g.Aggregates != model.RowCount, g.Having != nil, g.Offset > 0:
		return false
	case len(g.Order) > 0 && !slices.Equal(g.Order, []model.GroupOrder{{Field: "count", Descending: true}}):
		return false
	}
	return len(Columns(g)) > 0
}

// Columns returns the columns that a grouping needs.
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

// Counts count rows by the values of columns.
type Counts struct {
	rows    int
	names   []string
	columns []*values
	byName  map[string]*values
}

// Names are the names of a genre and of its category.
type Names struct {
	Genre, Category string
	CategoryID      int64
}

// values are row counts by value: either numbers or texts, or persons in place of texts once the column Person was
// read.
type values struct {
	numbers map[int64]int
	texts   map[string]int
	persons map[string]*person // by identity
}

// New returns empty Counts.
func New(columns []string) *Counts {
	c := &Counts{byName: map[string]*values{}}
	for _, name := range columns {
		c.put(name, &values{numbers: map[int64]int{}, texts: map[string]int{}})
	}
	return c
}

func (c *Counts) put(name string, v *values) {
	c.names, c.columns, c.byName[name] = append(c.names, name), append(c.columns, v), v
}

// Add counts a row. Each column is an int64 or a string; nil is not counted.
func (c *Counts) Add(row []any) {
	c.rows++
	for i, value := range row {
		c.columns[i].add(value, 1)
	}
}

// AddRows counts n rows with a value in the one column, or n rows if there is none.
func (c *Counts) AddRows(n int, value any) {
	c.rows += n
	for _, v := range c.columns {
		v.add(value, n)
	}
}

// Join adds the columns of counts of the same rows.
func (c *Counts) Join(others *Counts) {
	c.rows = others.rows
	for i, name := range others.names {
		c.put(name, others.columns[i])
	}
}

// Rows returns the number of rows.
func (c *Counts) Rows() int { return c.rows }

// add adds n to the rows of a value. A value without rows is none.
func (v *values) add(value any, n int) {
	switch value := value.(type) {
	case int64:
		if v.numbers[value] += n; n < 0 && v.numbers[value] == 0 {
			delete(v.numbers, value)
		}
	case string:
		if v.persons != nil {
			v.addPerson(value, n)
		} else if v.texts[value] += n; n < 0 && v.texts[value] == 0 {
			delete(v.texts, value)
		}
	}
}

// Groups returns the groups of a grouping with the counted Columns. genres are by id; they are read if Genre is one of
// the columns.
func (c *Counts) Groups(g *model.Grouping, genres map[int64]Names) []*model.BookGroup {
	if len(g.By) == 0 {
		return []*model.BookGroup{{Aggregate: c.aggregate()}}
	}
	key := g.By[0]
	counted, names := c.byName[keyColumns[key]], map[int64]string{}
	switch key {
	case model.ByGenre:
		for id, n := range genres {
			names[id] = n.Genre
		}
	case model.ByCategory:
		counted = counted.by(func(genre int64) int64 { return genres[genre].CategoryID })
		for _, n := range genres {
			names[n.CategoryID] = n.Category
		}
	case model.ByPriceRange:
		counted = counted.by(func(price int64) int64 {
			bounds, _ := slices.BinarySearch(g.Bounds, model.Cents(price+1))
			return int64(bounds)
		})
	}
	if key == model.ByPerson && counted.persons == nil {
		counted.group()
	}
	if g.OnlyCount {
		all := len(counted.numbers) + len(counted.texts)
		return []*model.BookGroup{{Aggregate: model.Aggregate{Count: all}}}
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
		case model.ByPerson:
			groups[i].Author, groups[i].Forms = &v.text, v.forms
		case model.ByPublisher:
			groups[i].Publisher = &v.text
		case model.ByLanguage:
			groups[i].Language = &v.text
		case model.ByYear:
			groups[i].Year = new(int(v.number))
		case model.ByPriceRange:
			groups[i].PriceRange = int(v.number)
		}
	}
	return groups
}

// value is a value with its row count.
type value struct {
	rows   int
	name   string // sort key of its name
	number int64
	text   string
	forms  []string // forms of a person's name; text is the first
}

// first returns the first values by name, or by descending row count.
func (v *values) first(names map[int64]string, mostFirst bool, limit int) (all []value) {
	fewest := 0 // least row count of the values to sort
	if mostFirst {
		fewest = v.fewest(limit)
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
	for _, p := range v.persons {
		if p.rows >= fewest {
			forms := p.all()
			all = append(all, value{rows: p.rows, name: collate.SortKey(forms[0]), text: forms[0], forms: forms})
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

// fewest returns the least of the greatest row counts, limit of them at most, or 0 if there are no more values.
func (v *values) fewest(limit int) int {
	var greatest []int // ascending
	add := func(n int) {
		if len(greatest) == limit && (limit == 0 || n <= greatest[0]) {
			return
		}
		i, _ := slices.BinarySearch(greatest, n)
		if len(greatest) < limit {
			greatest = slices.Insert(greatest, i, n)
			return
		}
		copy(greatest, greatest[1:i])
		greatest[i-1] = n
	}
	for _, n := range v.numbers {
		add(n)
	}
	for _, n := range v.texts {
		add(n)
	}
	for _, p := range v.persons {
		add(p.rows)
	}
	if limit == 0 || len(greatest) < limit {
		return 0
	}
	return greatest[0]
}

// by groups the counts by of(number).
func (v *values) by(of func(int64) int64) *values {
	counts := map[int64]int{}
	for number, n := range v.numbers {
		counts[of(number)] += n
	}
	return &values{numbers: counts}
}

// aggregate returns the figures of the counted columns. Averages are rounded half up.
func (c *Counts) aggregate() (a model.Aggregate) {
	a.Count = c.rows
	n := int64(c.rows)
	if n == 0 {
		return a
	}
	if prices := c.byName[price]; prices != nil {
		low, high, sum := prices.span()
		a.Price = model.DecimalAggregate{Min: new(model.Cents(low)), Max: new(model.Cents(high)),
			Avg: new(model.Cents((sum + n/2) / n)), Sum: model.Cents(sum)}
	}
	if lengths := c.byName[pages]; lengths != nil {
		low, high, sum := lengths.span()
		a.Pages = model.IntAggregate{Min: new(int(low)), Max: new(int(high)),
			Avg: new(model.Cents((100*sum + n/2) / n)), Sum: model.BigInt(sum)}
	}
	if days := c.byName[day]; days != nil {
		texts := slices.Sorted(maps.Keys(days.texts))
		first, _ := model.ParseDate(texts[0])
		last, _ := model.ParseDate(texts[len(texts)-1])
		a.PublishedAt = model.DateAggregate{Min: &first, Max: &last}
	}
	return a
}

// span returns the least and greatest number and the sum. There must be a number.
func (v *values) span() (low, high, sum int64) {
	numbers := slices.Sorted(maps.Keys(v.numbers))
	for number, n := range v.numbers {
		sum += number * int64(n)
	}
	return numbers[0], numbers[len(numbers)-1], sum
}
