package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// exported is a book in a file, in the order of model.ImportFields.
type exported struct {
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	Pages       int         `json:"pages"`
	PublishedAt model.Date  `json:"published_at"`
	Author      string      `json:"author"`
	Price       model.Cents `json:"price"`
	Genre       string      `json:"genre"`
	Category    string      `json:"category"`
}

// nastyBooks makes books of texts that files are known to spoil, in NFC as they are stored.
func nastyBooks(n int) []exported {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		`"`, `""`, ",", ";", "\n", "\r\n", "\r", "\n\n", "\t", " ", "  ", "a", "Z", "0", "=1+1", "@x", "-", "'", `\`, `\.`, `\n`, "\\u0000",
		"é", "e\u0301", "😀", "👩‍👩‍👧", "\u2028", "\u00a0", "\u200b", "\uFEFF", "\uFFFD", "\x01", "\x7f", "{}", "[", "null", "<&>", "%s", "$1", "?",
	}
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return strings.TrimSpace(norm.NFC.String(b.String()))
	}
	books := make([]exported, n)
	for i := range books {
		books[i] = exported{
			Name:        strings.TrimSpace(text(12) + fmt.Sprint(i)),
			Pages:       1 + random.IntN(1_000_000),
			PublishedAt: model.Date{Year: int16(1 + random.IntN(9999)), Month: uint8(1 + random.IntN(12)), Day: uint8(1 + random.IntN(28))},
			Author:      strings.TrimSpace("x" + text(6)),
			Price:       model.Cents(random.Int64N(int64(model.MaxPrice) + 1)),
			Genre:       fmt.Sprintf("%d\r\n\"%d", random.IntN(5), random.IntN(5)),
			Category:    fmt.Sprintf("=%d,", random.IntN(3)),
		}
		if description := text(40); description != "" {
			books[i].Description = &description
		}
	}
	return books
}

// TestRoundTrip: what an export holds, an import into an empty database brings
// back, so that its export has the same bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	books := nastyBooks(1234)
	var given strings.Builder
	encoder := json.NewEncoder(&given)
	for _, book := range books {
		must(t, encoder.Encode(book))
	}
	for _, format := range []string{"csv", "json", "jsonl"} {
		t.Run(format, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, url string) {
				original := "--database-url=" + dbtest.SQLite(t)
				catalogue(t, 0, given.String(), "import", "-", "--format=jsonl", "--strict", original)
				file := catalogue(t, 0, "", "export", "--format="+format, original)

				catalogue(t, 0, file, "import", "-", "--format="+format, "--strict", "--database-url="+url)
				again := catalogue(t, 0, "", "export", "--format="+format, "--database-url="+url)
				if again != file {
					t.Errorf("the second export differs: %s", cmp.Diff(file, again))
				}

				var got []exported
				for decoder := json.NewDecoder(strings.NewReader(catalogue(t, 0, "", "export", "--format=jsonl", "--database-url="+url))); ; {
					var book struct {
						exported
						PublishedAt string `json:"published_at"`
						Price       string `json:"price"`
					}
					if err := decoder.Decode(&book); err == io.EOF {
						break
					} else if err != nil {
						t.Fatal(err)
					}
					book.exported.PublishedAt, _ = model.ParseDate(book.PublishedAt)
					book.exported.Price, _ = model.ParseCents(book.Price)
					got = append(got, book.exported)
				}
				if diff := cmp.Diff(books, got); diff != "" {
					t.Errorf("books (-given +exported):\n%s", diff)
				}
			})
		})
	}
}

// TestWriteFile: a failure leaves the file as it was, and nothing beside it; and so
// does a file that is there already, but with force.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "books.csv")
	force := false
	write := func(text string, err error) error {
		return writeFile(path, force, func(w io.Writer) error {
			_, writeErr := io.WriteString(w, text)
			return errors.Join(writeErr, err)
		})
	}
	broken := errors.New("broken")
	if err := write("half", broken); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a file is there: %v", err)
	}
	must(t, write("whole", nil))
	const refused = " exists: choose another name, or replace the file with --force"
	if err := write("another", nil); err == nil || !strings.HasSuffix(err.Error(), refused) {
		t.Fatalf("a file that is there was written to: %v", err)
	}
	late := filepath.Join(folder, "late.csv")
	err := writeFile(late, false, func(io.Writer) error { return os.WriteFile(late, []byte("theirs"), 0o600) })
	if err == nil || !strings.HasSuffix(err.Error(), refused) {
		t.Fatalf("a file that came meanwhile was replaced: %v", err)
	}
	must(t, os.Remove(late))
	force = true
	must(t, os.Chmod(path, 0o600))
	link := filepath.Join(folder, "link.csv")
	must(t, os.Symlink("books.csv", link))
	target := path
	path = link
	if err := write("half", broken); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	must(t, write("new", nil))
	text, err := os.ReadFile(target)
	if err != nil || string(text) != "new" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}
