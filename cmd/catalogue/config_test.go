package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"library-catalogue/cmd/catalogue/cli"
)

// masked stands for a secret.
const masked = "********"

// TestConfigIsWhole wants every flag of serve in what config prints.
func TestConfigIsWhole(t *testing.T) {
	t.Parallel()
	type setting struct{ Name, Variable, Value, Source string }
	var settings []setting
	must(t, json.Unmarshal([]byte(catalogue(t, 0, "", "config", "--json")), &settings))
	shown := map[string]setting{}
	for _, s := range settings {
		shown[s.Name] = s
	}
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, command := range parser.Model.Leaves(false) {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			if s := shown[flag.Name]; s.Variable != flag.Envs[0] || s.Source != "default" || strings.Contains(s.Value, "nil") || strings.HasPrefix(s.Value, "0x") {
				t.Errorf("--%s is shown as %+v", flag.Name, shown[flag.Name])
			}
			delete(shown, flag.Name)
		}
	}
	if len(shown) > 0 {
		t.Errorf("serve does not have %v", shown)
	}
}

// TestSecretsAreMasked gives every flag of serve that may hold a secret one.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2-hunter2-hunter2-"
	for _, url := range []string{
		"postgres://me:" + secret + "@host/name?sslmode=disable", "postgres://host/name?user=me&password=" + secret,
		"postgres://me:" + secret + "@host/name?sslpassword=" + secret, "postgres://me:" + secret + "%@host/name",
		"https://issuer.example/keys?api_key=" + secret, "postgres:me:" + secret + "@host/name", "me:" + secret + "@host/name",
		"postgres://me:a@b/" + secret + "@host/name", "postgres://me:5/" + secret + "@host/name", "postgres://me:5?" + secret + "@host/name",
		"host=h user=me password=" + secret, "postgres:/me:" + secret + "@host/name",
	} {
		out := catalogue(t, 0, "", "config", "--database-url="+url, "--jwks-url="+url)
		if strings.Contains(out, secret) || strings.Count(out, masked) < 2 {
			t.Errorf("%s is shown as\n%s", url, out)
		}
	}
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, command := range parser.Model.Leaves(false) {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			name := strings.ToLower(flag.Name)
			if !strings.Contains(name, "secret") && !strings.Contains(name, "password") || flag.PlaceHolder == "FILE" {
				continue
			}
			if out := catalogue(t, 0, "", "config", "--"+flag.Name+"="+secret); strings.Contains(out, secret) || !strings.Contains(out, masked) {
				t.Errorf("--%s is shown:\n%s", flag.Name, out)
			}
		}
	}
}

// TestURLsAreShown wants what is no secret of a URL to be seen.
func TestURLsAreShown(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"sqlite:me@home.db", "foo.db", "mysql://host/x", "postgres:///name?host=%2Frun&user=a%40b", "postgres://me@host:5432/name?sslmode=disable"} {
		if out := catalogue(t, 0, "", "config", "--database-url="+url, "--jwt-audience=me@home"); !strings.Contains(out, " "+url+" ") || !strings.Contains(out, " me@home ") {
			t.Errorf("%s is shown as\n%s", url, out)
		}
	}
	if out := catalogue(t, 0, "", "config", "--database-url=postgres://me:pass@host/name"); !strings.Contains(out, " postgres://me:"+masked+"@host/name ") {
		t.Errorf("a URL with a password is shown as\n%s", out)
	}
}

func TestConfigSources(t *testing.T) {
	t.Parallel()
	env := []string{"CATALOGUE_LOG_LEVEL=debug", "CATALOGUE_CACHE_MB=7", "PORT=1234", "CATALOGUE_RATE="}
	out := catalogueWith(t, env, 0, "", "config", "--cache-mb=8", "--cors-origins=https://a.example,https://b.example", "--introspection=token")
	var lines []string
	for line := range bytes.Lines([]byte(out)) {
		lines = append(lines, strings.Join(strings.Fields(string(line)), " "))
	}
	all := strings.Join(lines, "\n") + "\n"
	for _, want := range []string{
		"CATALOGUE_ADDR :1234 environment (PORT)", "CATALOGUE_DATABASE_URL sqlite:catalogue.db default", "CATALOGUE_LOG_LEVEL DEBUG environment",
		"CATALOGUE_CACHE_MB 8 flag", "CATALOGUE_CORS_ORIGINS https://a.example,https://b.example flag",
		"CATALOGUE_JWT_SECRET (not set) default", "CATALOGUE_SLOW_QUERY 1s default", "CATALOGUE_RATE 0 default", "CATALOGUE_EMPTY false default",
		"CATALOGUE_INTROSPECTION token flag",
	} {
		if !strings.Contains(all, want+"\n") {
			t.Errorf("no line %q in\n%s", want, all)
		}
	}
}
