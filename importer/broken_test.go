package importer

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"library-catalogue/graph/model"
)

// checkingCatalogue counts valid books.
type checkingCatalogue struct{ Catalogue }

func (checkingCatalogue) ImportBooks(_ context.Context, books []model.Form) (*model.ImportResult, error) {
	result := &model.ImportResult{}
	for i, form := range books {
		book := form.ImportBook()
		if problems := book.Validate(); len(problems) > 0 {
			result.Rejected = append(result.Rejected, model.RejectedRow{Index: i, Problems: problems})
		} else {
			result.Created++
		}
	}
	return result, nil
}

func (checkingCatalogue) Atomically(ctx context.Context, fn func(context.Context) error) error {
	return fn(ctx)
}

// TestBrokenInTheMiddle: a file that is cut in its middle is refused, has a bad row, or is described as one whose last
// row may not be whole. A dry run reads it in the same way.
func TestBrokenInTheMiddle(t *testing.T) {
	t.Parallel()
	const rows = 200
	text, lines, array, sheet := "name,pages,published_at,author,price,genre\n", "", "", odsTexts("name", "pages", "published_at", "author", "price", "genre")
	for n := range rows {
		name := fmt.Sprintf("Ä book %d", n)
		text += name + ",1,2005-01-01,\"X, Y\",1,Genre\n"
		object := `{"name":"` + name + `","pages":1,"published_at":"2005-01-01","author":"X","price":1,"genre":"G"}`
		lines += object + "\n"
		array += object + ","
		sheet += odsTexts(name, "1", "2005-01-01", "X", "1", "G")
	}
	array = "[" + strings.TrimSuffix(array, ",") + "]"
	var gz bytes.Buffer
	packer := gzip.NewWriter(&gz)
	_, _ = packer.Write([]byte(text))
	must(t, packer.Close())
	zst, err := zstd.NewWriter(nil)
	must(t, err)
	xlsxRow := "<row>" + strings.Repeat("<c t='inlineStr'><is><t>1</t></is></c>", 8) + "</row>"
	for format, whole := range map[string][]byte{
		"CSV":         []byte(text),
		"UTF-16":      encode(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), text),
		"JSON Lines":  []byte(lines),
		"JSON":        []byte(array),
		"nested JSON": []byte(`{"n":1,"books":` + array + "}"),
		"gzip":        gz.Bytes(),
		"zstd":        zst.EncodeAll([]byte(text), nil),
		".xlsx":       workbook(t, "<worksheet><sheetData>%s"+strings.Repeat(xlsxRow, rows)+"</sheetData></worksheet>", ""),
		".ods":        openDocument(t, "<table:table>"+sheet+"</table:table>"),
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for _, cut := range []int{len(whole) / 3, len(whole) / 2, len(whole)/2 + 1, len(whole) - 9} {
				for _, strict := range []bool{false, true} {
					counts, kind, err := importBytes(t, whole[:cut], strict)
					if err == nil && counts.Rejected == 0 && !strings.Contains(kind, "has no line end") {
						t.Errorf("cut at %d of %d, strict %v: %v", cut, len(whole), strict, counts)
					}
				}
			}
		})
	}
}

// importBytes imports a file.
func importBytes(t *testing.T, data []byte, strict bool) (counts Counts, kind string, err error) {
	t.Helper()
	file, err := surveyOf(t, data, Options{})
	if err != nil {
		return Counts{}, "", err
	}
	im := &Importer{Catalogue: checkingCatalogue{}, Strict: strict, Reject: func(*Row) error { return nil }}
	err = im.Import(t.Context(), file)
	return im.Counts, file.Kind().String(), err
}
