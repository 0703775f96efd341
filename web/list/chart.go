package list

import (
	"slices"
	"strconv"

	"library-catalogue/web/language"
)

// chart is a bar chart of book counts along a scale, in columns of five bars.
type chart struct {
	Columns []column
}

// Filled reports whether the chart has a bar.
func (c chart) Filled() bool {
	return slices.ContainsFunc(c.Columns, func(c column) bool { return len(c.Bars) > 0 })
}

// column is a part of the scale that can be selected.
type column struct {
	Label, Words string // text at the axis, and for screen readers
	URL          string
	Selected     bool
	X            int
	Bars         []bar
}

type bar struct{ X, Y, Height int }

const (
	chartHeight = 56 // pixels, as the width below
	columnWidth = 24
	barsPerPart = 5
	chartParts  = 11
)

// newChart returns the chart of counts, five per column.
func newChart(counts []int, describe func(column int, count int) column) chart {
	highest := max(1, slices.Max(counts))
	var c chart
	for i := range chartParts {
		part := counts[i*barsPerPart : (i+1)*barsPerPart]
		total := 0
		var bars []bar
		for j, n := range part {
			total += n
			if n > 0 {
				height := max(1, n*chartHeight/highest)
				bars = append(bars,
					bar{X: i*columnWidth + j*columnWidth/barsPerPart, Y: chartHeight - height, Height: height})
			}
		}
		column := describe(i, total)
		column.X, column.Bars = i*columnWidth, bars
		if i%2 > 0 {
			column.Label = ""
		}
		c.Columns = append(c.Columns, column)
	}
	return c
}

// yearChart returns a chart with two years per bar and a decade per column. The first bar includes all years before.
func yearChart(in *language.Language, l listing, years []counted) chart {
	latest := 2020
	for _, y := range years {
		if y.Year > latest && y.Year < 2200 { // later years are typing errors
			latest = y.Year
		}
	}
	begin := latest/10*10 - 10*(chartParts-1)
	counts := make([]int, chartParts*barsPerPart)
	for _, y := range years {
		counts[min(max(0, (y.Year-begin)/2), len(counts)-1)] += y.Count
	}
	isChosen := l.Get("from")+l.Get("to") != ""
	from, _ := strconv.Atoi(l.Get("from"))
	to, _ := strconv.Atoi(l.Get("to"))
	return newChart(counts, func(i, count int) column {
		first, last := begin+10*i, begin+10*i+9
		label := strconv.Itoa(first)
		books := in.Plural("%s books", count)
		low, words := label, in.Text("%ds: %s", first, books)
		if i == 0 {
			low, words = "", in.Text("Up to %d: %s", last, books)
		}
		return column{
			Label: label, Words: words,
			URL:      l.with("from", low, "to", strconv.Itoa(last)).URL(),
			Selected: isChosen && from <= last && (to == 0 || to >= first),
		}
	})
}

// priceBounds are the prices between two bars of the price chart.
var priceBounds = func() (bounds []int) {
	for i := 1; i < chartParts*barsPerPart; i++ {
		bounds = append(bounds, i)
	}
	return bounds
}()

// priceChart returns a chart with one unit of price per bar and five per column. The last bar includes higher prices.
func priceChart(in *language.Language, l listing, prices []counted) chart {
	counts := make([]int, chartParts*barsPerPart)
	for i, p := range prices {
		counts[i] = p.Count
	}
	isChosen := l.Get("price_min")+l.Get("price_max") != ""
	low, _ := strconv.ParseFloat(l.Get("price_min"), 64)
	high, err := strconv.ParseFloat(l.Get("price_max"), 64)
	return newChart(counts, func(i, count int) column {
		first := barsPerPart * i
		label, last := strconv.Itoa(first), strconv.Itoa(first+barsPerPart-1)+".99"
		books := in.Plural("%s books", count)
		words := in.Text("%d to %s: %s", first, in.Price(last), books)
		if i == chartParts-1 {
			last, words = "", in.Text("%d and more: %s", first, books)
		}
		return column{
			Label: label, Words: words,
			URL:      l.with("price_min", label, "price_max", last).URL(),
			Selected: isChosen && low < float64(first+barsPerPart) && (err != nil || high >= float64(first)),
		}
	})
}
