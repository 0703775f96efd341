package importer

import (
	"archive/zip"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// openDocument is a spreadsheet of LibreOffice with these tables.
func openDocument(t *testing.T, tables string) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
		{"content.xml", `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>` + tables + `</office:spreadsheet></office:body></office:document-content>`},
	} {
		out, err := archive.Create(part[0])
		must(t, err)
		_, err = io.WriteString(out, part[1])
		must(t, err)
	}
	must(t, archive.Close())
	return b.Bytes()
}

// odsTexts is a row of texts.
func odsTexts(cells ...string) string {
	row := "<table:table-row>"
	for _, cell := range cells {
		row += `<table:table-cell office:value-type="string"><text:p>` + cell + `</text:p></table:table-cell>`
	}
	return row + "</table:table-row>"
}

var odsHeader = odsTexts("name", "description", "pages", "published_at", "author", "price", "genre")

func TestOpenDocument(t *testing.T) {
	t.Parallel()
	const empty = `<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`
	file := openDocument(t, `<table:table table:name="Empty">`+empty+`</table:table><table:table table:name="Books">`+odsTexts("My library")+odsHeader+
		`<table:table-row><table:table-cell><text:p>A<text:s text:c="2"/><text:span>B</text:span>C</text:p></table:table-cell>`+
		`<table:table-cell><office:annotation><text:p>note</text:p></office:annotation><text:p>one</text:p><text:p>two<text:line-break/>three</text:p></table:table-cell>`+
		`<table:table-cell office:value-type="float" office:value="1024"><text:p>1.024</text:p></table:table-cell>`+
		`<table:table-cell office:value-type="date" office:date-value="2007-07-01T00:00:00"><text:p>01.07.07</text:p></table:table-cell>`+
		`<table:table-cell table:number-columns-repeated="1"><text:p>X</text:p></table:table-cell>`+
		`<table:table-cell office:value-type="currency" office:value="12.5"><text:p>12,50 €</text:p></table:table-cell>`+
		`<table:table-cell><text:p>G</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16377"/></table:table-row>`+
		`<table:table-row><table:table-cell><text:p>D</text:p></table:table-cell><table:covered-table-cell/>`+
		`<table:table-cell table:number-columns-repeated="5"><text:p>1</text:p></table:table-cell></table:table-row>`+empty+
		`</table:table><table:table table:name="More">`+odsTexts("x")+`</table:table>`)
	want := []string{"A  BC|one\ntwo\nthree|1024|2007-07-01|X|12.50|G|", `row 4: published_at "1": The published at field must be a valid date.`}
	for _, o := range []Options{{}, {HeaderRow: 2}} {
		f, err := surveyOf(t, file, o)
		must(t, err)
		if diff := cmp.Diff(want, readBooks(t, f)); diff != "" || !slices.Equal(f.Names, []string{"Books"}) {
			t.Errorf("%+v: sheet %s\n%s", o, f.Names, diff)
		}
	}
}

// TestOpenDocumentBounds: repeated cells and rows cost no more than in a text of the size.
func TestOpenDocumentBounds(t *testing.T) {
	t.Parallel()
	row := func(attributes, cell string) string {
		return "<table:table-row " + attributes + "><table:table-cell " + cell + "><text:p>1</text:p></table:table-cell></table:table-row>"
	}
	long := strings.Repeat("x", 1000)
	for name, test := range map[string]struct{ rows, want string }{
		"many rows":   {row(`table:number-rows-repeated="1048576"`, ""), "more than 1048576 rows"},
		"a long row":  {odsTexts(long) + strings.Replace(row("", `table:number-columns-repeated="16384"`), ">1<", ">"+long+"<", 1), "row 3 of the spreadsheet is longer than 1 MiB"},
		"cut":         {"<table:table-row>", "the spreadsheet is broken (content.xml, row 2"},
		"long spaces": {"<table:table-row><table:table-cell><text:p>" + strings.Repeat(`<text:s text:c="99999999"/>`, 2000), "longer than 1 MiB"},
	} {
		f, err := surveyOf(t, openDocument(t, `<table:table table:name="T">`+odsTexts("title", "author")+test.rows+"</table:table>"), Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, %v, want %s", name, f, err, test.want)
		}
	}
	wide := row("", `table:number-columns-repeated="16384"`) + row(`table:number-rows-repeated="9999"`, "")
	if f, err := surveyOf(t, openDocument(t, `<table:table>`+wide+"</table:table>"), Options{}); err == nil || !strings.Contains(err.Error(), "more than 100 times its size") {
		t.Errorf("a wide header: %v, %v", f, err)
	}
	if _, err := surveyOf(t, openDocument(t, `<table:table/>`), Options{}); err == nil || err.Error() != "the spreadsheet has no visible sheet with rows" {
		t.Errorf("no table: %v", err)
	}
}
