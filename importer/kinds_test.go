package importer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/korean"
)

// TestKinds imports small lists of the kinds that people report.
func TestKinds(t *testing.T) {
	t.Parallel()
	const csl = `[{"type": "book", "title": "A", "number-of-pages": "10", "issued": {"date-parts": [[2000, 3]]}, "author": [`
	in := func(e encoding.Encoding, text string) []byte {
		t.Helper()
		data, err := e.NewEncoder().Bytes([]byte(text))
		must(t, err)
		return data
	}
	tables := func(names ...string) string {
		b := ""
		for i := 0; i < len(names); i += 2 {
			b += `<table:table table:name="` + names[i] + `">` + names[i+1] + "</table:table>"
		}
		return b
	}
	odsHeader := odsTexts("Title", "Author", "Year", "Pages", "Price", "Genre")
	importKinds(t, map[string]kind{
		"three sheets": {writeSheets(t, "== A\nTitle\tAuthor\tYear\tPages\tPrice\tGenre\nA\tX\t2000\t10\t1\tG\n== B\nTitle\tAuthor\tYear\tPages\tPrice\tGenre\nB\tX\t2000\t10\t1\tG\n"+
			"== C\nTitle\tAuthor\tYear\tPages\tPrice\tGenre\nC\tX\t2000\t10\t1\tG\n"), []string{"A | X | 10 | 2000-01-01 | 1.00 | G", "B | X | 10 | 2000-01-01 | 1.00 | G", "C | X | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"two tables": {openDocument(t, tables("A", odsHeader+odsTexts("A", "X", "2000", "10", "1", "G"), "B", odsHeader+odsTexts("B", "X", "2001", "20", "1", "G"))),
			[]string{"A | X | 10 | 2000-01-01 | 1.00 | G", "B | X | 20 | 2001-01-01 | 1.00 | G"}, ""},

		"Greek": {in(charmap.Windows1253, "Title,Author,Year,Pages,Price,Genre\nΤο σπίτι της θάλασσας,Νίκος Παππάς,2000,10,1,Μυθιστόρημα\n"),
			[]string{"Το σπίτι της θάλασσας | Νίκος Παππάς | 10 | 2000-01-01 | 1.00 | Μυθιστόρημα"}, "encoding"},
		"Korean": {in(korean.EUCKR, "Title,Author,Year,Pages,Price,Genre\n푸른 바다의 이야기,김민수,2000,10,1,소설\n"),
			[]string{"푸른 바다의 이야기 | 김민수 | 10 | 2000-01-01 | 1.00 | 소설"}, "encoding"},

		"pesos": {[]byte("Title,Author,Year,Pages,Price,Genre\nA,X,2000,10,$ 45.000,G\nB,X,2000,10,$ 8.900,G\n"),
			[]string{"A | X | 10 | 2000-01-01 | 45000.00 | G", "B | X | 10 | 2000-01-01 | 8900.00 | G"}, "decimal"},
		"euros": {[]byte("Title,Author,Year,Pages,Price,Genre\nA,X,2000,10,2.350 €,G\nB,X,2000,10,780 €,G\n"),
			[]string{"A | X | 10 | 2000-01-01 | 2350.00 | G", "B | X | 10 | 2000-01-01 | 780.00 | G"}, "decimal"},

		"escaped quotes": {[]byte("Title,Author,Year,Pages,Price,Genre\n\"Call it \\\"home\\\"\",X,2000,10,1,G\n\"No \\\"end\\\", he said\",X,2000,10,1,G\n"),
			[]string{`Call it "home" | X | 10 | 2000-01-01 | 1.00 | G`, `No "end", he said | X | 10 | 2000-01-01 | 1.00 | G`}, ""},
		"doubled quotes": {[]byte("Title,Author,Year,Pages,Price,Genre\n\"The \"\"D:\\\"\"\",X,2000,10,1,G\n5\\\"x,X,2000,10,1,G\n"),
			[]string{`The "D:\" | X | 10 | 2000-01-01 | 1.00 | G`, `5\"x | X | 10 | 2000-01-01 | 1.00 | G`}, ""},

		"an office alone": {[]byte(csl + `{"literal": "Bundesamt für Statistik"}]}]`), []string{"A | Bundesamt für Statistik | 10 | 2000-03-01 | - | -"}, ""},
		"particle and suffix": {[]byte(csl + `{"family": "Goethe", "given": "Johann", "non-dropping-particle": "von"}, {"family": "King", "given": "Martin", "suffix": "Jr."}, {"family": "Humboldt", "given": "Alexander", "dropping-particle": "von"}]}]`),
			[]string{"A | Johann von Goethe, Martin King Jr., Alexander von Humboldt | 10 | 2000-03-01 | - | -"}, ""},

		"error cells": {errorSheet(t), []string{"rejected", "rejected", "C | X | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"error texts": {[]byte("Title,Author,Year,Pages,Price,Genre\n#NAME?,X,2000,10,1,G\nB,#VALUE!,2000,10,1,G\nC,X,2000,10,1,G\n"), []string{"rejected", "rejected", "C | X | 10 | 2000-01-01 | 1.00 | G"}, ""},

		"German halves":  {[]byte("Titel;Nachname;Vorname;Jahr;Seiten;Preis;Genre\nA;Berg;Jan;2000;10;1;G\nB;Stein;Eva;2000;10;1;G\n"), []string{"A | Jan Berg | 10 | 2000-01-01 | 1.00 | G", "B | Eva Stein | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"Spanish halves": {[]byte("Título;Nombre del autor;Apellidos del autor;Año;Páginas;Precio;Género\nA;Ana;Ruiz;2000;10;1;G\nB;Luis;Mora;2000;10;1;G\n"), []string{"A | Ana Ruiz | 10 | 2000-01-01 | 1.00 | G", "B | Luis Mora | 10 | 2000-01-01 | 1.00 | G"}, ""},

		"forints": {[]byte("Cím;Szerző;Kiadás éve;Oldalszám;Ár (Ft);Műfaj\nA;X Y;2000;10;2490;G\nB;X Z;2001;20;3990;G\n"), []string{"A | X Y | 10 | 2000-01-01 | 2490.00 | G", "B | X Z | 20 | 2001-01-01 | 3990.00 | G"}, ""},
		"francs":  {[]byte("Titre;Auteur;Année;Nombre de pages;Prix (CHF);Genre\nA;X Y;2000;10;24.90;G\nB;X Z;2001;20;19.50;G\n"), []string{"A | X Y | 10 | 2000-01-01 | 24.90 | G", "B | X Z | 20 | 2001-01-01 | 19.50 | G"}, ""},

		"Icelandic": {[]byte("Titill;Höfundur;Blaðsíður;Ár;Verð;Flokkur\nFjallið;Jón Jónsson;160;2019;2490,50;Skáldsaga\nHafið;Anna Helgadóttir;210;2005;1990,00;Ljóð\n"),
			[]string{"Fjallið | Jón Jónsson | 160 | 2019-01-01 | 2490.50 | Skáldsaga", "Hafið | Anna Helgadóttir | 210 | 2005-01-01 | 1990.00 | Ljóð"}, ""},
		"Albanian": {[]byte("Titulli;Autori;Faqe;Viti;Çmimi;Zhanri\nDeti;Arben Hoxha;160;2019;5,50;Roman\nMali;Drita Leka;210;2005;4,00;Poezi\n"),
			[]string{"Deti | Arben Hoxha | 160 | 2019-01-01 | 5.50 | Roman", "Mali | Drita Leka | 210 | 2005-01-01 | 4.00 | Poezi"}, ""},

		"Georgian": {[]byte("სათაური,ავტორი,გვერდები,წელი,ფასი,ჟანრი\nზღვა,ნინო ბერიძე,160,2010,5.50,რომანი\nმთა,გია ლომიძე,210,2005,7.25,პოეზია\n"),
			[]string{"ზღვა | ნინო ბერიძე | 160 | 2010-01-01 | 5.50 | რომანი", "მთა | გია ლომიძე | 210 | 2005-01-01 | 7.25 | პოეზია"}, ""},
		"Armenian": {[]byte("Վերնագիր,Հեղինակ,Էջեր,Տարի,Գին,Ժանր\nԾով,Անի Պետրոսյան,160,2010,5.50,վեպ\nՍար,Արամ Սարգսյան,210,2005,7.25,պոեզիա\n"),
			[]string{"Ծով | Անի Պետրոսյան | 160 | 2010-01-01 | 5.50 | վեպ", "Սար | Արամ Սարգսյան | 210 | 2005-01-01 | 7.25 | պոեզիա"}, ""},

		"two titles":  {[]byte("Title,Title,Author,Year,Pages,Price,Genre\nA,,X,2000,10,1,G\n,B,X,2000,10,1,G\n"), []string{"A | X | 10 | 2000-01-01 | 1.00 | G", "B | X | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"three years": {[]byte("Titel;Autor;Jahr;Jahr;Jahr;Seiten;Preis;Genre\nA;X;;1999;;10;1;G\nB;X;;;2001;10;1;G\n"), []string{"A | X | 10 | 1999-01-01 | 1.00 | G", "B | X | 10 | 2001-01-01 | 1.00 | G"}, ""},

		"a cover table": {openDocument(t, tables("Cover", odsTexts("School library", "2021")+odsTexts("Contact", "a@example.org"), "Books", odsHeader+odsTexts("A", "X", "2000", "10", "1", "G"))),
			[]string{"A | X | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"a legend first": {writeSheets(t, "== Legend\nCode\tGenre\tFloor\nK\tCrime\t1\nR\tNovel\t2\n== List\nTitle\tAuthor\tYear\tPages\tPrice\tGenre\nA\tX\t2000\t10\t1\tK\n"), []string{"A | X | 10 | 2000-01-01 | 1.00 | K"}, ""},
	})
}

// errorSheet returns a spreadsheet with formulas that fail, in the name and in the author.
func errorSheet(t *testing.T) []byte {
	t.Helper()
	text := func(text string) string { return "<c t='inlineStr'><is><t>" + text + "</t></is></c>" }
	row := func(name, author string) string {
		return "<row>" + name + author + "<c><v>2000</v></c><c><v>10</v></c><c><v>1</v></c>" + text("G") + "</row>"
	}
	header := "<row>"
	for _, name := range []string{"Title", "Author", "Year", "Pages", "Price", "Genre"} {
		header += text(name)
	}
	return workbook(t, "<worksheet><sheetData>"+header+"</row>"+row("<c t='e'><f>1/0</f><v>#DIV/0!</v></c>", text("X"))+
		row(text("B"), "<c t='e'><f>NA()</f><v>#N/A</v></c>")+row(text("C"), text("X"))+"</sheetData></worksheet>", "")
}

// kind is a small list, its rows, and the option in a question that is as good as the right rows.
type kind struct {
	data []byte
	want []string
	asks string
}

// importKinds imports lists as a user does who runs the printed command.
func importKinds(t *testing.T, kinds map[string]kind) {
	t.Helper()
	for name, test := range kinds {
		rows, asked := importList(t, test.data)
		for i := range rows {
			if strings.HasPrefix(rows[i], "rejected") {
				rows[i] = "rejected"
			}
		}
		if test.asks != "" && slices.Contains(strings.Fields(asked), test.asks) {
			continue
		}
		if diff := cmp.Diff(test.want, rows); diff != "" {
			t.Errorf("%s (asks %q): %s", name, asked, diff)
		}
	}
}
