package importer

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

const (
	sheetPart = "xl/worksheets/sheet1.xml"
	textsPart = "xl/sharedStrings.xml"
)

// workbook is a spreadsheet of one sheet with these parts, and others by name. %s in the
// sheet stands for its header.
func workbook(t *testing.T, sheet, texts string, others ...string) []byte {
	t.Helper()
	header := "<row>"
	for _, name := range []string{"name", "description", "pages", "published_at", "author", "price", "genre", "category"} {
		header += "<c t='inlineStr'><is><t>" + name + "</t></is></c>"
	}
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	parts := map[string]string{
		"_rels/.rels":     `<R><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.xml"/></R>`,
		"xl/workbook.xml": `<workbook><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<R><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="b" Type="x/sharedStrings" Target="/` + textsPart + `"/>` +
			`<Relationship Id="c" Type="x/styles" Target="styles.xml"/></R>`,
		sheetPart: strings.Replace(sheet, "%s", header+"</row>", 1),
		textsPart: cmp.Or(texts, "<sst/>"),
	}
	for i := 0; i < len(others); i += 2 {
		parts[others[i]] = others[i+1]
	}
	for name, text := range parts {
		part, err := archive.Create(name)
		must(t, err)
		if _, err := io.WriteString(part, text); err != nil {
			t.Fatal(err)
		}
	}
	must(t, archive.Close())
	return b.Bytes()
}

// TestBrokenFiles: a file that breaks in its middle is refused whole, and the error says
// where.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	const row = "<row><c t='s'><v>0</v></c></row>"
	sheet := func(cell string) []byte {
		return workbook(t, "<worksheet><sheetData>%s"+row+"<row><c t='inlineStr'><is><t>"+cell+"</t></is></c></row>"+row+"</sheetData></worksheet>", "<sst><si><t>A</t></si></sst>")
	}
	text := []byte("name,pages,published_at,author,price,genre\n" + strings.Repeat("A,1,2005-01-01,X,1,G\n", 1000))
	var gz bytes.Buffer
	packer := gzip.NewWriter(&gz)
	_, _ = packer.Write(text)
	must(t, packer.Close())
	packed, err := zstd.NewWriter(nil)
	must(t, err)
	zst := packed.EncodeAll(text, nil)
	half := func(data []byte) []byte { return data[:len(data)/2] }
	flipped := func(data []byte, from int) []byte {
		data = bytes.Clone(data)
		data[from] ^= 1
		return data
	}
	whole := sheet("B")
	if f, err := surveyOf(t, whole, Options{}); f == nil || f.Rows != 3 {
		t.Fatalf("the whole one: %v, %v", f, err)
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"control character": {sheet("\x01"), "(xl/worksheets/sheet1.xml, row 3: XML syntax error on line 1: illegal character code U+0001): open it"},
		"entity":            {sheet("&nbsp;"), "row 3: XML syntax error on line 1: invalid character entity &nbsp;"},
		"tag":               {sheet("</x>"), "row 3: XML syntax error"},
		"UTF-8":             {sheet("\xff"), "row 3: XML syntax error on line 1: invalid UTF-8"},
		"sheet cut":         {workbook(t, "<worksheet><sheetData>%s"+row, "<sst><si><t>A</t></si></sst>"), "row 2: XML syntax error on line 1: unexpected EOF"},
		"after the rows":    {workbook(t, "<worksheet><sheetData>%s</sheetData>", ""), "row 1: XML syntax error on line 1: unexpected EOF"},
		"texts cut":         {workbook(t, "<worksheet><sheetData>%s"+row+"</sheetData></worksheet>", "<sst><si><t>A</t></si><si>"), "(xl/sharedStrings.xml, row 2: XML"},
		"text not there":    {workbook(t, "<worksheet><sheetData>%s"+row+"</sheetData></worksheet>", "<sst/>"), `row 2: a cell refers to shared text "0"`},
		"nested":            {workbook(t, "<worksheet><sheetData>%s"+strings.Repeat("<a>", 100), ""), "its elements are nested too deeply"},
		"archive cut":       {half(whole), "neither a spreadsheet (.xlsx, .ods) nor text"},
		"archive changed":   {flipped(whole, bytes.Index(whole, []byte(sheetPart))+len(sheetPart)+20), "the spreadsheet is broken (" + sheetPart},
		"gzip cut":          {half(gz.Bytes()), "the compressed file is truncated"},
		"gzip changed":      {flipped(gz.Bytes(), gz.Len()-6), "the file cannot be decompressed"},
		"zstd cut":          {half(zst), "the compressed file is truncated"},
		"zstd changed":      {flipped(zst, len(zst)-2), "the file cannot be decompressed"},
		"JSON array cut":    {[]byte(`[{"name":"A"},{"name":"B"},{"na`), "the JSON array is truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f, err := surveyOf(t, test.data, Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v\nwant %s", f, err, test.want)
			}
		})
	}
	for name, text := range map[string]string{
		"CSV cut":        "name,pages,published_at,author,price,genre\nA,1,2005-01-01,X,1,G\nB,1,20",
		"JSON Lines cut": `{"name":"A","pages":1,"published_at":"2005-01-01","author":"X","price":1,"genre":"G"}` + "\n" + `{"name":"B"`,
	} {
		f, err := surveyOf(t, []byte(text), Options{})
		must(t, err)
		if rows := readBooks(t, f); len(rows) != 2 || rows[0] != "A||1|2005-01-01|X|1.00|G|" || !strings.HasPrefix(rows[1], "row 2 ") {
			t.Errorf("%s: the rows are %q", name, rows)
		}
	}
}

