// Package query builds SELECT statements and their arguments, without running them. testdata has
// the statements for each engine.
package query

import (
	"strconv"

	"library-catalogue/db/dialect"
)

// Builder collects the arguments of a statement.
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

// alias returns a unique alias for a table.
func (b *Builder) alias() string {
	b.aliases++
	return "f" + strconv.Itoa(b.aliases)
}
