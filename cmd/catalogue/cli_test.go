package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/cmd/catalogue/usage"
)

// TestFailures runs what the table of docs/cli.md has: each command ends with the code,
// and says the sentence on standard error.
func TestFailures(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cli.md")
	must(t, err)
	program := linkSelf(t)
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], "`") {
			continue
		}
		rows++
		code, err := strconv.Atoi(strings.TrimSpace(cells[3]))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		words, sentence := strings.Fields(strings.Trim(cells[1], "`")), strings.Trim(cells[2], "`")
		t.Run(strings.TrimSpace(cells[0]), func(t *testing.T) {
			t.Parallel()
			command := exec.Command(program)
			command.Dir = filesOfFailures(t)
			command.Env = []string{"GORACE=atexit_sleep_ms=10"}
			for words[0] != "catalogue" {
				command.Env, words = append(command.Env, words[0]), words[1:]
			}
			command.Args = words
			var stderr strings.Builder
			command.Stderr = &stderr
			got := 0
			if exit, ok := errors.AsType[*exec.ExitError](command.Run()); ok {
				got = exit.ExitCode()
			}
			if got != code || !strings.Contains(stderr.String(), sentence) {
				t.Errorf("%q ended with %d, not %d, and said, without %q:\n%s", words, got, code, sentence, &stderr)
			}
		})
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}

// filesOfFailures returns a folder with what the commands of docs/cli.md read.
func filesOfFailures(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"bad.csv":   header + csvRow(0) + "No price,9,2000-01-01,Author,,Genre,Fiction\n",
		"days.csv":  header + "A,9,3/4/2005,Author,1.00,Genre,Fiction\n",
		"twice.csv": header + "A,9,2000-01-01,Author,1.00,Genre,Fiction\nA,9,2000-01-01,Author,2.00,Genre,Fiction\n",
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, name := range []string{"books.db", "newer.db"} {
		catalogue(t, 0, "", "db", "migrate", "up", "--database-url=sqlite:"+filepath.Join(folder, name))
	}
	must(t, makeNewer(filepath.Join(folder, "newer.db")))
	return folder
}

// TestCommandsAreListed: each command is in the help, the manual page and the
// completions, with each of its flags.
func TestCommandsAreListed(t *testing.T) {
	t.Parallel()
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	page := strings.NewReplacer(`\-`, "-", `\&`, "").Replace(catalogue(t, 0, "", "man"))
	for _, command := range parser.Model.Leaves(true) {
		path := strings.Fields(strings.TrimPrefix(command.FullPath(), "catalogue "))
		if !strings.Contains(page, "\n\\fB"+strings.Join(path, " ")) {
			t.Errorf("the manual page lacks %q", path)
		}
		complete := func(last string) string {
			return "\n" + catalogue(t, 0, "", append(append([]string{"__complete"}, path[:len(path)-1]...), last)...)
		}
		if name := path[len(path)-1]; !strings.Contains(complete(name[:1]), "\n"+name+"\t") {
			t.Errorf("%q is not completed: %s", path, complete(name[:1]))
		}
		path = append(path, "")
		flags, help := complete("--"), catalogue(t, 0, "", append([]string{"help"}, path[:len(path)-1]...)...)
		for _, flag := range command.Flags {
			if !strings.Contains(flags, "\n--"+flag.Name+"\t") || !strings.Contains(help, flag.Name) || !strings.Contains(page, "\n\\fB"+strings.TrimSuffix(flag.Summary(), "="+flag.FormatPlaceHolder())) {
				t.Errorf("--%s of %q is not listed", flag.Name, path)
			}
		}
	}
	if out := catalogue(t, 0, "", "__complete", "_"); out != "" {
		t.Errorf("what is hidden is completed: %s", out)
	}
}

// TestDeployedSettings: files that people deploy with name settings that are there.
func TestDeployedSettings(t *testing.T) {
	t.Parallel()
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, path := range []string{"docs/deploy/kubernetes.yaml", "docs/deploy/Caddyfile", "docs/deploy/nginx.conf", "packaging/catalogue.env", "docker-compose.yml", "Dockerfile"} {
		text, err := os.ReadFile("../../" + path)
		must(t, err)
		names := regexp.MustCompile(`CATALOGUE_[A-Z_]+[=:,]`).FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s has no settings", path)
		}
		for i := range names {
			names[i] = names[i][:len(names[i])-1] + "="
		}
		for _, sentence := range usage.UnknownVariables(parser.Model, names) {
			t.Errorf("%s: %s", path, sentence)
		}
	}
}

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
	for _, flag := range serveFlags(t) {
		if s := shown[flag.Name]; s.Variable != flag.Envs[0] || s.Source != "default" || strings.Contains(s.Value, "nil") || strings.HasPrefix(s.Value, "0x") {
			t.Errorf("--%s is shown as %+v", flag.Name, shown[flag.Name])
		}
		delete(shown, flag.Name)
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
		"postgres://me:" + secret, "postgres://me:pass " + secret + "@host/name", "postgres://host/name?p%61ssword=" + secret,
	} {
		out := catalogue(t, 0, "", "config", "--database-url="+url, "--jwks-url="+url)
		if strings.Contains(out, secret) || strings.Count(out, masked) < 2 {
			t.Errorf("%s is shown as\n%s", url, out)
		}
	}
	for setting, want := range map[string]string{
		"dnb, loc": "dnb, loc", "dnb,https://a.example:8443/sru?query={isbn}&x=" + secret: "dnb,https://a.example:8443/" + masked,
		"https://a.example?" + secret + "={isbn}": "https://a.example?" + masked, "https://a.example/" + secret + "/{isbn}," + secret: "https://a.example/" + masked + "," + masked,
		"https://me:" + secret + "@a.example/{isbn}": masked, "https://me:x/" + secret + "@a.example/{isbn}": masked, secret + "://a.example/{isbn}": masked,
	} {
		if out := catalogue(t, 0, "", "config", "--lookup="+setting); strings.Contains(out, secret) || !strings.Contains(out, " "+want+" ") {
			t.Errorf("%s is shown as\n%s", setting, out)
		}
	}
	for _, flag := range serveFlags(t) {
		name := strings.ToLower(flag.Name)
		if !strings.Contains(name, "secret") && !strings.Contains(name, "password") || flag.PlaceHolder == "FILE" {
			continue
		}
		if out := catalogue(t, 0, "", "config", "--"+flag.Name+"="+secret); strings.Contains(out, secret) || !strings.Contains(out, masked) {
			t.Errorf("--%s is shown:\n%s", flag.Name, out)
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

// serveFlags returns the flags of serve.
func serveFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, command := range parser.Model.Leaves(false) {
		if command.Name == "serve" {
			return command.Flags
		}
	}
	t.Fatal("there is no serve")
	return nil
}
