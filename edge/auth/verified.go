package auth

import (
	"crypto/sha256"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

const maxVerifiedBytes = 1 << 20

// verifiedTokens caches valid tokens by their hashes, because checking a signature takes most of a small request's
// time.
type verifiedTokens struct {
	tokens lru.Cache[[sha256.Size]byte, verifiedToken]
}

// verifiedToken is the result of a successful verification.
type verifiedToken struct {
	caller model.Caller
	issuer *issuer
	keys   *[]setKey // issuer.currentKeys at the verification
	sid    string    // session of a login token; empty: another token
}

func newVerifiedTokens() *verifiedTokens {
	return &verifiedTokens{lru.New(maxVerifiedBytes, func(_ [sha256.Size]byte, v verifiedToken) int {
		const overhead = 256 // bytes per entry
		return len(v.caller.Issuer) + len(v.caller.Subject) + len(v.caller.Scopes) + len(v.sid) + overhead
	})}
}

// find returns a cached token that has not expired. A refresh of the keys invalidates the token,
// because its key may have been revoked.
func (v *verifiedTokens) find(token string) (found verifiedToken, ok bool) {
	found, ok = v.tokens.Get(sha256.Sum256([]byte(token)))
	if !ok || found.keys != found.issuer.currentKeys() || !time.Now().Before(found.caller.ValidUntil()) {
		return verifiedToken{}, false
	}
	return found, true
}

func (v *verifiedTokens) add(token string, found verifiedToken) {
	v.tokens.Set(sha256.Sum256([]byte(token)), found)
}
