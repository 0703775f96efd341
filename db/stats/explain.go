package stats

import (
	"context"
	"encoding/json"
	"sync"
)

// MaxExplained is how many statements an Explanation has.
const MaxExplained = 100

// Explanation records the statements of a request and their plans. It is safe for concurrent use.
type Explanation struct {
	field func(context.Context) string

	mu         sync.Mutex
	statements []Explained
	omitted    int
}

// Explained is a statement that was run.
type Explained struct {
	Statement
	Field     string // whose statement it is
	Arguments []any  // strings, numbers, booleans, times and nil
	// Plan asks the database how it would run the statement now, with these
	// arguments, as JSON; nil for what has no plan, as COMMIT.
	Plan func(context.Context) (json.RawMessage, error)
}

// Add records a statement that was run with ctx.
func (e *Explanation) Add(ctx context.Context, statement Explained) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.statements) == MaxExplained {
		e.omitted++
		return
	}
	statement.Field = e.field(ctx)
	e.statements = append(e.statements, statement)
}

// Statements returns the first MaxExplained statements in the order in which they
// ended, and how many more there were.
func (e *Explanation) Statements() (statements []Explained, omitted int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.statements, e.omitted
}
