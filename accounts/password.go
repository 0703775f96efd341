package accounts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"github.com/trustelem/zxcvbn/frequency"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// The bounds of a password in NFC.
const (
	minPasswordChars = 10
	maxPasswordBytes = 1_000
)

// currentParams are OWASP's recommendation for argon2id. A password that was hashed with others is hashed again at the
// next login.
var currentParams = argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// unmatched is a hash that no password has, for the work of a login without an account.
const unmatched = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

var errBusy = &model.Error{
	Code: model.Unavailable, Message: "Too many people sign in at the moment. Try again in a few seconds.",
	Err: &model.RetryError{After: 2 * time.Second},
}

// hash returns the stored form of a password, for a caller with a session or a link.
func (s *Service) hash(ctx context.Context, password string) (stored string, err error) {
	var failed error
	err = s.queue.do(ctx, s.network(ctx), "", true, func() bool {
		stored, failed = argon2id.CreateHash(norm.NFC.String(password), &currentParams)
		return failed == nil
	})
	return stored, cmp.Or(err, failed)
}

// verify reports whether a password is the stored one. It takes the same time if none is stored. outdated means that
// the parameters have changed since.
func verify(stored, password string) (ok, outdated bool, err error) {
	password = norm.NFC.String(password)
	known := stored != "" && len(password) <= maxPasswordBytes
	if !known {
		stored, password = unmatched, password[:min(len(password), maxPasswordBytes)]
	}
	params, _, _, err := argon2id.DecodeHash(stored)
	if err != nil || params.Iterations == 0 || params.Parallelism == 0 || params.KeyLength != currentParams.KeyLength {
		return false, false, errors.New("a stored password has no known format")
	}
	ok, err = argon2id.ComparePasswordAndHash(password, stored)
	return ok && known, *params != currentParams, err
}

// checkPassword adds the problems of a new password to problems. names are the names of its account.
func checkPassword(problems *model.FieldErrors, field, password string, names ...string) {
	normal := norm.NFC.String(password)
	isName := func(name string) bool {
		local, _, _ := strings.Cut(name, "@") // part before the host of an email address
		key := collate.Identity(password)
		return key == collate.Identity(name) || key == collate.Identity(local)
	}
	switch {
	case password == "":
		problems.Add(field, "The %s field is required.")
	case !utf8.ValidString(password):
		problems.Add(field, "The %s field must be valid UTF-8.")
	case utf8.RuneCountInString(normal) < minPasswordChars:
		problems.Add(field, "The %s field must be at least %d characters.", minPasswordChars)
	case len(normal) > maxPasswordBytes:
		problems.Add(field, "The %s field must not be greater than 1,000 bytes.")
	case isRepeated(password):
		problems.Add(field, "The %s must not be one character again and again, or only spaces.")
	case slices.ContainsFunc(names, isName):
		problems.Add(field, "The %s must not be the account's name.")
	case isCommon(password):
		problems.Add(field, "The %s is one of the most common ones. Choose another one.")
	}
}

// isRepeated reports whether a password has fewer than two characters that differ by more than case and width. White
// space and invisible characters do not count.
func isRepeated(password string) bool {
	key := []rune(collate.Identity(password))
	key = slices.DeleteFunc(key, func(r rune) bool { return unicode.IsSpace(r) || collate.IsIgnorable(r) })
	return !slices.ContainsFunc(key, func(r rune) bool { return r != key[0] })
}

// CommonPasswords returns the 30,000 commonest leaked passwords without the short ones, in lower case.
var CommonPasswords = sync.OnceValue(func() (common []string) {
	for _, password := range frequency.FrequencyLists["passwords"] {
		if len(password) >= minPasswordChars {
			common = append(common, password)
		}
	}
	return common
})

// isCommon reports whether a password is one of CommonPasswords in any case.
func isCommon(password string) bool {
	return slices.Contains(CommonPasswords(), strings.ToLower(norm.NFC.String(password)))
}
