package main

import (
	"strings"
	"testing"

	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

// TestDescriptionIsEscaped: a description of a file has no control characters of it.
func TestDescriptionIsEscaped(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\x1b[2J\u202e\r"
	text := "title,pages,date,author,price,genre,\"x" + hostile + "\"\n" +
		"\"A" + hostile + "\",1,\"3 May 2005\",\"X" + hostile + "\",1,\"G" + hostile + "\",\n"
	in, err := source.Open(t.Context(), "-", strings.NewReader(text))
	must(t, err)
	defer in.Close()
	file, err := importer.Survey(t.Context(), in, importer.Options{Defaults: map[string]string{"category": "C" + hostile}})
	must(t, err)
	rows, err := file.First(t.Context(), 1)
	must(t, err)
	shown := describeFile(file) + describeRow(rows[0])
	if strings.ContainsAny(shown, "\x1b\x07\u202e\r") || !strings.Contains(shown, "owned") {
		t.Errorf("shown: %q", shown)
	}
}
