package changes

import (
	"context"

	"library-catalogue/graph/model"
)

// maxActor is the maximum length in bytes of a logged actor.
const maxActor = 255

// Actor returns the subject of the caller as the log stores it, or an empty text.
func Actor(ctx context.Context) string {
	caller, err := model.CallerOf(ctx)
	if err != nil {
		return ""
	}
	subject := caller.Subject
	if len(subject) > maxActor {
		subject = subject[:maxActor]
	}
	return model.CleanSubject(subject)
}
