package accounts

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

// TokenPrefix begins the own tokens of accounts, so that scanners find a leaked one.
const TokenPrefix = "cat_"

const (
	maxTokens   = 100 // tokens per account
	maxTokenTTL = 366 * 24 * time.Hour
	secretChars = 43 // 256 bits in base62
	sumChars    = 6  // a CRC-32 in base62
)

// base62 returns a big-endian number in base 62, with zeros in front.
func base62(number []byte, chars int) string {
	text := new(big.Int).SetBytes(number).Text(62)
	return strings.Repeat("0", chars-len(text)) + text
}

// newToken returns a new token: the prefix, 256 random bits, and their CRC-32, like GitHub's.
func newToken() string {
	random := make([]byte, 32)
	rand.Read(random) // never returns an error
	secret := base62(random, secretChars)
	return TokenPrefix + secret + checksum(secret)
}

func checksum(secret string) string {
	return base62(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(secret))), sumChars)
}

// Token returns the caller of an account's own token; ok is false if it is unknown, revoked or expired. A scope counts
// if the token has it, and the role of its account now.
func (s *Service) Token(ctx context.Context, token string) (p model.Caller, ok bool, err error) {
	secret, found := strings.CutPrefix(token, TokenPrefix)
	if !found || len(secret) != secretChars+sumChars || checksum(secret[:secretChars]) != secret[secretChars:] {
		return p, false, nil // without a look-up
	}
	hash := digest(token)
	return s.lookUp(ctx, "token "+hex.EncodeToString(hash), func(ctx context.Context) (*model.Caller, error) {
		row, err := s.store.TokenBySecret(ctx, hash, s.micros(0))
		if err != nil || row == nil {
			return nil, err
		}
		if now := s.micros(0); row.UsedAt == nil || now >= *row.UsedAt+useInterval.Microseconds() {
			_ = s.store.UseToken(ctx, row.Token, now) // a database that refuses writes still serves reads
		}
		p := callerOf(row.Account(), row.ExpiresAt)
		p.Scopes = strings.Join(granted(row.Role, model.SplitScopes(row.Scopes)), " ")
		return p, nil
	})
}

// granted returns the scopes that a role has.
func granted(role model.Role, scopes []string) (has []string) {
	for _, scope := range scopes {
		if model.Grants(model.Roles[role], scope) {
			has = append(has, scope)
		}
	}
	return has
}

// Token is an own token of an account, without its secret.
type Token struct {
	ID        model.ID         `json:"id"`
	Name      string           `json:"name"`
	Scopes    []string         `json:"scopes"`
	CreatedAt model.Timestamp  `json:"created_at"`
	UsedAt    *model.Timestamp `json:"used_at"` // nil before the first use
	ExpiresAt model.Timestamp  `json:"expires_at"`
}

// TokenInput describes a new token.
type TokenInput struct {
	Name   string
	Scopes []string
	TTL    time.Duration
}

// tokenScopes are the scopes of tokens. None manages accounts.
var tokenScopes = func() map[string]bool {
	scopes := map[string]bool{model.ReadScope: true, model.WriteScope: true}
	for _, noun := range []string{"books", "genres", "categories"} {
		for _, verb := range []string{"create", "update", "delete"} {
			scopes[noun+":"+verb] = true
		}
	}
	return scopes
}()

// CreateToken makes a token of the caller, and returns its text, which is not stored. Its scopes are at most the
// caller's.
func (s *Service) CreateToken(ctx context.Context, in TokenInput) (text string, err error) {
	p, err := self(ctx)
	if err != nil {
		return "", err
	}
	var problems model.FieldErrors
	name := trim(in.Name)
	checkName(&problems, "name", name)
	if len(in.Scopes) == 0 {
		problems.Add("scopes", "Choose what the token may do: at least one of the scopes.")
	}
	for _, scope := range in.Scopes {
		if !tokenScopes[scope] || !p.Has(scope) {
			problems.Add("scopes", "The selected scopes are invalid: a token has at most your own.")
			break
		}
	}
	if in.TTL < time.Minute || in.TTL > maxTokenTTL {
		problems.Add("days", "The %s field must be between 1 and 366.")
	}
	if err := problems.Err(); err != nil {
		return "", err
	}
	text = newToken()
	id, err := s.store.AddToken(ctx, p.Account.ID, name, strings.Join(in.Scopes, " "), digest(text), s.micros(0),
		s.micros(in.TTL), maxTokens)
	if err == nil && id == 0 {
		err = model.Errorf(model.Conflict, "An account has at most %d tokens. Revoke one first.", maxTokens)
	}
	if err != nil {
		return "", err
	}
	return text, nil
}

// Tokens returns the tokens of the caller, also expired ones.
func (s *Service) Tokens(ctx context.Context) ([]Token, error) {
	p, err := self(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.Tokens(ctx, p.Account.ID)
	tokens := make([]Token, len(rows))
	for i, row := range rows {
		tokens[i] = Token{
			row.Token, row.Title, model.SplitScopes(row.Scopes),
			model.Timestamp(row.CreatedAt), (*model.Timestamp)(row.UsedAt), model.Timestamp(row.ExpiresAt),
		}
	}
	return tokens, err
}

// RevokeToken revokes a token of the caller. An unknown one is NotFound.
func (s *Service) RevokeToken(ctx context.Context, id model.ID) error {
	p, err := self(ctx)
	if err != nil {
		return err
	}
	defer s.generation.Add(1)
	revoked, err := s.store.RevokeToken(ctx, p.Account.ID, id)
	if err == nil && !revoked {
		err = model.Errorf(model.NotFound, "There is no token %d.", id)
	}
	return err
}
