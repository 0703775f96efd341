package model

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// MaxExplained is how many statements an Explanation has.
const MaxExplained = 100

// Explanation notes the statements of a request, for who wants to know what they
// do. It is safe for concurrent use.
type Explanation struct {
	mu         sync.Mutex
	statements []Explained
	omitted    int
}

// Explained is a statement that was run.
type Explained struct {
	Statement
	Field     string // whose statement it is: response keys from the root, separated by dots
	Arguments []any  // strings, numbers, booleans, times and nil
	// Plan asks the database how it would run the statement now, with these
	// arguments, as JSON; nil for what has no plan, as COMMIT.
	Plan func(context.Context) (json.RawMessage, error)
}

// Add notes a statement that was run for the GraphQL field of ctx.
func (e *Explanation) Add(ctx context.Context, statement Explained) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.statements) == MaxExplained {
		e.omitted++
		return
	}
	statement.Field = fieldOf(ctx)
	e.statements = append(e.statements, statement)
}

// Statements gives the first MaxExplained statements in the order in which they
// ended, and how many more there were.
func (e *Explanation) Statements() (statements []Explained, omitted int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.statements, e.omitted
}

// fieldOf gives the field of ctx, whichever element of a list it is.
func fieldOf(ctx context.Context) string {
	var names []string
	for _, element := range graphql.GetFieldContext(ctx).Path() {
		if name, ok := element.(ast.PathName); ok {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ".")
}

// Explain has the statements of the request noted from now on.
func (s *Stats) Explain() *Explanation {
	s.explanation = &Explanation{}
	return s.explanation
}

// Explanation gives the notes of the statements, or nil where nobody asked.
func (s *Stats) Explanation() *Explanation { return s.explanation }
