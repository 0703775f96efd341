package model_test

import (
	"encoding/base64"
	"hash/fnv"
	"testing"

	"library-catalogue/graph/model"
)

// TestFormerCursors: a cursor whose key is the folded text of a shelf mark is refused, because the order is another now.
// Cursors of other orders stay valid.
func TestFormerCursors(t *testing.T) {
	t.Parallel()
	for field, valid := range map[string]bool{"SHELF_MARK": false, "NAME": true} {
		hash := fnv.New32a()
		hash.Write([]byte("Book by " + field + "id"))
		cursor := base64.RawURLEncoding.EncodeToString(append(model.AppendKey(hash.Sum(nil), "qa 9"), 7))
		_, err := model.PageArgs{After: &cursor, OrderBy: []*model.OrderBy{{Field: field}}}.Page("Book")
		if valid != (err == nil) {
			t.Errorf("a former cursor by %s: %v", field, err)
		}
	}
}
