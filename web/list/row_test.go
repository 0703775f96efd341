package list

import (
	"slices"
	"testing"
)

// TestHits marks the words that a search found, in the form that the text has.
func TestHits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, search, want string }{
		{"The Stars My Destination", "STAR des", "The [Stars] My [Destination]"},
		{"You’ll see Émile’s", "youll emile", "[You’ll] see [Émile’s]"},
		{"Wi-Fi and Sci-Fi", "wifi", "[Wi-Fi] and Sci-Fi"},
		{"Wi-Fi and Sci-Fi", "fi", "Wi-[Fi] and Sci-[Fi]"},
		{"Co\u00adope\u00adration, ＵＳＢ", "cooperation usb", "[Co\u00adope\u00adration], [ＵＳＢ]"},
		{"אֶרֶץ אֲחֶרֶת", "ארץ", "[אֶרֶץ] אֲחֶרֶת"},
		{"Dune", "?", "Dune"},
	} {
		got := ""
		for _, part := range hits(c.text, c.search) {
			if part.Hit {
				got += "[" + part.Text + "]"
			} else {
				got += part.Text
			}
		}
		if got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.search, c.text, got, c.want)
		}
	}
}

// TestShowMarks tells copies of a book apart, and no other books.
func TestShowMarks(t *testing.T) {
	t.Parallel()
	books := []*row{{Name: "Emma", Author: "A", ShelfMark: "E 1"}, {Name: "Emma", Author: "B", ShelfMark: "E 2"}, {Name: "Emma", Author: "A", ShelfMark: "E 3"}, {Name: "Emma", Author: "A"}}
	showMarks(books)
	var marks []string
	for _, b := range books {
		marks = append(marks, b.ShelfMark)
	}
	if want := []string{"E 1", "", "E 3", ""}; !slices.Equal(marks, want) {
		t.Errorf("%q", marks)
	}
}
