package search

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// TestGolden compares the statements of searches with the golden files of each engine:
// of one that finds many rows, and of one whose word must be corrected.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, d := range []*dialect.Dialect{dialect.Postgres, dialect.SQLite} {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var all dbtest.Statements
			// run answers as a catalogue with the words Tolkien and Token, of which the last
			// row is gone.
			run := func(found int) Select {
				return func(_ context.Context, dest any, statement string, args ...any) error {
					switch dest := dest.(type) {
					case *[]int:
						all.Add("how many it finds", statement, args)
						*dest = []int{found}
					case *[]string:
						if *dest = []string{"tolkien", "token"}; strings.Contains(statement, "EXISTS") {
							all.Add("which words the table has", statement, args)
							*dest = []string{"tolkien"}
						} else {
							all.Add("words that are similar", statement, args)
						}
					}
					return nil
				}
			}
			page := &model.Page{Limit: 20, Order: model.Order{Keys: []model.OrderKey{{Field: model.Relevance}}}}
			page.Where = &model.Condition{Op: model.Gt, Field: "pages", Operand: int64(300)}
			page.After = &model.Position{Keys: []any{int64(firstLevel)}, ID: 7}
			for _, found := range []int{Many, 0} {
				s, err := New(t.Context(), d, query.Books, "Jr Tolkein", Many, run(found))
				if err != nil {
					t.Fatal(err)
				}
				b := query.New(d)
				all.Add("what it finds", s.Found(b, false), b.Args)
				b = query.New(d)
				all.Add("what it finds, with ranks", s.Found(b, true), b.Args)
				b = query.New(d)
				all.Add("a page by rank of many", s.Top(b, page), b.Args)
			}
			dbtest.Golden(t, "testdata/"+d.Name+".sql", all.String())
		})
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]int{
		{"tolkein", "tolkien"}: 1, {"tolkien", "tolkien"}: 0, {"tolkin", "tolkien"}: 1, {"tollkien", "tolkien"}: 1,
		{"talkien", "tolkien"}: 1, {"", "abc"}: 3, {"ca", "abc"}: 3, {"жук", "жка"}: 2,
	} {
		if got := edits([]rune(pair[0]), []rune(pair[1])); got != want {
			t.Errorf("%d edits between %q and %q, want %d", got, pair[0], pair[1], want)
		}
	}
}

// TestSimilar wants the words that are so many edits away, each once and in order.
func TestSimilar(t *testing.T) {
	t.Parallel()
	vocabulary := []string{"tolkien", "token", "tolkien", "tolstoi", "tolkein", "kien"}
	for _, c := range []struct {
		word     string
		distance int
		want     []string
	}{
		{"tolkein", 1, []string{"tolkien"}},
		{"tolkein", 2, []string{"token"}},
		{"tokn", 1, []string{"token"}},
		{"tokn", 2, nil}, // too short for two
		{"to", 1, nil},
	} {
		if diff := cmp.Diff(c.want, append([]string(nil), similar(c.word, vocabulary, c.distance)...)); diff != "" {
			t.Errorf("%s, %d edits away (-want +got):\n%s", c.word, c.distance, diff)
		}
	}
}
