package collate_test

import (
	"testing"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"poésie", "Poésie", "Poe\u0301sie", "POÉSIE", " Poésie\u00a0", "Poé\u00adsie", "\ufeffPoésie\u200b"},
		{"straße und gasse", "Strasse  und\tGasse", "STRASSE UND GASSE"},
		{"ＵＳＢ入門", "usb入門"},
		{"カメラ", "ｶﾒﾗ"},
		{"Eﬃcient", "efficient"},
		{"Σίσυφος", "ΣΊΣΥΦΟΣ"},
		{"한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"},
		{"❤\ufe0f", "❤"},
	} {
		for _, text := range same[1:] {
			if collate.Identity(text) != collate.Identity(same[0]) {
				t.Errorf("%q is not %q", text, same[0])
			}
		}
	}
	for _, other := range [][2]string{{"Öl", "Ol"}, {"が", "か"}, {"कि", "की"}, {"a b", "ab"}, {"C++", "C"}, {"\u200b", "\u200c"}, {"", "\u200b"}} {
		if collate.Identity(other[0]) == collate.Identity(other[1]) {
			t.Errorf("%q is %q", other[0], other[1])
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		key := collate.Identity("x" + string(r) + "Y")
		if again := collate.Identity(key); again != key {
			t.Fatalf("the key of %q is %q, whose key is %q", r, key, again)
		}
	}
}
