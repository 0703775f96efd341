package serve

import (
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
)

// ConfigCommand is catalogue config. It takes the flags of serve, so that it shows what serve would do with
// the same flags in the same environment.
type ConfigCommand struct {
	Command
	cli.OutputFlags
}

// setting is a flag of serve as it stands.
type setting struct {
	Name     string `json:"name"` // of the flag
	Variable string `json:"variable"`
	Value    string `json:"value"`  // empty where it is not set
	Source   string `json:"source"` // flag, environment or default
}

// Run implements the command.
func (c *ConfigCommand) Run(command *kong.Context, std cli.Stdio, env cli.Getenv) error {
	c.setDefaults()
	settings := c.settings(command, env)
	return c.Print(std.Out, settings, func(out io.Writer) error {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "VARIABLE\tVALUE\tFROM")
		for _, s := range settings {
			if s.Value == "" {
				s.Value = "(not set)"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", s.Variable, s.Value, s.Source)
		}
		return table.Flush()
	})
}

func (c *ConfigCommand) settings(command *kong.Context, env cli.Getenv) []setting {
	serve := command.Model.Children[slices.IndexFunc(command.Model.Children, func(n *kong.Node) bool { return n.Name == "serve" })]
	var settings []setting
	for _, flag := range command.Selected().Flags {
		if !slices.ContainsFunc(serve.Flags, func(f *kong.Flag) bool { return f.Name == flag.Name }) {
			continue // its own
		}
		s := setting{Name: flag.Name, Variable: flag.Envs[0], Value: shown(flag), Source: sourceOf(command, flag)}
		switch { // defaults that depend on something else
		case s.Name == "addr" && c.Addr == "":
			s.Value = c.Address(env)
			if env("PORT") != "" {
				s.Source = "environment (PORT)"
			}
		case s.Name == "database-url" && c.DatabaseURL == "":
			s.Value = c.URL()
		}
		settings = append(settings, s)
	}
	return settings
}

// sourceOf returns where the value of a flag came from: flag, environment or default.
func sourceOf(command *kong.Context, flag *kong.Flag) string {
	for _, p := range command.Path {
		switch {
		case p.Flag != flag:
		case p.Resolved:
			return "environment"
		default:
			return "flag"
		}
	}
	return "default"
}

// masked stands for a secret.
const masked = "********"

// shown returns a flag's value with its secrets masked.
func shown(flag *kong.Flag) string {
	switch flag.Target.Kind() {
	case reflect.String, reflect.Slice, reflect.Pointer:
		if flag.Target.IsZero() {
			return ""
		}
	}
	if flag.Tag.Has("secret") {
		return masked
	}
	value := reflect.Indirect(flag.Target).Interface()
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	text := fmt.Sprint(value)
	if strings.HasSuffix(flag.Name, "-url") || strings.Contains(text, "://") {
		return withoutPassword(text)
	}
	return text
}

// secretName matches the parameters of a URL whose values are secret.
var secretName = regexp.MustCompile(`(?i)password|secret|token|key|^sig`)

// withoutPassword masks the secrets in a URL, and all of a URL whose form leaves in
// doubt where the password ends.
func withoutPassword(text string) string {
	if strings.HasPrefix(text, "sqlite:") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return masked
	}
	_, rest, hasHost := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#") // an @ after that may be the one before the host
	if !hasHost && strings.ContainsAny(text, "@:=") || end >= 0 && strings.Contains(rest[end:], "@") {
		return masked
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), masked)
	}
	query := u.Query()
	for name := range query {
		if secretName.MatchString(name) {
			query.Set(name, masked)
			u.RawQuery = query.Encode()
		}
	}
	if u.User == nil && u.RawQuery == "" {
		return text
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(masked), masked)
}
