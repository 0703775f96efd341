package collate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"Gabriel García Márquez":  "gabriel garcia marquez",
		"Straße":                  "strasse",
		"ŁÓDŹ":                    "lodz",
		"ΣΊΣΥΦΟς":                 "σισυφοσ",
		"I\u0307stanbul ve Irmak": "istanbul ve irmak",
		"О\u0301зеро Ёлка":        "озеро елка",
		"日本語 한글":                  "日本語 한글",
		"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165": "한국어", // in letters
		"가\u11a8 각\u11a8 \u1112\u0301\u1161":               "각 각\u11a8 \u1112\u1161",
		"हिन्दी":                                           "हिन्दी", // its marks are vowels
	} {
		if got := collate.Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if folded := collate.Fold(string(r)); collate.Fold(folded) != folded {
			t.Errorf("Fold(%q) = %q, which folds again", r, folded)
		}
	}
}

func TestSortKey(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"Ödön":                              "odon",
		strings.Repeat("ß", 60):             strings.Repeat("s", 100),
		strings.Repeat("日", 101):            strings.Repeat("日", 100),
		strings.Repeat("a", 99) + "É" + "b": strings.Repeat("a", 99) + "e",
	} {
		if got := collate.SortKey(text); got != want {
			t.Errorf("SortKey(%q) = %q, want %q", text, got, want)
		}
	}
}
