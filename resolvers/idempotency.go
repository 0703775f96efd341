package resolvers

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// errNothingStored rolls back the key of a request that only had dry runs.
var errNothingStored = errors.New("nothing was stored")

// Idempotent runs fn in one transaction and stores its answer for 24 hours under the caller's key.
// The same request then gets the stored answer and changes nothing. fingerprint identifies the
// request. A replay needs the same scopes as fn. If fn needs none it had only dry runs, and no key is stored.
func (r *Resolver) Idempotent(
	ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error),
) (answer []byte, replayed bool, err error) {
	caller, err := model.CallerOf(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := caller.CheckKeys(); err != nil {
		return nil, false, err
	}
	// The stored value is the answer, which is JSON on one line, and a line of scopes.
	kept, replayed, err := r.store.Idempotent(ctx, caller.KeyScope(), key, fingerprint,
		func(ctx context.Context) ([]byte, error) {
			var needed []string
			answer, err = fn(r.WithSnapshot(context.WithValue(ctx, neededScopes{}, &needed)))
			if err == nil && len(needed) == 0 {
				return nil, errNothingStored
			}
			slices.Sort(needed)
			return append(append(slices.Clip(answer), '\n'), strings.Join(slices.Compact(needed), " ")...), err
		})
	if errors.Is(err, errNothingStored) {
		return answer, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	answer, scopes, _ := bytes.Cut(kept, []byte("\n"))
	if replayed && len(scopes) > 0 {
		err = authorise(ctx, strings.Split(string(scopes), " ")...)
	}
	return answer, replayed, err
}
