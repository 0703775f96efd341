package db

import (
	"context"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
)

// maxActor is the maximum length in bytes of a logged actor.
const maxActor = 255

// actorOf returns the subject of the caller as the log stores it, or an empty text.
func actorOf(ctx context.Context) string {
	caller, err := model.Caller(ctx)
	if err != nil {
		return ""
	}
	subject := caller.Subject
	if len(subject) > maxActor {
		subject = subject[:maxActor]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(subject, ""))
}

// asActor returns fn as a transaction whose changes are logged with the caller as the actor.
func (s *Store) asActor(fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		actor := actorOf(ctx)
		if actor == "" {
			return fn(ctx)
		}
		if _, err := s.exec(ctx, s.dialect.SetActor, actor); err != nil {
			return err
		}
		if err := fn(ctx); err != nil || s.dialect.ClearActor == "" {
			return err
		}
		_, err := s.exec(ctx, s.dialect.ClearActor)
		return err
	}
}

// actorsOf returns the actors of an INSERT of some rows, unless its transaction has one.
func actorsOf(ctx context.Context, rows int) []string {
	actor := actorOf(ctx)
	if actor == "" || txOf(ctx) != nil {
		return nil
	}
	actors := make([]string, rows)
	for i := range actors {
		actors[i] = actor
	}
	return actors
}
