package marc

import (
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model/lang"
)

// TestValues reads one field of records as libraries write it.
func TestValues(t *testing.T) {
	t.Parallel()
	const anna, coded = `=100  1\$aMiller, Anna.`, `=008  980101s1998\\\\xxu           000 0 eng d`
	for _, test := range []struct{ field, record, want string }{
		{"name", `=245  10$aThe war game;$bten battles.`, "The war game: ten battles"},
		{"name", `=245  10$aRivers,$ba guide /$cAnna Miller`, "Rivers: a guide"},
		{"name", `=245  10$aSalt : $bbread`, "Salt: bread"},
		{"name", `=245  10$aWater =$bEau`, "Water = Eau"},
		{"name", `=245  10$aOne act ;$bTwo acts`, "One act ; Two acts"},
		{"name", `=245  10$aMiller & Sons, Inc.`, "Miller & Sons, Inc."},
		{"name", `=245  10$aThe end. /$cA. Miller`, "The end."},
		{"name", "=245  10$a\u0098Das\u009C rote Meer /", "Das rote Meer"},
		{"name", "=245  10$a\u0098L'\u009Ceau rouge", "L'eau rouge"},
		{"name", "=245  10$aLe \u0088vieux\u0089 port", "Le vieux port"},
		{"name", `=245  10$a<<Der>> Berg`, "Der Berg"},
		{"name", `=245  10$a¬Die¬ Insel`, "Die Insel"},
		{"name", `=245  10$aA << B >> C`, "A << B >> C"},
		{"author", `=111  2\$aCongress of Rivers$n(5th :$d1990 :$cTown)`, "Congress of Rivers"},
		{"author", `=111  2\$aHill Meeting,$d(1990 :$cTown).$eSection of Maps`, "Hill Meeting, Section of Maps;"},
		{"author", `=110  2\$aRiver Board.$bMaps.$d(1990 :$cTown)`, "River Board. Maps"},
		{"author", anna + "\n" + `=711  2\$aHill Congress$jauthor`, "Anna Miller, Hill Congress"},
		{"author", anna + "\n" + `=711  2\$aHill Congress$jsponsor`, "Anna Miller"},
		{"author", anna + "\n" + `=700  1\$aMiller, Anna,$d1950-`, "Anna Miller"},
		{"author", "=100  1\\$aMiller, Anna,$d1950-\n=700  1\\$aMiller, Anna,$d1950-2020\n=700  1\\$aRoe, Bob", "Anna Miller, Bob Roe"},
		{"author", "=100  1\\$aDumas, Alexandre,$d1802-1870\n=700  1\\$aDumas, Alexandre,$d1824-1895", "Alexandre Dumas, Alexandre Dumas"},
		{"author", "=110  2\\$aRiver Institute.\n=710  2\\$aRiver Institute", "River Institute"},
		{"author", `=245  10$aA /$cby Anna Miller.`, "Anna Miller"},
		{"published_at", coded + "\n" + `=260  \\$c[199-?]`, "[199-?] [1998]"},
		{"published_at", coded + "\n" + `=260  \\$c5758.`, "5758 [1998]"},
		{"published_at", coded + "\n" + `=260  \\$c平成10`, "平成10 [1998]"},
		{"published_at", coded + "\n" + `=260  \\$c1377`, "1377 [1998]"},
		{"published_at", coded + "\n" + `=260  \\$c2005`, "2005"},
		{"published_at", coded + "\n" + `=260  \\$cc1998.`, "1998"},
		{"published_at", coded, "1998"},
		{"published_at", `=260  \\$c9999.`, "9999"},
		{"language", `=041  0\$ascr`, "hrv"},
		{"language", `=041  0\$airi`, "gle"},
		{"language", `=041  07$airi$2iso639-3`, "iri"},
		{"language", strings.Replace(coded, "eng", "gae", 1), "gla"},
		{"language", coded, "eng"},
	} {
		got := readAll(t, NewTextReader(strings.NewReader("=LDR  00000nam a2200000 i 4500\n"+test.record+"\n")))
		if got[0][test.field] != test.want {
			t.Errorf("%s of %q: %q, want %q", test.field, test.record, got[0][test.field], test.want)
		}
	}
}

// TestReplacedCodes: a code that MARC has replaced is no code any more, and the new one is the code of a language.
func TestReplacedCodes(t *testing.T) {
	t.Parallel()
	for code, now := range replacedCodes {
		if _, ok := lang.Parse(now); !ok || slices.Contains(longCodes, code) || replacedCodes[now] != "" {
			t.Errorf("%s: %s", code, now)
		}
	}
}

// TestDeleted: a record may say that its book is no longer there.
func TestDeleted(t *testing.T) {
	t.Parallel()
	for leader, want := range map[string]bool{"00000dam a2200000 a 4500": true, leader: false, "00000cam a2200000 a 4500": false, "d": false, "": false} {
		if got := (Record{Leader: leader}).IsDeleted(); got != want {
			t.Errorf("%q: %v", leader, got)
		}
	}
}

// TestParseJSON: a record in JSON is the same as in MARCMaker text.
func TestParseJSON(t *testing.T) {
	t.Parallel()
	const text = "=LDR  00000nam a2200000 i 4500\n=008  980101s1998\\\\\\\\xxu           000 0 eng d\n=700  1\\$aMiller, Anna\n=700  1\\$aRoe, Bob,$d1950-\n=245  10$aSalt :$bbread"
	want := readAll(t, NewTextReader(strings.NewReader(text)))[0]
	r, ok := ParseJSON([]byte(`{"leader": "00000nam a2200000 i 4500", "fields": [{"008": "980101s1998    xxu           000 0 eng d"},
		{"700": {"ind1": "1", "ind2": " ", "subfields": [{"a": "Miller, Anna"}]}}, {"700": {"ind1": "1", "ind2": " ", "subfields": [{"a": "Roe, Bob,"}, {"d": "1950-"}]}},
		{"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Salt :"}, {"b": "bread"}]}}]}`))
	got := r.Values()
	for _, key := range []string{"name", "author", "published_at", "language", "700$d"} {
		if !ok || got[key] != want[key] || got[key] == "" {
			t.Errorf("%s: %q, not %q", key, got[key], want[key])
		}
	}
	for _, other := range []string{
		`{"name": "A"}`, `[]`, `{`, `{"leader": "x", "fields": [{"24": "x"}]}`, `{"leader": "x", "fields": [{"245": 7}]}`, `{"leader": "x", "fields": [{"245": {"subfields": [{"ab": "x"}]}}]}`,
	} {
		if _, ok := ParseJSON([]byte(other)); ok {
			t.Error(other)
		}
	}
}
