package model

// RestoreInput names the state to which a row is restored.
type RestoreInput struct {
	ID               ID
	Position         string // of a change of the row
	ClientMutationID *string
}

// The restores of each type.
type (
	RestoreBookInput     = RestoreInput
	RestoreGenreInput    = RestoreInput
	RestoreCategoryInput = RestoreInput

	RestoreBookPayload     = Payload[Book]
	RestoreGenrePayload    = Payload[Genre]
	RestoreCategoryPayload = Payload[Category]
)
