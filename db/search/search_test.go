package search

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
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
						name := "how many it finds"
						switch {
						case strings.Contains(statement, "UNION ALL"):
							name = "which words are in no row"
						case strings.Contains(statement, "name_words"):
							name = "how many names begin with it"
						}
						all.Add(name, statement, args)
						*dest = []int{found}
						if strings.Contains(statement, "UNION ALL") {
							*dest = []int{1}
						}
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
			page.After = &model.Place{Keys: []any{int64(wholeLevel + 1)}, ID: 7}
			for _, found := range []int{Many, 0} {
				s, err := New(t.Context(), d, query.Books, "Jr Tolkein", Many, run(found), nil)
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
		{"xkien", 1, []string{"kien"}},
		{"to", 1, nil},
		{"kien7", 1, nil},
	} {
		if diff := cmp.Diff(c.want, append([]string(nil), similar(c.word, vocabulary, c.distance)...)); diff != "" {
			t.Errorf("%s, %d edits away (-want +got):\n%s", c.word, c.distance, diff)
		}
	}
}

// TestFeatures wants every word that another may stand for to fit one of its patterns.
func TestFeatures(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	word := func() []rune {
		word := make([]rune, 3+random.IntN(6))
		for i := range word {
			word[i] = 'a' + rune(random.IntN(10))
		}
		return word
	}
	for range 20_000 {
		typed := word()
		other := slices.Clone(typed)
		for range maxEdits(string(typed)) {
			i := random.IntN(len(other))
			switch random.IntN(4) {
			case 0:
				other = slices.Insert(other, i, word()[0])
			case 1:
				other = slices.Delete(other, i, i+1)
			case 2:
				other[i] = word()[0]
			default:
				j := min(i+1, len(other)-1)
				other[i], other[j] = other[j], other[i]
			}
		}
		fits := slices.ContainsFunc(features(string(typed)), func(pattern string) bool {
			expression := "^" + strings.ReplaceAll(pattern, "%", ".*") + "$"
			return regexp.MustCompile(expression).MatchString(string(other))
		})
		if !fits {
			t.Errorf("%s fits none of %q", string(other), features(string(typed)))
		}
	}
}
