package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneEdit finds the pairs that a comparison of all words finds, in its order.
func TestOneEdit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{"tolkien": true, "tolkein": true, "tolkienn": true, "olkien": true, "straße": true, "strasse": true, "short": true, "shorr": true, "volume 1": true, "volume 2": true}
	for range 3_000 {
		word := make([]rune, 4+random.IntN(6))
		for i := range word {
			word[i] = []rune("abé")[random.IntN(3)]
		}
		seen[string(word)] = true
	}
	var words []string
	for word := range seen {
		words = append(words, word)
	}
	slices.Sort(words)
	var want, got []string
	for i, word := range words {
		for j, other := range words[:i] {
			if maxEdits(word) == 2 && maxEdits(other) == 2 && edits([]rune(word), []rune(other)) == 1 {
				want = append(want, fmt.Sprint(words[j], " ", word))
			}
		}
	}
	OneEdit(words, func(i, j int) { got = append(got, fmt.Sprint(words[j], " ", words[i])) })
	if diff := cmp.Diff(want, got); diff != "" || !slices.Contains(got, "tolkein tolkien") || len(got) < 1_000 {
		t.Errorf("%d pairs (-want +got):\n%s", len(got), diff)
	}
}
