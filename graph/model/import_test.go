package model

import (
	"slices"
	"testing"
)

// TestMeant finds the books that a row may mean. Its ISBN and then its shelf mark tell several apart.
func TestMeant(t *testing.T) {
	t.Parallel()
	stored := []BookKey{{"a", "x", "", "", ""}, {"a", "x", "1", "m", ""}, {"a", "x", "1", "", ""}, {"a", "x", "2", "", ""}, {"a", "y", "", "n", ""}, {"b", "x", "1", "", ""},
		{"d", "x", "", "", "d: s"}, {"e: s", "x", "", "", ""}, {"e", "x", "7", "", "e: t"}}
	for _, test := range []struct {
		row  BookKey
		want []int // of stored
	}{
		{BookKey{"a", "x", "", "", ""}, []int{0}},
		{BookKey{"a", "x", "1", "", ""}, []int{2}},
		{BookKey{"a", "x", "1", "m", ""}, []int{1}},
		{BookKey{"a", "x", "1", "o", ""}, []int{2}}, // another copy than the one with the mark m
		{BookKey{"a", "z", "2", "", ""}, []int{3}},  // by ISBN
		{BookKey{"a", "x", "3", "", ""}, []int{0}},
		{BookKey{"a", "y", "3", "n", ""}, []int{4}},
		{BookKey{"b", "z", "", "", ""}, nil},
		{BookKey{"c", "x", "1", "", ""}, nil},
		{BookKey{"d", "x", "", "", ""}, []int{6}},
		{BookKey{"d: s", "x", "", "", ""}, []int{6}},
		{BookKey{"d", "x", "", "", "d: s"}, []int{6}},
		{BookKey{"d", "x", "", "", "d: t"}, nil}, // another volume
		{BookKey{"e", "x", "", "", "e: s"}, []int{7}},
		{BookKey{"e", "x", "7", "", "e: u"}, []int{8}}, // by ISBN
	} {
		var got []int
		for _, key := range Meant(test.row, stored, func(k BookKey) BookKey { return k }) {
			got = append(got, slices.Index(stored, key))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.row, got, test.want)
		}
	}
}
