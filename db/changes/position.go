package changes

import "library-catalogue/graph/model"

// ErrGone is the error of a position that the log does not have.
var ErrGone = model.Errorf(model.PositionGone, "The position is no longer kept, or belongs to another state of the "+
	"database. Read everything again and follow from the new position.")

// Parse parses the argument after, or returns nil for nil. The error is BadUserInput.
func Parse(text *string) (*model.Position, error) {
	if text == nil {
		return nil, nil
	}
	p, ok := model.ParsePosition(*text)
	if !ok {
		return nil, model.BadArgument("after", "The after argument must be a position that the changes gave.")
	}
	return &p, nil
}
