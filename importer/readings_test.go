package importer

import (
	"slices"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestDuplicatesDifferInEachField: two rows of one book that differ in any one field are
// asked about.
func TestDuplicatesDifferInEachField(t *testing.T) {
	t.Parallel()
	values := map[model.Kind][2]string{
		model.KindText: {"A", "B"}, model.KindInt: {"1", "2"}, model.KindDate: {"2005-01-01", "2005-01-02"}, model.KindCents: {"1", "2"},
	}
	for _, differing := range model.ImportFields {
		text := strings.Join(model.ImportFields, ",") + "\n"
		for row := range 2 {
			var cells []string
			for _, field := range model.ImportFields {
				i := 0
				if field == differing {
					i = row
				}
				cell := values[model.ImportField(field).Kind][i]
				switch field {
				case "isbn":
					cell = []string{"9783161484100", "9780306406157"}[i]
				case "language":
					cell = []string{"de", "en"}[i]
				}
				cells = append(cells, cell)
			}
			text += strings.Join(cells, ",") + "\n"
		}
		_, err := surveyOf(t, []byte(text), Options{})
		if isKey := slices.Contains(keyFields, differing); isKey != (err == nil) || !isKey && !strings.Contains(err.Error(), ": A, A: "+differing+" ") {
			t.Errorf("%s: %v", differing, err)
		}
	}
}
