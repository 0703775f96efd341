package bookfile

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestFormulas: for a spreadsheet a formula is a text, and a number is a number.
func TestFormulas(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", `=HYPERLINK("http://x")`: `'=HYPERLINK("http://x")`, "+1-1": "'+1-1", "@SUM(1)": "'@SUM(1)", "-2+3": "'-2+3",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "＝1": "'＝1", "-a": "'-a", "--": "'--", "=": "'=",
		"-5": "-5", "+1.5": "+1.5", "-1,000.5": "-1,000.5", "-": "-", "1984": "1984", "a=1": "a=1", " =1": " =1", "'=1": "'=1", "": "", "–5": "–5",
	} {
		book, genre := &model.Book{Name: cell, Author: "a", PublishedAt: model.Date{Year: 2000, Month: 1, Day: 2}, Price: 1999, Pages: 7}, &model.Genre{Name: cell}
		for forSpreadsheet, name := range map[bool]string{true: want, false: cell} {
			got, err := csv.NewReader(strings.NewReader(string(CSV(forSpreadsheet)(nil, book, genre, &model.Category{Name: "c"})))).Read()
			if err != nil || !slices.Equal(got, []string{name, "", "7", "2000-01-02", "a", "19.99", name, "c"}) {
				t.Errorf("%q: %q, %v", cell, got, err)
			}
		}
	}
}
