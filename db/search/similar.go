package search

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// maxAlike is the maximum number of words with one half that are compared with another word.
const maxAlike = 1_000

// OneEdit calls fn with the indexes i > j of each two words that are one edit apart, in order. It leaves out words that
// have a digit or less than 6 letters.
//
// Such words begin or end with the same half, but for a letter in the middle, so it compares only those. The half of a
// word with an odd number of letters also counts without its last letter, as that of a shorter word. The letters that a
// word has an odd number of are compared first, because that is faster: an edit changes two of them at most.
func OneEdit(words []string, fn func(i, j int)) {
	letters := make([][]rune, len(words))
	odd := make([]uint64, len(words)) // a set of letters, modulo 64
	seed := maphash.MakeSeed()
	var halves []uint64 // a hash, and the index of a word
	var pairs []uint64  // two indexes
	for i, word := range words {
		if maxEdits(word) < 2 {
			continue
		}
		letters[i] = []rune(word)
		for _, letter := range letters[i] {
			odd[i] ^= 1 << (letter % 64)
		}
		n := len(letters[i])
		for k := (n - 2) / 2; k <= (n-1)/2; k++ {
			for _, half := range []string{"<" + string(letters[i][:k]), ">" + string(letters[i][n-k:])} {
				halves = append(halves, maphash.String(seed, half)<<32|uint64(i))
			}
		}
	}
	slices.Sort(halves)
	first := 0 // with the same hash
	for at, half := range halves {
		if half>>32 != halves[first]>>32 {
			first = at
		}
		i := uint32(half)
		for _, other := range halves[first:min(at, first+maxAlike)] {
			j := uint32(other)
			if bits.OnesCount64(odd[i]^odd[j]) <= 2 && isOneEdit(letters[i], letters[j]) {
				pairs = append(pairs, uint64(i)<<32|uint64(j))
			}
		}
	}
	slices.Sort(pairs)
	for _, pair := range slices.Compact(pairs) {
		fn(int(pair>>32), int(uint32(pair)))
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