// TestSpreadsheetForms: cells are read in each way in which programs write them.
func TestSpreadsheetForms(t *testing.T) {
	t.Parallel()
	styles := []string{"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]d/m/yy;@"/>` +
		`<numFmt numFmtId="165" formatCode="0&quot; years&quot;[Yellow]\y"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`}
	from1904 := append([]string{"xl/workbook.xml", `<workbook><workbookPr date1904="1"/><sheets>` +
		`<sheet name="H" state="hidden" r:id="b"/><sheet name="S" r:id="a"/></sheets></workbook>`}, styles...)
	text := func(cell string) string { return `<c t="inlineStr"><is>` + cell + `</is></c>` }
	for _, test := range []struct {
		cell, texts, want string // of the column description
		others            []string
	}{
		{text("<t>A</t>"), "", "A", nil},
		{text("<r><t>A</t></r><r><t> B</t></r><rPh><t>x</t></rPh>"), "", "A B", nil},
		{`<c t="s"><v>1</v></c>`, "<sst><si/><si><r><t>A</t></r><rPh sb='0'><t>x</t></rPh><r><t>B</t></r></si></sst>", "AB", nil},
		{`<c t="str"><f>x</f><v>A_x000D__x005F_x0041_&amp;&#10;&lt;</v></c>`, "", "A\r_x0041_&\n<", nil},
		{`<c t="str"><v>_xD83D__xDE00_</v></c>`, "", "\U0001F600", nil},
		{`<c t="b"><v>1</v></c>`, "", "1", nil},
		{`<c><v>38718</v></c>`, "", "38718", styles},
		{`<c s="1"><v>38718.75</v></c>`, "", "2006-01-01", styles},
		{`<c s="2" t="n"><v>59</v></c>`, "", "1900-02-28", styles},
		{`<c s="2"><v>61</v></c>`, "", "1900-03-01", styles},
		{`<c s="3"><v>38718</v></c>`, "", "38718", styles},
		{`<c s="2"><v>37256</v></c>`, "", "2006-01-01", from1904},
		{`<c s="2"><v>1e99</v></c>`, "", "1e99", styles},
		{`<c s="2"><v>NaN</v></c>`, "", "NaN", styles},
	} {
		sheet := "<worksheet><sheetData><row/>%s<row r='7'>" + text("<t>N</t>") + test.cell + "<c r='C7'><v>1</v></c>" +
			text("<t>2005-01-01</t>") + text("<t>X</t>") + "<c><v>1.5</v></c>" + text("<t>G</t>") + "</row><row/></sheetData></worksheet>"
		f, err := surveyOf(t, workbook(t, sheet, test.texts, test.others...), Options{})
		if err != nil {
			t.Errorf("%s: %v", test.cell, err)
			continue
		}
		if got := readBooks(t, f); len(got) != 1 || got[0] != "N|"+test.want+"|1|2005-01-01|X|1.50|G|" {
			t.Errorf("%s is read as %q, want %q", test.cell, got, test.want)
		}
	}
}

