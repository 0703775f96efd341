package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/auth"
)

// rules is a file of rules for Prometheus.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// expressions returns the PromQL of the dashboard and of the alert rules by where
// it stands.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	text, err := os.ReadFile("telemetry/ops/alerts.yml")
	must(t, err)
	var file rules
	must(t, yaml.UnmarshalWithOptions(text, &file, yaml.Strict()))
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: for: %v", rule.Alert, err)
			}
			if rule.Alert == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%+v lacks a part", rule)
			}
			out["alert "+rule.Alert] = rule.Expr
		}
	}
	if text, err = os.ReadFile("telemetry/ops/dashboard.json"); err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must(t, json.Unmarshal(text, &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			out["panel "+panel.Title+": "+target.Expr] = target.Expr
		}
	}
	return out
}

var (
	selector = regexp.MustCompile(`\b([a-z_]+_[a-z_]+)(?:\{([^}]*)\})?(\()?`) // every metric has _; what ( follows is a function
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	label    = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring) \([^)]*\)`)
)

// TestOperatorsFiles wants for every metric that the dashboard or an alert names,
// with its labels and their values, a line that /metrics really has.
func TestOperatorsFiles(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.shelves(t)
	for range 3 {
		o.get(t, "{ books { nodes { name } } }", "")
	}
	other, err := auth.Sign([]byte("another secret of 32 bytes or more"), "", "", "", time.Hour, time.Now())
	must(t, err)
	o.do(http.MethodPost, "/api/books", "{}", "Authorization: Bearer "+other)
	o.do(http.MethodPost, "/api/books", strings.Repeat(" ", 2<<20)) // too large
	must(t, o.store.Close())
	o.do(http.MethodGet, "/api/books/1", "") // 5xx

	var series []string
	for line := range strings.Lines(o.operators("/metrics").Body.String()) {
		if !strings.HasPrefix(line, "#") {
			series = append(series, line)
		}
	}
	asked := 0
	for where, expression := range expressions(t) {
		for _, found := range selector.FindAllStringSubmatch(grouping.ReplaceAllString(expression, ""), -1) {
			name, matchers := found[1], found[2]
			if function := found[3] != ""; function || strings.HasPrefix(name, "__") {
				continue
			}
			asked++
			if !anyMatches(series, name, matchers) {
				t.Errorf("%s: /metrics has no line for %s{%s}", where, name, matchers)
			}
		}
	}
	if asked < 40 {
		t.Errorf("only %d metrics are named: the test reads too little", asked)
	}
}

func anyMatches(series []string, name, matchers string) bool {
	for _, line := range series {
		if rest, ok := strings.CutPrefix(line, name); !ok || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(line, -1) {
			labels[l[1]] = l[2]
		}
		all := true
		for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
			if m[1] == "instance" || m[1] == "job" { // which Prometheus adds
				continue
			}
			value, known := labels[m[1]]
			same := value == m[3]
			if strings.HasSuffix(m[2], "~") {
				same = regexp.MustCompile(`^(?:` + m[3] + `)$`).MatchString(value)
			}
			all = all && known && same == !strings.HasPrefix(m[2], "!")
		}
		if all {
			return true
		}
	}
	return false
}
