package author

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	const to = "J. R. R. Tolkien"
	for _, test := range [][3]string{
		{"Tolkien, J.R.R.", "JRR Tolkien", to},
		{"J.R.R. Tolkien; Doe, Jane (ed.)", "Tolkien, J. R. R.", to + "; Doe, Jane (ed.)"},
		{"Doe, Jane; Tolkien, John", "John Tolkien", "Doe, Jane; " + to},
		{"Ann One, John Tolkien", "John Tolkien", "Ann One, " + to},
		{"Ann One and John Tolkien", "Tolkien, John", "Ann One and " + to},
		{"Ann  One;Tolkien, John ;Two, Bob", "John Tolkien", "Ann  One;" + to + " ;Two, Bob"},
		{"John Tolkien, Jane Doe (ed.)", "John Tolkien", to + ", Jane Doe (ed.)"},
		{"John Tolkien and Jane Doe, 1920-1999", "John Tolkien", to + " and Jane Doe, 1920-1999"},
		{"Jane Doe (translator) / John Tolkien", "John Tolkien", "Jane Doe (translator) / " + to},
		{"John Tolkien & Jane Doe et al.", "John Tolkien", to + " & Jane Doe et al."},
		{"Tolkien, John, 1892-1973; Doe, Jane", "John Tolkien", to + ", 1892-1973; Doe, Jane"},
		{"King, Martin Luther, Jr.; Doe, Jane", "Martin Luther King Jr.", to + "; Doe, Jane"},
		{"Ann One, J. R. R. Tolkien and John Tolkien (ill.)", "John Tolkien", "Ann One, J. R. R. Tolkien (ill.)"},
		{"John Tolkien, J.R.R. Tolkien", "John Tolkien", to},
		{"Tolkien, J. R. R.; Ann One; Tolkien, John", "John Tolkien", "Tolkien, J. R. R.; Ann One"},
		{"John Tolkien ed.; Doe, Jane", "John Tolkien", to + " ed.; Doe, Jane"},
		{"Doe, Jane; Tolkien, John 1892-1973", "John Tolkien", "Doe, Jane; " + to + " 1892-1973"},
		{"Johanna Tolkien", "John Tolkien", "Johanna Tolkien"},
		{"", "John Tolkien", ""},
	} {
		if got, ok := Replace(test[0], []string{test[1]}, to); got != test[2] || !ok {
			t.Errorf("%q of %q is %q, %v, want %q", test[1], test[0], got, ok, test[2])
		}
	}
	spellings := []string{"John Tolkien", "J. R. R. Tolkein", to}
	if got, ok := Replace("Tolkein, J.R.R.; Ann One; John Tolkien; JRR Tolkien", spellings, to); got != to+"; Ann One" || !ok {
		t.Errorf("three spellings in one text give %q", got)
	}
	if got, ok := Replace("Ann One and John Tolkien", []string{"John Tolkien"}, "Tolkien Institute"); ok {
		t.Errorf("a name that changes how others are read gives %q", got)
	}
}

// TestReplaceByGrammar replaces each person of each text and reads the result by the grammar.
func TestReplaceByGrammar(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(58, 6))
	targets := []string{"Plato", "Le Guin, Ursula K.", "Zoë van Target Jr.", "River Institute"}
	for range 5_000 {
		text := authors[random.IntN(len(authors))][0]
		if random.IntN(2) == 0 {
			text += "; " + authors[random.IntN(len(authors))][0]
		}
		persons := Parse(text)
		if len(persons) == 0 {
			continue
		}
		from, to := persons[random.IntN(len(persons))].String(), targets[random.IntN(len(targets))]
		if len(Parse(from)) != 1 {
			continue // a name that is one person only beside others
		}
		target := identity(Parse(to)[0].String())
		var want []string
		for _, p := range persons {
			key := identity(p.String())
			if key == identity(Parse(from)[0].String()) {
				key = target
			}
			if key != target || !slices.Contains(want, target) {
				want = append(want, key)
			}
		}
		var got []string
		replaced, ok := Replace(text, []string{from}, to)
		if !ok {
			continue
		}
		for _, p := range Parse(replaced) {
			got = append(got, identity(p.String()))
		}
		if !slices.Contains(want, target) {
			continue // from is read as another name alone
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q of %q by %q: %s", from, text, to, diff)
		}
	}
}