// TestSpreadsheetBounds: what is made of a spreadsheet, on disk and in memory, has the
// bounds of a packed text, and parts that nobody reads cost nothing.
func TestSpreadsheetBounds(t *testing.T) {
	t.Parallel()
	const end = "</sheetData></worksheet>"
	wide := "<row><c r='A2'><v>1</v></c>" + strings.Repeat("<c r='XFD2'><v>1</v></c>", 3) + "</row>"
	f, err := surveyOf(t, workbook(t, "<worksheet><sheetData>%s"+strings.Repeat(wide, 100)+end, ""), Options{})
	if err != nil || f.Rows != 100 {
		t.Fatal(f, err)
	}
	if got := readBooks(t, f)[0]; got != "row 2: The row has 9 cells, the header has 8." {
		t.Errorf("a row that is too wide: %s", got)
	}
	for name, test := range map[string]struct{ sheet, texts, want string }{
		"texts beyond the header":  {"%s" + strings.Repeat("<row><c r='XFD2'><v>1</v></c>"+strings.Repeat("<c r='XFD2' t='s'><v>0</v></c>", 40)+"</row>", 50), "<sst><si><t>" + strings.Repeat("x", 20_000) + "</t></si></sst>", "more than 100 times its size"},
		"one text again and again": {"%s" + strings.Repeat("<row><c t='s'><v>0</v></c></row>", 2000), "<sst><si><t>" + strings.Repeat("x", 20_000) + "</t></si></sst>", "more than 100 times its size"},
		"one row of it":            {"%s<row>" + strings.Repeat("<c t='s'><v>0</v></c>", 2000) + "</row>", "<sst><si><t>" + strings.Repeat("x", 20_000) + "</t></si></sst>", "row 2 of the spreadsheet is longer than 1 MiB"},
		"a wide header":            {"<row><c r='XFD1'><v>1</v></c></row>" + strings.Repeat("<row><c><v>1</v></c></row>", 3000), "", "more than 100 times its size"},
		"columns that are none":    {"%s<row><c r='XFE2'><v>1</v></c></row>", "", "a cell has no column"},
		"a comment":                {"%s<!--" + strings.Repeat("<", 2<<20) + "-->", "", "longer than 1 MiB"},
	} {
		if f, err := surveyOf(t, workbook(t, "<worksheet><sheetData>"+test.sheet+end, test.texts), Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, %v, want %s", name, f, err, test.want)
		}
	}
}

// TestEmptySheet: a sheet whose part is empty is no sheet without rows, so that another is
// not imported in its place.
func TestEmptySheet(t *testing.T) {
	t.Parallel()
	if f, err := surveyOf(t, workbook(t, "", ""), Options{}); err == nil || !strings.Contains(err.Error(), "is broken") {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestManyParts: an archive of more parts than a spreadsheet has is refused before they are
// all listed.
func TestManyParts(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for range 100_000 {
		if _, err := archive.CreateRaw(&zip.FileHeader{Name: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, archive.Close())
	if f, err := surveyOf(t, b.Bytes(), Options{}); err == nil || !strings.HasSuffix(err.Error(), ": it has too many parts") {
		t.Errorf("got %v, %v", f, err)
	}
}

// countingCatalogue takes books and keeps none.
type countingCatalogue struct{ Catalogue }

func (countingCatalogue) WithSnapshot(ctx context.Context) context.Context { return ctx }

func (countingCatalogue) ImportBooks(_ context.Context, books []model.Form) (*model.ImportResult, error) {
	return &model.ImportResult{Created: len(books)}, nil
}

// TestFileThatShrinks: an import that finds fewer rows than were surveyed has failed.
func TestFileThatShrinks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file.csv")
	text := "name,pages,published_at,author,price,genre\n" + strings.Repeat("A,1,2005-01-01,X,1,G\n", 2)
	must(t, os.WriteFile(path, []byte(text), 0o600))
	in, err := source.Open(t.Context(), path, nil)
	must(t, err)
	t.Cleanup(in.Close)
	file, err := Survey(t.Context(), in, Options{})
	must(t, err)
	must(t, os.Truncate(path, int64(len(text)-len("A,1,2005-01-01,X,1,G\n"))))
	im := &Importer{Catalogue: countingCatalogue{}}
	if err := im.Import(t.Context(), file); err == nil || err.Error() != "the file changed during the import: it had 2 rows, and now has 1" {
		t.Errorf("ended with %v, %v", im.Counts, err)
	}
}
