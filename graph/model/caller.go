package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

// Caller is who sends a request with a valid token or session.
type Caller struct {
	Issuer  string    // the token's iss, or empty
	Subject string    // the token's sub, or empty; "account:12" for an account
	Expires time.Time // the token's exp

	Account *Account // nil for a token of another issuer
	Session ID       // the account's session; 0 for its own tokens
	Cookie  bool     // the session came as a cookie

	Operator bool // the command line, which manages accounts

	// Scoped limits the caller to Scopes, separated by spaces (RFC 6749, section 3.3):
	// "catalogue:write" for all writes, or a type and a verb, such as "books:create". Otherwise it
	// may do everything.
	Scoped bool
	Scopes string
}

// TokenLeeway is the maximum difference between the clocks of a token's issuer and the server.
const TokenLeeway = 30 * time.Second

// ValidUntil returns the time when the token is refused.
func (p Caller) ValidUntil() time.Time { return p.Expires.Add(TokenLeeway) }

// maxSubject is the maximum length in bytes of a subject that uses Idempotency-Keys, the limit of
// OpenID Connect Core, section 2.
const maxSubject = 255

// CheckKeys returns BadUserInput if the caller cannot use Idempotency-Keys. PostgreSQL stores no
// NUL, and tokens without a subject have different holders.
func (p Caller) CheckKeys() error {
	s := p.Subject
	if len(p.Issuer) > maxSubject || s == "" || len(s) > maxSubject || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, unicode.IsControl) {
		return Errorf(BadUserInput, "An Idempotency-Key belongs to the subject of its token: "+
			"sub must have 1 to %d bytes, without control characters.", maxSubject)
	}
	return nil
}

// The scopes of the roles. WriteScope includes ReadScope and every narrow scope, such as "books:create", and
// AdminScope none.
const (
	ReadScope  = "catalogue:read"  // the names of those who changed a row
	WriteScope = "catalogue:write" // all writes of books, genres and categories
	AdminScope = "catalogue:admin" // accounts
)

// KeyScope returns the text that separates the Idempotency-Keys of callers.
func (p Caller) KeyScope() string {
	if p.Issuer == "" || p.Account != nil {
		return p.Subject
	}
	return p.Issuer + " " + p.Subject
}

// SplitScopes returns scopes that are separated by spaces only (RFC 6749, section 3.3).
func SplitScopes(scopes string) []string {
	return strings.FieldsFunc(scopes, func(r rune) bool { return r == ' ' })
}

// lacks returns the first missing scope.
func (p Caller) lacks(scopes []string) (scope string, lacking bool) {
	for _, scope := range scopes {
		if !p.Has(scope) {
			return scope, true
		}
	}
	return WriteScope, len(scopes) == 0 && !p.Has(WriteScope)
}

// Has reports whether the caller has a scope. Only a session of an account has AdminScope.
func (p Caller) Has(scope string) bool {
	if scope == AdminScope {
		return p.Operator || p.Session != 0 && Grants(p.Scopes, scope)
	}
	return !p.Scoped || Grants(p.Scopes, scope)
}

// Grants reports whether scopes, separated by spaces, include a scope.
func Grants(scopes, scope string) bool {
	given := SplitScopes(scopes)
	return slices.Contains(given, scope) || scope != AdminScope && slices.Contains(given, WriteScope)
}

// Role is a set of scopes by name.
type Role string

// The roles. Each has the scopes of those before it.
const (
	Reader Role = "reader"
	Editor Role = "editor"
	Admin  Role = "admin"
)

// Roles has the scopes of each role, separated by spaces.
var Roles = map[Role]string{
	Reader: ReadScope,
	Editor: ReadScope + " " + WriteScope,
	Admin:  ReadScope + " " + WriteScope + " " + AdminScope,
}

// MarshalGQL implements graphql.Marshaler.
func (r Role) MarshalGQL(w io.Writer) { _, _ = io.WriteString(w, `"`+strings.ToUpper(string(r))+`"`) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (r *Role) UnmarshalGQL(v any) error {
	text, _ := v.(string)
	if *r = Role(strings.ToLower(text)); Roles[*r] == "" {
		return fmt.Errorf("%v is no role", v)
	}
	return nil
}

// LoginInput is the input of login.
type LoginInput struct {
	Name, Password   string
	ClientMutationID *string
}

// LoginPayload is the result of login.
type LoginPayload struct {
	Token            string
	ExpiresAt        Timestamp
	ClientMutationID *string
}

// LogoutInput is the input of logout, and LogoutPayload its result.
type (
	LogoutInput   struct{ ClientMutationID *string }
	LogoutPayload struct{ ClientMutationID *string }
)

// Account is a person who signs in.
type Account struct {
	ID          ID
	Name        string // to sign in; a name or an email address
	DisplayName string
	Role        Role
	Language    string // of the pages, as a tag of BCP 47; empty: not chosen
	Pending     bool   // no password was chosen yet
	Disabled    bool
	CreatedAt   Timestamp
	SeenAt      *Timestamp // nil before the first login
}

// CleanSubject returns a subject without invalid UTF-8 and control characters, as the log of changes has it.
func CleanSubject(subject string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(subject, ""))
}

const accountPrefix = "account:"

// Subject returns the subject and actor of an account.
func (a *Account) Subject() string { return accountPrefix + a.ID.String() }

// AccountOf returns the id of the account that is an actor or a subject, and false for another one.
func AccountOf(subject string) (ID, bool) {
	text, ok := strings.CutPrefix(subject, accountPrefix)
	id := ParseID(text)
	return id, ok && id > 0 && id.String() == text
}

