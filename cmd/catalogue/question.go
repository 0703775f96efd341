package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// withAnswers adds the flags that answer questions, and a command with one answer to each and defaults for empty cells.
func (c *importCmd) withAnswers(err error, file *importer.File, args []string) error {
	questions, ok := errors.AsType[importer.Questions](err)
	if !ok {
		return err
	}
	var b strings.Builder
	flags := slices.Clone(args)
	for _, q := range questions {
		if q.Option == "map" {
			b.WriteString(q.Text.String() + ".")
			for _, example := range q.Examples {
				b.WriteString("\n  " + example.String())
			}
			b.WriteString(map[bool]string{true: "\n", false: " "}[len(q.Examples) > 0])
			b.WriteString("Use --map FIELD=COLUMN for a column of another name (--map name=title), or --default " +
				"FIELD=VALUE for a missing one")
			if file.HasGuessedHeader() {
				b.WriteString(", or --header-row N if another row has the names of the columns")
			}
			b.WriteString("\n")
			continue
		}
		b.WriteString(q.String())
		answers := make([]string, len(q.Answers))
		for i, a := range q.Answers {
			answers[i] = strings.Join(append(optionFlags(a), a.Meaning), " ")
		}
		fmt.Fprintf(&b, ": %s\n", strings.Join(answers, "; "))
	}
	for _, answer := range file.FirstAnswers(questions) {
		flags = append(flags, optionFlags(answer)...)
	}
	if len(flags) > len(args) {
		b.WriteString("For example: " + commandLine(flags))
	}
	return errors.New(strings.TrimSuffix(b.String(), "\n"))
}

// optionFlags returns the flags of an answer.
func optionFlags(answer importer.Answer) []string {
	flag := "--" + strings.ReplaceAll(answer.Option, "_", "-")
	if answer.Option == "no_header" {
		return []string{flag}
	}
	return []string{flag, answer.Value}
}

// adviseDefaults prints a command that also stores the rows that only lack values.
func (c *importCmd) adviseDefaults(out io.Writer, file *importer.File, args []string) {
	rows, fields := file.Gaps()
	if rows == 0 {
		return
	}
	args = slices.Clone(args)
	for _, field := range fields {
		args = append(args, "--default", field+"="+model.ImportField(field).StandIn())
	}
	if c.Rejects != "" && !c.Force {
		args = append(args, "--force")
	}
	fmt.Fprintf(out, "A default for %s stores %d of these rows too: %s\n", strings.Join(fields, ", "), rows,
		commandLine(args))
}

func commandLine(args []string) string {
	line := "catalogue"
	for _, arg := range args {
		line += " " + shellQuoted(arg)
	}
	return line
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
