package collate_test

import (
	"slices"
	"testing"

	"library-catalogue/graph/model/collate"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                            nil,
		"'; -- % _ \\ \" * & | ! ( )": nil,
		"García Márquez":              {"garcia", "marquez"},
		"J.R.R. Tolkien's":            {"j", "r", "r", "tolkiens"},
		"'Salem’s Lot: ’s 's's":       {"salems", "lot", "s", "ss"},
		"O'Shea's 'sblood' IT'S a''s": {"o", "sheas", "sblood", "its", "a", "s"},
		"三's a's三":                    {"三", "s", "as", "三"},
		"he's\u0301 her’ſ":            {"hes", "hers"},
		"O’Brien—“Straße”…":           {"o", "brien", "strasse"},
		"C++ 3.14 E=mc²":              {"c", "3", "14", "e", "mc2"},
		"三体 II":                       {"三", "体", "ii"},
		"ひらがな・カナ":                     {"ひ", "ら", "か", "゙", "な", "カ", "ナ"},
		"한국 소설":                       {"한국", "소설"},
		"Война и мир":                 {"воина", "и", "мир"},
		"\u212Bngström 5 \u212A":      {"angstrom", "5", "k"},
	} {
		if got := collate.Words(text); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEntries(t *testing.T) {
	for text, want := range map[string][]string{
		"you’ll, Wi-Fi; Catch-22":       {"youll", "wifi", "catch22"},
		"Catch-22's O'Reilly's dog":     {"catch22s", "oreillys"},
		"Jack-in-the-Box-Set":           {"jackinthebox", "intheboxset", "theboxset", "boxset"},
		"a--b 'tis -x- c'-d a''s":       nil,
		"三-a a-三 a'三 b' c":              nil,
		"Full\u2010width non\u2011stop": {"fullwidth", "nonstop"},
		"a-b c- d":                      {"ab"},
		"'s-b a's-b 's":                 {"sb", "asb"},
	} {
		if _, got := collate.Entries(text); !slices.Equal(got, want) {
			t.Errorf("Entries(%q) = %q, want %q", text, got, want)
		}
	}
}
