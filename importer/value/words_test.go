package value

import "testing"

// TestWords: a star stands for any letters.
func TestWords(t *testing.T) {
	t.Parallel()
	words := ParseWords("Página s* *jahr *书名*")
	for word, want := range map[string]bool{
		"pagina": true, "paginas": false, "s": true, "seite": true, "ps": false, "erscheinungsjahr": true,
		"jahre": false, "原书名称": true, "书": false, "": false,
	} {
		if got := words.Has(word); got != want {
			t.Errorf("%q: %t, want %t", word, got, want)
		}
	}
}
