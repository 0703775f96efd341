package serve

import (
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"library-catalogue/cmd/catalogue/cli"
)

type logFlags struct {
	LogFormat string     `env:"CATALOGUE_LOG_FORMAT" enum:"auto,text,json" default:"auto" help:"Format of the log: text, json, or auto, which is text on a terminal and else json (default: ${default})."`
	LogLevel  slog.Level `env:"CATALOGUE_LOG_LEVEL" default:"info" placeholder:"LEVEL" help:"Lowest level to log: debug, info, warn or error (default: ${default})."`
}

func (f logFlags) Logger(w io.Writer, env cli.Getenv) *slog.Logger {
	handler := slog.Handler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: f.LogLevel}))
	if f.LogFormat == "text" || f.LogFormat == "auto" && cli.IsTerminal(w) {
		handler = tint.NewTextHandler(w, &tint.Options{
			Level: f.LogLevel, TimeFormat: time.TimeOnly, NoColor: !cli.IsTerminal(w) || env("NO_COLOR") != "",
		})
	}
	return slog.New(handler)
}
