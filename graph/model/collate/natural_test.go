package collate_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

// TestNaturalOrder has lists in natural order. Texts in one entry differ by what does not count, and follow by their
// folded form.
func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{
		{"", "641/Bet", "641a", "641 Cor", "641.5/Cor", "641.555/Ray", "641.6", "642"},
		{"QA9 .D6", "QA76 .S73", "QA76.73 .A1", "QA76.9 .B2", "QA100", "QB1"},
		{"r 02", "R 2", "R2", "R 010", "R 10", "RA 1", "RA 2"},
		{"PS3545.I345 A6 1998", "PS3545.I345 A6 2003", "PS3545.I345 A65", "PS3545.I345 A7", "PS3545.I4"}, // Cutter numbers
		{"QA76.73.J38 H67", "QA76.73.J38 H7", "QA76.73.J38 v.2", "QA76.73.J38 v.10"},
		{"B 1.10", "B 1.2", "B 1.2.10", "B 1.2.9", "B 2"},
		{"A 0", "A 1", "A 9", "A 12345678", "A 123456789", "A 999999999", "A 9223372036854775808", "A 1" + strings.Repeat("0", 190), "A 2" + strings.Repeat("0", 190)},
		{"v.2", "v.10", "v. 11", "v.100"},
		{"641.5 C9", "641.5 C10"},
		{"641.5", "641.50", "641.500 A", "641.5 B"},
		{"-9", "-10"}, // no minus
		{"رف ٢", "رف ١٠", "رف ۲۰", "रत्न २", "रत्न १०"},
		{"Ｒ２", "R ３", "r 10"},
		{"Fic Zola", "Fic-1", "Fica"},
		{"Été 2", "ete 10"},
	} {
		sorted := slices.Clone(list)
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(sorted), func(i, j int) { sorted[i], sorted[j] = sorted[j], sorted[i] })
		slices.SortFunc(sorted, func(a, b string) int { return cmp.Compare(collate.NaturalKey(a), collate.NaturalKey(b)) })
		if !slices.Equal(sorted, list) {
			t.Errorf("sorted: %q\nwant:   %q", sorted, list)
		}
	}
}

// TestNaturalKey compares texts up to the folded form at the end of their keys.
func TestNaturalKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"R2", "R 2", "r 2", "R  02", "Ｒ２", "R ٢"},
		{"641.5", "641.50", "641 .5", "0641.5"},
		{"QA76.73.S73", "qa 76.73 .s73", "QA76.730 .S730"},
		{"A 0", "A 00"},
	} {
		for _, text := range same {
			first, _, _ := strings.Cut(collate.NaturalKey(same[0]), "\x01")
			if key, folded, _ := strings.Cut(collate.NaturalKey(text), "\x01"); key != first || folded != collate.Fold(text) {
				t.Errorf("NaturalKey(%q) = %q %q, and of %q %q", text, key, folded, same[0], first)
			}
		}
	}
	for _, text := range []string{strings.Repeat("1a", 500), strings.Repeat("ﷺ", 200), strings.Repeat("𝟗9.", 400)} {
		if n := utf8.RuneCountInString(collate.NaturalKey(text)); n != 600 {
			t.Errorf("the key of %d characters has %d", utf8.RuneCountInString(text), n)
		}
	}
	if key := collate.NaturalKey(" \u200b"); key != "" {
		t.Errorf("the key of nothing is %q", key)
	}
}
