package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"library-catalogue/db/changes"
)

// maxVocabulary bounds the words that a Vocabulary keeps, each of about 30 bytes.
const maxVocabulary = 2_000_000

// Vocabulary keeps the words of the books of an SQLite database, because FTS5 reads all its index to list them. After
// writes it adds the words of the books that changed. Words of deleted books stay, and there may be some of later ones.
type Vocabulary struct {
	mu    sync.Mutex
	mark  changes.Mark
	words []string // nil before the first load
}

// Words returns the words as of the newest mark. changed calls add with each text that a book has now and that changed
// after a mark, and reports whether the log goes back to it. If it does not, Words returns nil: call Load.
func (v *Vocabulary) Words(
	ctx context.Context, newest changes.Mark,
	changed func(ctx context.Context, after changes.Mark, add func(text string)) (bool, error),
) ([]string, error) {
	v.mu.Lock()
	mark, words := v.mark, v.words
	v.mu.Unlock()
	if words == nil || newest.Tick <= mark.Tick { // a snapshot may be older
		return words, nil
	}
	further := map[string]bool{}
	known, err := changed(ctx, mark, func(text string) {
		for word := range strings.FieldsSeq(Words(text)) {
			if !strings.ContainsAny(word, digits+"·") {
				further[word] = true
			}
		}
	})
	if err != nil || !known {
		return nil, err
	}
	for _, word := range words {
		delete(further, word)
	}
	words = slices.AppendSeq(slices.Clip(words), maps.Keys(further))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.mark == mark && len(words) <= maxVocabulary {
		v.mark, v.words = newest, words
	}
	return words, nil
}

// Load stores all words as of a mark.
func (v *Vocabulary) Load(words []string, mark changes.Mark) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(words) <= maxVocabulary {
		v.words, v.mark = words, mark
	}
}
