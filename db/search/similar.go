package search

// maxAlike is the maximum number of words with one half that are compared with another word.
const maxAlike = 1_000

// OneEdit calls fn with the indexes i > j of each two words that are one edit apart. It leaves out words that have a
// digit or less than 6 letters.
//
// Such words begin or end with the same half, but for a letter in the middle, so it compares only those. The half of a
// word with an odd number of letters also counts without its last letter, as that of a shorter word.
func OneEdit(words []string, fn func(i, j int)) {
	halves := map[string][]int{} // indexes of words
	letters, compared := make([][]rune, len(words)), make([]int, len(words))
	for i, word := range words {
		if maxEdits(word) < 2 {
			continue
		}
		letters[i] = []rune(word)
		n := len(letters[i])
		for k := (n - 2) / 2; k <= (n-1)/2; k++ {
			for _, half := range []string{"<" + string(letters[i][:k]), ">" + string(letters[i][n-k:])} {
				for _, j := range halves[half] {
					if compared[j] != i && isOneEdit(letters[i], letters[j]) {
						fn(i, j)
					}
					compared[j] = i
				}
				if len(halves[half]) < maxAlike {
					halves[half] = append(halves[half], i)
				}
			}
		}
	}
}

// isOneEdit reports whether the number of edits of two different words is 1.
func isOneEdit(a, b []rune) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch len(a) + len(b) {
	case 1:
		return true
	case 2:
		return len(a) == 1
	}
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}
