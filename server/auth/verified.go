package auth

import (
	"crypto/sha256"
	"time"

	"github.com/maypok86/otter/v2"

	"library-catalogue/graph/model"
)

// verifiedBytes is how much memory the tokens may take that were verified.
const verifiedBytes = 1 << 20

// verifiedTokens caches tokens that are valid, by their hashes. To check a signature
// takes long beside the rest of a small request.
type verifiedTokens struct {
	tokens *otter.Cache[[sha256.Size]byte, verdict]
}

// verdict is what a token was found to be.
type verdict struct {
	holder model.Principal
	until  time.Time // from then on it is not valid
	from   *issuer
	keys   *[]setKey // what it was checked with; nil for a key that was given
}

func newVerifiedTokens() (*verifiedTokens, error) {
	tokens, err := otter.New(&otter.Options[[sha256.Size]byte, verdict]{
		MaximumWeight: verifiedBytes,
		Weigher: func(_ [sha256.Size]byte, v verdict) uint32 {
			const overhead = 256 // of an entry
			return uint32(len(v.holder.Subject) + len(v.holder.Scopes) + overhead)
		},
	})
	return &verifiedTokens{tokens}, err
}

// find returns the holder of a token that was found valid, and still is. Once the keys
// are read anew, it is checked again: one may be withdrawn.
func (v *verifiedTokens) find(token string) (model.Principal, bool) {
	found, ok := v.tokens.GetIfPresent(sha256.Sum256([]byte(token)))
	if !ok || found.keys != found.from.current() || !time.Now().Before(found.until) {
		return model.Principal{}, false
	}
	return found.holder, true
}

func (v *verifiedTokens) add(token string, found verdict) {
	v.tokens.Set(sha256.Sum256([]byte(token)), found)
}
