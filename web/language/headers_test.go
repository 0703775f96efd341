package language_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/server/servertest"
	"library-catalogue/web/language"
)

// TestHeaders imports a list with the labels of the pages as its header. It leaves out the French word for a series,
// because other programs call a library or a shelf a collection.
func TestHeaders(t *testing.T) {
	t.Parallel()
	cells := map[model.Kind]string{model.KindDate: "1973", model.KindInt: "304", model.KindCents: "9.5", model.KindText: "Momo"}
	for _, l := range language.All() {
		if l.Tag == language.Pseudo {
			continue
		}
		for _, published := range []language.Key{"Published", "Year"} {
			var header, row []string
			for _, key := range model.ImportFields {
				field := model.ImportField(key)
				label := language.Key(field.Label)
				if key == "published_at" {
					label = published
				}
				if l.Tag == "fr" && key == "series" {
					continue
				}
				header, row = append(header, l.Text(label)), append(row, cells[field.Kind])
			}
			path := filepath.Join(t.TempDir(), "list.csv")
			lines := []string{strings.Join(header, ";"), strings.Join(row, ";"), strings.Join(row, ";"), ""}
			servertest.Must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
			in, err := source.Open(t.Context(), path, nil)
			servertest.Must(t, err)
			defer in.Close()
			file, err := importer.Survey(t.Context(), in, importer.Options{LastYear: 2027})
			var found []string
			for _, column := range file.Columns() {
				found = append(found, column.Name)
			}
			if err != nil || !slices.Equal(found, header) {
				t.Errorf("%s: %v, columns %q of %q", l.Tag, err, found, header)
			}
		}
	}
}
