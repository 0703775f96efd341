package importer

import (
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
				cells = append(cells, values[model.ImportField(field).Kind][i])
			}
			text += strings.Join(cells, ",") + "\n"
		}
		_, err := surveyOf(t, []byte(text), Options{})
		if isKey := differing == "name" || differing == "author"; isKey != (err == nil) || !isKey && !strings.Contains(err.Error(), ": A, A: "+differing+" ") {
			t.Errorf("%s: %v", differing, err)
		}
	}
}
