package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// withAnswers adds the flags that answer questions, and a command with one answer to each.
func (c *importCmd) withAnswers(err error, args []string) error {
	questions, ok := errors.AsType[importer.Questions](err)
	if !ok {
		return err
	}
	var b strings.Builder
	flags := slices.Clone(args)
	for _, q := range questions {
		b.WriteString(q.String())
		if q.Option == "map" {
			b.WriteString(". Use --map FIELD=COLUMN for a column of another name (--map name=title), or --default FIELD=VALUE for a missing one\n")
			flags = append(flags, c.columnFlags(q)...)
			continue
		}
		answers := make([]string, len(q.Answers))
		for i, a := range q.Answers {
			answers[i] = fmt.Sprintf("--%s %s %s", q.Option, a.Value, a.Meaning)
		}
		fmt.Fprintf(&b, ": %s\n", strings.Join(answers, "; "))
		flags = append(flags, "--"+q.Option, q.Answers[0].Value)
	}
	b.WriteString("For example: catalogue")
	for _, flag := range flags {
		b.WriteString(" " + shellQuoted(flag))
	}
	return errors.New(b.String())
}

// columnFlags returns the flags for fields without a column: a column of nearly the same name, or a default.
func (c *importCmd) columnFlags(q *importer.Question) (flags []string) {
	for _, field := range q.Fields {
		isOf := func(pair string) bool { return strings.HasPrefix(pair, field+"=") }
		near := slices.IndexFunc(q.Answers, func(a importer.Answer) bool { return isOf(a.Value) })
		switch {
		case near >= 0:
			flags = append(flags, "--map", q.Answers[near].Value)
		case field == "name":
			flags = append(flags, "--map", "name=COLUMN")
		default:
			if slices.ContainsFunc(c.Map, isOf) {
				flags = append(flags, "--map", field+"=") // the named column does not exist
			}
			if field == "category" || !model.ImportField(field).Nullable {
				flags = append(flags, "--default", field+"="+importer.StandIn(field))
			}
		}
	}
	return flags
}

var (
	password = regexp.MustCompile(`(://[^:@/]*:)[^@/]*(@)|(password=)[^&]*()`)
	plain    = regexp.MustCompile(`^[\w./=:,@%+-]+$`)
)

// shellQuoted returns an argument for a shell, without the password of a URL.
func shellQuoted(arg string) string {
	arg = password.ReplaceAllString(arg, "$1${3}xxxxx$2")
	if plain.MatchString(arg) {
		return arg
	}
	if strings.ContainsFunc(arg, func(r rune) bool { return !unicode.IsPrint(r) }) {
		arg = importer.Printable(arg)
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
