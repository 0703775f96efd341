package serve

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

// noEnv is an environment without variables.
func noEnv(string) string { return "" }

// TestLog writes by every setting.
func TestLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		flags logFlags
		want  string // the beginning of what is written
		json  bool
	}{
		{logFlags{LogFormat: "auto"}, `{"time":`, true},
		{logFlags{LogFormat: "json"}, `{"time":`, true},
		{logFlags{LogFormat: "auto", LogLevel: slog.LevelWarn}, ``, false},
	} {
		var out strings.Builder
		tt.flags.Logger(&out, noEnv).Info("listening", "url", "http://x")
		if !strings.HasPrefix(out.String(), tt.want) || tt.want == "" && out.Len() > 0 || json.Valid([]byte(out.String())) != tt.json {
			t.Errorf("%+v: %q", tt.flags, &out)
		}
	}
	var out strings.Builder
	logFlags{LogFormat: "text"}.Logger(&out, noEnv).Info("listening", "url", "http://x")
	if !strings.HasSuffix(out.String(), " INF listening url=http://x\n") {
		t.Errorf("text where there is no terminal: %q", &out)
	}
}
