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
	"library-catalogue/lookup"
)

// ConfigCommand is catalogue config. It takes the flags of serve, and shows the settings that serve would have
// with them in the same environment.
type ConfigCommand struct {
	Command
	cli.OutputFlags
}

// setting is the current value of a flag of serve.
type setting struct {
	Name     string `json:"name"` // the flag's
	Variable string `json:"variable"`
	Value    string `json:"value"`  // empty if not set
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
	serve := command.Model.Children[slices.IndexFunc(command.Model.Children, func(n *kong.Node) bool {
		return n.Name == "serve"
	})]
	var settings []setting
	for _, flag := range command.Selected().Flags {
		if !slices.ContainsFunc(serve.Flags, func(f *kong.Flag) bool { return f.Name == flag.Name }) {
			continue // a flag of config itself
		}
		s := setting{Name: flag.Name, Variable: flag.Envs[0], Value: shown(flag), Source: sourceOf(command, flag)}
		switch { // computed defaults
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

// sourceOf returns the source of a flag's value: flag, environment or default.
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

// masked replaces a secret.
const masked = "********"

// shown returns a flag's value with secrets masked.
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
	if flag.Name == "lookup" {
		return shownSources(text)
	}
	if flag.Name == "replica-url" {
		urls := strings.Fields(text)
		for i, url := range urls {
			urls[i] = withoutPassword(url)
		}
		return strings.Join(urls, " ")
	}
	if strings.HasSuffix(flag.Name, "-url") || strings.Contains(text, "://") {
		return withoutPassword(text)
	}
	return text
}

// sourceHost matches the beginning of an address with its host.
var sourceHost = regexp.MustCompile(`^ *https?://[^/?#]+[/?]`)

// shownSources returns the sources of look-ups. It masks the addresses behind their hosts, because they may have a key.
func shownSources(setting string) string {
	sources := strings.Split(setting, ",")
	for i, source := range sources {
		if slices.Contains(lookup.Presets(), strings.TrimSpace(source)) {
			continue
		}
		host := sourceHost.FindString(source)
		if strings.Contains(source, "@") { // it may separate a password from the host
			host = ""
		}
		sources[i] = host + masked
	}
	return strings.Join(sources, ",")
}

// secretName matches the names of secret URL parameters.
var secretName = regexp.MustCompile(`(?i)password|secret|token|key|^sig`)

// withoutPassword masks the secrets in a URL. It masks the whole URL if the end of the password is uncertain.
func withoutPassword(text string) string {
	if strings.HasPrefix(text, "sqlite:") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return masked
	}
	_, rest, hasHost := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#") // an @ behind it may separate the password from the host
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
