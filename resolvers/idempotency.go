package resolvers

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// maxSubject is how many bytes the subject of a token may have whose holder uses
// Idempotency-Keys: as many as OpenID Connect Core, section 2, lets an issuer give it.
const maxSubject = 255

// Idempotent runs fn in one transaction and keeps its answer for 24 hours under the
// caller's key, so that the same request again gets the first answer and
// changes nothing. fingerprint stands for the request. Who gets the first answer
// again needs the scopes that fn needed.
func (r *Resolver) Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error) {
	caller, err := model.Caller(ctx)
	if err != nil {
		return nil, false, err
	}
	if !isKeyOwner(caller.Subject) {
		return nil, false, model.Errorf(model.BadUserInput,
			"An Idempotency-Key belongs to the subject of its token: sub must have 1 to %d bytes, without control characters.", maxSubject)
	}
	// What is kept is the answer, which is JSON on one line, and a line of the scopes.
	kept, replayed, err := r.store.Idempotent(ctx, caller.Subject, key, fingerprint, func(ctx context.Context) ([]byte, error) {
		var needed []string
		answer, err := fn(r.WithLoaders(context.WithValue(ctx, neededScopes{}, &needed)))
		slices.Sort(needed)
		return append(append(answer, '\n'), strings.Join(slices.Compact(needed), " ")...), err
	})
	if err != nil {
		return nil, false, err
	}
	answer, scopes, _ := bytes.Cut(kept, []byte("\n"))
	if replayed && len(scopes) > 0 {
		err = authorise(ctx, strings.Split(string(scopes), " ")...)
	}
	return answer, replayed, err
}

// isKeyOwner reports whether Idempotency-Keys are kept for a subject. PostgreSQL keeps
// no NUL, and the tokens without a subject are not all of one holder.
func isKeyOwner(subject string) bool {
	return subject != "" && len(subject) <= maxSubject && utf8.ValidString(subject) && !strings.ContainsFunc(subject, unicode.IsControl)
}
