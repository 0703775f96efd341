package importer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"library-catalogue/graph/model"
)

// list is a list of books as people have them, in testdata/lists, and what is right: a line for each row with name,
// author, pages, published_at, price and genre. "-" is a value that the file does not have, and "rejected" a bad row.
// The lines "# asks" and "# encoding" name the questions that are right, and the encoding into which the test converts
// the file.
type list struct {
	name, asks string
	data       []byte
	want       []string
}

func readLists(t *testing.T) (lists []list) {
	t.Helper()
	paths, err := filepath.Glob("testdata/lists/*.want")
	must(t, err)
	for _, path := range paths {
		want, err := os.ReadFile(path)
		must(t, err)
		files, err := filepath.Glob(strings.TrimSuffix(path, "want") + "[^w]*")
		must(t, err)
		data, err := os.ReadFile(files[0])
		must(t, err)
		l := list{name: filepath.Base(files[0]), data: data}
		if filepath.Ext(l.name) == ".sheets" {
			l.data = writeSheets(t, string(data))
		}
		for line := range strings.Lines(string(want)) {
			setting, text, isSetting := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "#")), " ")
			switch {
			case isSetting && line[0] == '#' && setting == "asks":
				l.asks = text
			case isSetting && line[0] == '#' && setting == "encoding" && text == "UTF-16":
				l.data = encode(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), string(l.data))
			case isSetting && line[0] == '#' && setting == "encoding":
				e, err := htmlindex.Get(text)
				must(t, err)
				l.data = encode(t, e, string(l.data))
			default:
				l.want = append(l.want, strings.TrimSpace(line))
			}
		}
		lists = append(lists, l)
	}
	return lists
}

// writeSheets returns an .xlsx of a text with sheets: == Name, and then rows of cells with tabs between them.
func writeSheets(t *testing.T, text string) []byte {
	t.Helper()
	file := excelize.NewFile()
	sheet, row := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "== "); ok {
			sheet, row = name, 0
			_, err := file.NewSheet(sheet)
			must(t, err)
			continue
		}
		row++
		for i, cell := range strings.Split(line, "\t") {
			at, err := excelize.CoordinatesToCellName(i+1, row)
			must(t, err)
			if number, err := strconv.ParseFloat(cell, 64); err == nil {
				must(t, file.SetCellFloat(sheet, at, number, -1, 64))
			} else {
				must(t, file.SetCellStr(sheet, at, cell))
			}
		}
	}
	must(t, file.DeleteSheet("Sheet1"))
	var b bytes.Buffer
	must(t, file.Write(&b))
	return b.Bytes()
}

// importList reads a list as a user does who runs the printed command. It returns the rows, and what was asked.
func importList(t *testing.T, data []byte) (rows []string, asked string) {
	t.Helper()
	values := map[string][]string{}
	var options []string
	for range 4 {
		o, invalid := ParseOptions(values)
		if len(invalid) > 0 {
			t.Fatal(invalid)
		}
		f, err := surveyOf(t, data, o)
		questions, isAsked := errors.AsType[Questions](err)
		if !isAsked {
			must(t, err)
			if rows = readRows(t, f); f.unfilled == 0 {
				slices.Sort(options)
				return rows, strings.Join(slices.Compact(options), " ")
			}
			_, fields := f.Gaps() // the report's command
			for _, field := range fields {
				values["default"] = append(values["default"], field+"="+model.ImportField(field).StandIn())
			}
			continue
		}
		for _, q := range questions {
			if q.Option != "map" || len(q.Candidates) > 0 {
				options = append(options, q.Option)
			}
		}
		for _, choice := range f.FirstAnswers(questions) {
			values[choice.Option] = append(values[choice.Option], choice.Value)
		}
	}
	t.Error("the printed command asks again")
	return nil, ""
}

// readRows returns the rows of a file in the form of a list's right ones.
func readRows(t *testing.T, f *File) (rows []string) {
	t.Helper()
	reader, err := f.Open(t.Context())
	must(t, err)
	for range f.Rows {
		row, err := reader.Next()
		must(t, err)
		book := row.form.ImportBook()
		problems := book.Validate()
		if len(problems) > 0 {
			f.reject(row, problems)
		}
		if len(row.Problems) > 0 {
			rows = append(rows, "rejected: "+row.Error())
			continue
		}
		var cells []string
		for _, field := range []string{"name", "author", "pages", "published_at", "price", "genre"} {
			cell := book.Text(field)
			if default_, ok := f.options.Defaults[field]; ok && row.form[field].Written() == default_ {
				cell = "-"
			}
			if plain, err := strconv.ParseFloat(cell, 64); field == "price" && err == nil {
				cell = fmt.Sprintf("%.2f", plain)
			}
			cells = append(cells, cell)
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	return rows
}

// TestLists imports lists in many languages and of many programs, and logs how many rows of each are right.
func TestLists(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	right, all := 0, 0
	for _, l := range readLists(t) {
		rows, asked := importList(t, l.data)
		n := 0
		for i, want := range l.want {
			if i < len(rows) && (rows[i] == want || want == "rejected" && strings.HasPrefix(rows[i], want)) {
				n++
			}
		}
		right, all = right+n, all+len(l.want)
		fmt.Fprintf(table, "%s\t%d of %d\t%s\n", l.name, n, len(l.want), asked)
		if n < len(l.want) || len(rows) != len(l.want) {
			t.Errorf("%s: %s", l.name, cmp.Diff(l.want, rows))
		}
		if asked != l.asks {
			t.Errorf("%s: asks %q, not %q", l.name, asked, l.asks)
		}
	}
	table.Flush()
	t.Logf("%d of %d rows are right:\n%s", right, all, b.String())
}
