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
		"τῷ":                      "τω",
		"I\u0307stanbul ve Irmak": "istanbul ve irmak",
		"О\u0301зеро Ёлка":        "озеро елка",
		"日本語 한글":                  "日本語 한글",
		"\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165":                 "한국어", // in letters
		"가\u11a8 각\u11a8 \u1112\u0301\u1161":                               "각 각\u11a8 하",
		"ﾊﾝｸﾞﾙ ﾡￂ ㄱㅏ":                                                      "ハンク\u3099ル 가 가",
		"हिन्दी":                                                           "हिन्दी", // its marks are vowels
		"か\u3099 が":                                                        "か\u3099 か\u3099",
		"ＵＳＢ ﬁsh Ⅷ ² ㈱ ﷺ":                                                  "usb fish viii 2 (株) صلى الله عليه وسلم",
		"בְּרֵאשִׁית שָׁלוֹם":                                              "בראשית שלום",
		"كِتَابٌ ٱلْقُرْآن مـــصر":                                         "كتاب ٱلقرا\u0653ن مصر",
		"Co\u00adope\u200bra\ufefftion \ufe0f\u2060":                       "cooperation",
		" \t a\u00a0\u2003b\u3000\n\u2028c\u0085\u00ad ":                   "a b c",
		"x\u0655\u0653\u094d\u093c y\u0653\u0655\u093c\u094d":              "x\u0653\u0655\u093c\u094d y\u0653\u0655\u093c\u094d", // one order of marks
		"x\u0655a\u0653\u094d\u0301\u093c\u00ad\u0483" + "\u093c z\u0653.": "x\u0655a\u0483\u0653\u093c\u093c\u094d z\u0653.",
	} {
		if got := collate.Fold(text); got != want {
			t.Errorf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		wantKeys(t, "x"+string(r)+"Y")
		wantKeys(t, string(r))
	}
}

// wantKeys checks that folding a text is idempotent, and that texts of one identity have one folded form.
func wantKeys(t *testing.T, text string) {
	t.Helper()
	folded := collate.Fold(text)
	if again := collate.Fold(folded); again != folded {
		t.Errorf("Fold(%q) = %q, which folds to %q", text, folded, again)
	}
	if same := collate.Fold(collate.Identity(text)); same != folded {
		t.Errorf("Fold(%q) = %q, and of its identity %q", text, folded, same)
	}
}

func FuzzFold(f *testing.F) {
	for _, text := range []string{"Émile ﬁ", "x\u0655\u0653", "가\u11a8", "\u1100\u200b\u1161\u0301", "ᾠδή ᾳ\u0301", "か゛ﾞ", " \u00a8\u0345", "ʼN ŉ İ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			wantKeys(t, text)
		}
	})
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
