package bookfile

import (
	"encoding/csv"
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
			want := map[string]string{"name": name, "pages": "7", "published_at": "2000-01-02", "author": "a", "price": "19.99", "genre": name, "category": "c"}
			for i, field := range model.ImportFields {
				if err != nil || got[i] != want[field] {
					t.Errorf("%q: %s of %q, %v", cell, field, got, err)
				}
			}
		}
	}
}
