package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trustelem/zxcvbn/frequency"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// The bounds of a password in NFC.
const (
	minPasswordChars = 10
	maxPasswordBytes = 1_000
)

// cost has the parameters of argon2id (RFC 9106). A password that was hashed with others is hashed again at the next
// login.
type cost struct {
	memory      uint32 // KiB
	iterations  uint32
	parallelism uint8
}

// currentCost is OWASP's recommendation for argon2id.
var currentCost = cost{memory: 19 << 10, iterations: 2, parallelism: 1}

const (
	saltBytes = 16
	hashBytes = 32
)

func (c cost) hash(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, c.iterations, c.memory, c.parallelism, hashBytes)
}

// encode returns a hash in PHC format.
func (c cost) encode(salt, hash []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.iterations, c.parallelism, b64.EncodeToString(salt), b64.EncodeToString(hash))
}

// unmatched is a hash that no password has, for the work of a login without an account.
var unmatched = currentCost.encode(make([]byte, saltBytes), make([]byte, hashBytes))

// decode parses a hash in PHC format.
func decode(stored string) (c cost, salt, hash []byte, err error) {
	parts := strings.Split(stored, "$")
	var version int
	if len(parts) == 6 && parts[1] == "argon2id" {
		_, err = fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &c.memory, &c.iterations, &c.parallelism)
	}
	if err != nil || version != argon2.Version || c.iterations == 0 || c.parallelism == 0 {
		return c, nil, nil, fmt.Errorf("a stored password has no known format")
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err == nil {
		hash, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	return c, salt, hash, err
}

var errBusy = &model.Error{
	Code: model.Unavailable, Message: "Too many people sign in at the moment. Try again in a few seconds.", Err: &model.RetryError{After: 2 * time.Second},
}

// hash returns a password as it is stored, for someone who has proved who it is.
func (s *Service) hash(ctx context.Context, password string) (stored string, err error) {
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never returns an error
	err = s.queue.do(ctx, s.network(ctx), "", true, func() bool {
		stored = currentCost.encode(salt, currentCost.hash(norm.NFC.String(password), salt))
		return true
	})
	return stored, err
}

// verify reports whether a password is the stored one. It works as long without a stored one. outdated means that
// the parameters have changed since.
func verify(stored, password string) (ok, outdated bool, err error) {
	password = norm.NFC.String(password)
	known := stored != "" && len(password) <= maxPasswordBytes
	if !known {
		stored, password = unmatched, password[:min(len(password), maxPasswordBytes)]
	}
	c, salt, want, err := decode(stored)
	if err != nil {
		return false, false, err
	}
	return subtle.ConstantTimeCompare(c.hash(password, salt), want) == 1, c != currentCost, nil
}

// checkPassword adds the problems of a new password to problems. names are those of the account.
func checkPassword(problems *model.FieldErrors, field, password string, names ...string) {
	normal := norm.NFC.String(password)
	isName := func(name string) bool {
		local, _, _ := strings.Cut(name, "@") // of an email address
		key := collate.Identity(password)
		return key == collate.Identity(name) || key == collate.Identity(local)
	}
	switch {
	case password == "":
		problems.Add(field, "The %s field is required.")
	case !utf8.ValidString(password):
		problems.Add(field, "The %s field must be valid UTF-8.")
	case utf8.RuneCountInString(normal) < minPasswordChars:
		problems.Add(field, fmt.Sprintf("The %%s field must be at least %d characters.", minPasswordChars))
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

// CommonPasswords returns those of the 30,000 commonest leaked passwords that are long enough otherwise, in lower case.
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
