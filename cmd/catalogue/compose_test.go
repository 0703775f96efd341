package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/lib/pq"

	"library-catalogue/db/dbtest"
)

// composeService is what a service of docker-compose.yml runs with.
type composeService struct {
	Entrypoint  []string
	Environment map[string]string
	MemoryLimit string `yaml:"mem_limit"`
}

// readCompose returns the services of docker-compose.yml.
func readCompose(t *testing.T) map[string]composeService {
	t.Helper()
	text, err := os.ReadFile("../../docker-compose.yml")
	must(t, err)
	var file struct{ Services map[string]composeService }
	must(t, yaml.Unmarshal(text, &file))
	return file.Services
}

// interpolate puts values into ${NAME:-default}, as Compose does.
func interpolate(text string, values map[string]string) string {
	return os.Expand(text, func(name string) string {
		name, fallback, _ := strings.Cut(name, ":-")
		if value, ok := values[name]; ok {
			return value
		}
		return fallback
	})
}

// composed is the service catalogue of docker-compose.yml without Docker: the same
// environment and a PostgreSQL that asks for the password, the secret's command, and
// folders in place of volumes.
type composed struct {
	program string
	env     []string
}

func newComposed(t *testing.T, cluster *dbtest.Cluster, dotEnv map[string]string) composed {
	t.Helper()
	services := readCompose(t)
	secrets := t.TempDir()
	command := slices.Clone(services["secret"].Entrypoint)
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "/secrets/", secrets+"/")
	}
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	server, err := url.Parse(cluster.Database(t))
	must(t, err)
	c := composed{program: linkSelf(t), env: []string{"PATH=" + os.Getenv("PATH"), "CATALOGUE_ADDR=127.0.0.1:0", "CATALOGUE_LOG_FORMAT=json"}}
	for name, value := range services["catalogue"].Environment {
		value = interpolate(value, dotEnv)
		switch name {
		case "CATALOGUE_DATABASE_URL":
			u, err := url.Parse(value)
			must(t, err)
			query := u.Query()
			query.Set("host", server.Query().Get("host"))
			u.Host, u.Path, u.RawQuery = "", server.Path, query.Encode()
			value = u.String()
		case "CATALOGUE_JWT_SECRET_FILE":
			value = filepath.Join(secrets, filepath.Base(value))
		}
		c.env = append(c.env, name+"="+value)
	}
	return c
}

func (c composed) command(args ...string) *exec.Cmd {
	command := exec.Command(c.program, args...)
	command.Env = c.env
	return command
}

// run runs a command of the catalogue, which must end well.
func (c composed) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	command := c.command(args...)
	command.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// TestCompose serves with the environment of docker-compose.yml: the page shows the
// sample, the playground gets its schema, tokens and imports work, and no password of
// whatever characters reaches the log, right or wrong.
func TestCompose(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	admin, err := sql.Open("postgres", cluster.Database(t))
	must(t, err)
	defer admin.Close()
	do := func(statement string) {
		t.Helper()
		if _, err := admin.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	var access string
	must(t, admin.QueryRow(`SHOW hba_file`).Scan(&access))
	do(`COPY (VALUES ('local all catalogue scram-sha-256'), ('local all all trust')) TO ` + pq.QuoteLiteral(access))
	do(`SELECT pg_reload_conf()`)
	do(`CREATE ROLE catalogue SUPERUSER LOGIN`)

	for name, dotEnv := range map[string]map[string]string{
		"defaults":                       {},
		"a password of signs, no sample": {"POSTGRES_PASSWORD": `s3cr/et@a#b?c:d%41$e&f'g"h\i j=`, "CATALOGUE_SAMPLE": "false"},
	} {
		// One after the other: the role is the same.
		t.Run(name, func(t *testing.T) {
			password := interpolate(readCompose(t)["postgres"].Environment["POSTGRES_PASSWORD"], dotEnv)
			do(`ALTER ROLE catalogue PASSWORD ` + pq.QuoteLiteral(password))
			c := newComposed(t, cluster, dotEnv)
			log := c.serve(t, func(url string) {
				client := &http.Client{}
				get := func(path string) string {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
					must(t, err)
					request.Header.Set("Accept", "text/html,*/*")
					response, err := client.Do(request)
					must(t, err)
					defer response.Body.Close()
					body, err := io.ReadAll(response.Body)
					if err != nil || response.StatusCode != http.StatusOK {
						t.Errorf("%s: %s %v\n%s", path, response.Status, err, body)
					}
					return string(body)
				}
				if sample := dotEnv["CATALOGUE_SAMPLE"] != "false"; strings.Contains(get("/"), " data-book=") != sample {
					t.Errorf("the sample is wanted: %v, and not so on the page", sample)
				}
				get("/playground")
				if schema := get("/graphql?query=" + "%7B__schema%7BqueryType%7Bname%7D%7D%7D"); !strings.Contains(schema, `"queryType":{"name":"Query"}`) {
					t.Errorf("the playground's schema: %s", schema)
				}
				c.run(t, header+csvRow(1), "import", "-")
				if !strings.Contains(c.run(t, "", "export"), "Book 1,") {
					t.Error("the import is not in the export")
				}
				body := strings.NewReader(`{"name":"Poetry"}`)
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/categories", body)
				must(t, err)
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(c.run(t, "", "token")))
				response, err := client.Do(request)
				must(t, err)
				response.Body.Close()
				if response.StatusCode != http.StatusCreated {
					t.Errorf("a write with the token: %s", response.Status)
				}
			})
			wrong := dotEnv["POSTGRES_PASSWORD"] + "wrong/@#"
			refused := newComposed(t, cluster, map[string]string{"POSTGRES_PASSWORD": wrong}).command("serve")
			out, err := refused.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("password authentication failed")) {
				t.Errorf("with a wrong password: %v\n%s", err, out)
			}
			log += string(out)
			for _, secret := range []string{password, "s3cr", "wrong/"} {
				// The default password is the user's name.
				if secret != "catalogue" && (strings.Contains(log, secret) || strings.Contains(log, url.QueryEscape(secret))) {
					t.Errorf("the log has the password:\n%s", log)
				}
			}
		})
	}
	for name, service := range readCompose(t) {
		if service.MemoryLimit == "" {
			t.Errorf("%s may take all memory", name)
		}
	}
}

// serve runs the server while use does, and returns all that it wrote.
func (c composed) serve(t *testing.T, use func(url string)) (log string) {
	t.Helper()
	server := c.command("serve")
	var out strings.Builder
	server.Stdout = &out
	stderr, err := server.StderrPipe()
	must(t, err)
	must(t, server.Start())
	var written strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintln(&written, lines.Text())
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
			use(line.URL)
			must(t, server.Process.Signal(syscall.SIGTERM))
		}
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, &written)
	}
	return written.String() + out.String()
}
