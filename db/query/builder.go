// Package query writes SELECT statements: their text with its arguments, and
// nothing that runs them. testdata has what it writes for each engine.
package query

import (
	"strconv"

	"library-catalogue/db/dialect"
)

// Builder collects the arguments of a statement while its text is written.
type Builder struct {
	Dialect *dialect.Dialect
	Args    []any
	aliases int
}

// New returns a Builder for a statement of an engine.
func New(d *dialect.Dialect) *Builder { return &Builder{Dialect: d} }

// Arg adds an argument and returns its placeholder.
func (b *Builder) Arg(v any) string {
	b.Args = append(b.Args, v)
	return "$" + strconv.Itoa(len(b.Args))
}

// alias returns an alias that no other table of the statement has.
func (b *Builder) alias() string {
	b.aliases++
	return "f" + strconv.Itoa(b.aliases)
}
