package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"library-catalogue/graph/model"
)

// answerHours is how long the response of an Idempotency-Key is stored.
const answerHours = 24

// Idempotent runs fn in a transaction and stores its answer under the caller's key. A second call
// with the same key and fingerprint returns the stored answer and changes nothing. The same key
// with another fingerprint is BadUserInput. Concurrent calls with one key run one after another.
// Errors are not stored. A purged answer is a Conflict.
func (s *Store) Idempotent(
	ctx context.Context, subject, key, fingerprint string, fn func(context.Context) ([]byte, error),
) (answer []byte, replayed bool, err error) {
	err = s.Write(ctx, func(ctx context.Context) error {
		taken, err := s.exec(ctx, `INSERT INTO idempotency_keys AS k (subject, key, fingerprint, answer)
VALUES ($1, $2, $3, $4) ON CONFLICT (subject, key) DO UPDATE
SET fingerprint = excluded.fingerprint, created_at = excluded.created_at
WHERE k.created_at < `+s.dialect.HoursAgo(answerHours), subject, key, fingerprint, []byte{})
		if err != nil {
			return err
		}
		if replayed = taken == 0; replayed {
			answer, err = s.answer(ctx, subject, key, fingerprint)
			return err
		}
		if answer, err = fn(ctx); err != nil {
			return err
		}
		_, err = s.exec(ctx, `UPDATE idempotency_keys SET answer = $1 WHERE subject = $2 AND key = $3`, answer,
			subject, key)
		return err
	})
	return answer, replayed, err
}

func (s *Store) answer(ctx context.Context, subject, key, fingerprint string) (answer []byte, err error) {
	var first struct {
		Fingerprint string
		Answer      []byte
	}
	err = s.getRow(ctx, &first, `SELECT fingerprint, answer FROM idempotency_keys WHERE subject = $1 AND key = $2`,
		subject, key)
	if errors.Is(err, sql.ErrNoRows) { // deleted by ForgetAnswers since the INSERT
		return nil, errors.Join(model.ErrRetry, err)
	}
	if err != nil {
		return nil, err
	}
	if first.Fingerprint != fingerprint {
		return nil, model.Errorf(model.BadUserInput,
			"This Idempotency-Key was used with another request. Use a new key for a new request.")
	}
	if bytes.Equal(first.Answer, purgedAnswer) {
		return nil, model.Errorf(model.Conflict, "The change of this Idempotency-Key is stored, but its response was "+
			"purged. Read the object, and use a new key for a new request.")
	}
	return first.Answer, nil
}

// purgedAnswer replaces an answer that was purged. No answer is like it.
var purgedAnswer = []byte{0}

// purgeAnswers deletes all stored answers, because each may have a row in any form. The keys remain, so
// that no request runs twice.
func (s *Store) purgeAnswers(ctx context.Context) error {
	_, err := s.exec(ctx, `UPDATE idempotency_keys SET answer = $1`, purgedAnswer)
	return err
}

// ForgetAnswers deletes answers that are older than answerHours.
func (s *Store) ForgetAnswers(ctx context.Context) error {
	_, err := s.exec(ctx, `DELETE FROM idempotency_keys WHERE created_at < `+s.dialect.HoursAgo(answerHours))
	return err
}
