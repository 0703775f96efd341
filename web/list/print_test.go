package list

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/web/view"
)

// TestWidths gives columns to print the share of their texts. One long text does not count more than a line.
func TestWidths(t *testing.T) {
	t.Parallel()
	book := func(name, author, genre int) *row {
		text := func(n int) string { return strings.Repeat("é", n) }
		return &row{Name: text(name), Author: text(author), Genre: view.Named{Name: text(genre)}}
	}
	many := func(b *row) []*row { return slices.Repeat([]*row{b}, 100) }
	for name, tt := range map[string]struct {
		books []*row
		want  [3]int
	}{
		"alike":         {many(book(20, 20, 20)), [3]int{30, 30, 30}},
		"long names":    {many(book(40, 20, 20)), [3]int{45, 23, 23}},
		"long authors":  {many(book(20, 40, 20)), [3]int{23, 45, 23}},
		"one long list": {append(many(book(20, 20, 20)), book(20, 1000, 20)), [3]int{30, 31, 30}},
		"an ISBN":       {append(many(book(20, 20, 20)), &row{ISBN: "9783161484100"}), [3]int{26, 26, 26}},
		"a shelf mark":  {append(many(book(20, 20, 20)), &row{ShelfMark: "QA 76"}), [3]int{26, 26, 26}},
		"none":          {nil, [3]int{30, 30, 30}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, (&printView{Books: tt.books}).Widths()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