// LooksLikeAccount reports whether a reader may take a subject for an account. It compares identity keys without
// accents. A character outside ASCII may look like any letter, and 0 like o, unless the word is of one script that has
// no such letters: "студент:1" is not an account's.
func LooksLikeAccount(subject string) bool {
	key := slices.DeleteFunc([]rune(collate.Identity(CleanSubject(subject))), func(r rune) bool {
		return unicode.Is(unicode.Mn, r)
	})
	if len(key) < len(accountPrefix) {
		return false
	}
	key = key[:len(accountPrefix)]
	for i, r := range accountPrefix {
		if key[i] != r && key[i] < utf8.RuneSelf && (key[i] != '0' || r != 'o') {
			return false
		}
	}
	word := key[:len(key)-1]
	for name, script := range unicode.Scripts {
		if !slices.Contains(confusableScripts, name) && !slices.ContainsFunc(word, func(r rune) bool {
			return !unicode.Is(script, r)
		}) {
			return false
		}
	}
	return true
}

// confusableScripts are those in which a word can look like "account" (Unicode Technical Standard #39,
// confusables.txt), and Common, which has signs and digits.
var confusableScripts = []string{"Common", "Coptic", "Greek", "Latin", "Lisu"}

// TokenError is the error of a refused token. For a read it is only a warning.
type TokenError struct {
	Code    TokenCode
	Message string // for users
	Err     error  // cause, only logged
}

// TokenCode is the kind of a TokenError.
type TokenCode string

// The kinds of a TokenError.
const (
	TokenExpired   TokenCode = "TOKEN_EXPIRED"   // no longer valid
	TokenInvalid   TokenCode = "TOKEN_INVALID"   // invalid or malformed
	TokenUnchecked TokenCode = "TOKEN_UNCHECKED" // no keys to check it
)

func (e *TokenError) Error() string { return string(e.Code) + ": " + e.Err.Error() }

func (e *TokenError) Unwrap() error { return e.Err }

// asError returns the error for a request that needs a valid token.
func (e *TokenError) asError(message string) *Error {
	if e.Code == TokenUnchecked {
		return &Error{Code: Unavailable, Message: e.Message, Err: e}
	}
	return &Error{Code: Unauthenticated, Message: message, Err: e}
}

// callerKey is the key of a Caller or a *TokenError.
type callerKey struct{}

// WithCaller returns a context with a caller.
func WithCaller(ctx context.Context, p Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, p)
}

type stillValidKey struct{}

// WithStillValid returns a context for work that lasts, such as a stream. stillValid reports whether the caller's
// session or token has not ended since.
func WithStillValid(ctx context.Context, stillValid func(context.Context) bool) context.Context {
	return context.WithValue(ctx, stillValidKey{}, stillValid)
}

// StillValid returns the function of WithStillValid, or nil for a caller that counts until it expires.
func StillValid(ctx context.Context) func(context.Context) bool {
	stillValid, _ := ctx.Value(stillValidKey{}).(func(context.Context) bool)
	return stillValid
}

// WithTokenError returns a context with the error of a refused token.
func WithTokenError(ctx context.Context, err *TokenError) context.Context {
	return context.WithValue(ctx, callerKey{}, err)
}

// TokenErrorOf returns the error of the request's token, nil for a valid token or none.
func TokenErrorOf(ctx context.Context) *TokenError {
	err, _ := ctx.Value(callerKey{}).(*TokenError)
	return err
}

var errUnauthenticated = Errorf(Unauthenticated, "Unauthenticated.")

// CallerOf returns the caller of the request. Without a valid token the error is Unauthenticated,
// with the same message for all causes. If tokens cannot be checked, it is Unavailable.
func CallerOf(ctx context.Context) (Caller, error) {
	switch who := ctx.Value(callerKey{}).(type) {
	case Caller:
		return who, nil
	case *TokenError:
		return Caller{}, who.asError(errUnauthenticated.Message)
	}
	return Caller{}, errUnauthenticated
}

// Authorise returns the caller of a write that needs all of scopes, such as "books:create", or
// WriteScope if there are none. For a missing scope the error is Forbidden. Every write calls it
// first.
func Authorise(ctx context.Context, scopes ...string) (Caller, error) {
	p, err := CallerOf(ctx)
	if err != nil {
		return Caller{}, err
	}
	scope, lacking := p.lacks(scopes)
	switch {
	case lacking && p.Cookie:
		return Caller{}, Errorf(Forbidden, "Your account may not do this.")
	case lacking:
		return Caller{}, Errorf(Forbidden, "The token lacks the scope %s.", scope)
	}
	return p, nil
}

// Viewer is a caller's own view of itself.
type Viewer struct {
	Account   *Account
	Subject   *string
	Scopes    []string // from the token
	ExpiresAt Timestamp
}

// ViewerOf returns the viewer of a request, nil without a token, and an error for a refused token.
func ViewerOf(ctx context.Context) (*Viewer, error) {
	if refused := TokenErrorOf(ctx); refused != nil {
		return nil, refused.asError(refused.Message)
	}
	p, err := CallerOf(ctx)
	if err != nil {
		return nil, nil
	}
	v := &Viewer{Account: p.Account, Scopes: SplitScopes(p.Scopes), ExpiresAt: Timestamp(p.Expires.UnixMicro())}
	if p.Subject != "" {
		v.Subject = &p.Subject
	}
	return v, nil
}
