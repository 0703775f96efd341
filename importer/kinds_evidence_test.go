package importer

import (
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// TestKindsOfEvidence imports lists whose cells say what the names of their columns do not.
func TestKindsOfEvidence(t *testing.T) {
	t.Parallel()
	latin2 := func(text string) []byte {
		encoded, err := charmap.ISO8859_2.NewEncoder().String(text)
		must(t, err)
		return []byte(encoded)
	}
	importKinds(t, map[string]kind{
		"no header, and words of headers": {[]byte("The Sea Year,Ann Lee,Oak Press,01/11/2019,144 trang,130.000 đ,Poems\nA red hat,Bo Ek,Elm Press,20/09/2016,268 trang,178.000 đ,Novel\n" +
			"Nam means year,Cy Hill,Oak Press,08/03/2018,212 trang,129.000 đ,Novel\nOne day in May,Di Moor,Elm Press,13/12/2017,196 trang,70.000 đ,Poems\n"),
			[]string{"The Sea Year | Ann Lee | 144 | 2019-11-01 | 130000.00 | Poems", "A red hat | Bo Ek | 268 | 2016-09-20 | 178000.00 | Novel",
				"Nam means year | Cy Hill | 212 | 2018-03-08 | 129000.00 | Novel", "One day in May | Di Moor | 196 | 2017-12-13 | 70000.00 | Poems"}, ""},
		"no header, and prices in kuna": {[]byte("Bijeli jelen;Ana Matić;2003;96 str.;45 kn;Bajka\nCrni vlak;Ivo Babić;1999;120 str.;60 kn;Roman\nDuga;Eva Horvat;2010;88 str.;52 kn;Bajka\n"),
			[]string{"Bijeli jelen | Ana Matić | 96 | 2003-01-01 | 45.00 | Bajka", "Crni vlak | Ivo Babić | 120 | 1999-01-01 | 60.00 | Roman", "Duga | Eva Horvat | 88 | 2010-01-01 | 52.00 | Bajka"}, ""},
		"a kind that is the same in each row": {[]byte("Title,Author,Year,Pages,Price,Type,Keyword\nA,X Y,2000,10,1,book,Roman\nB,X Y,2000,10,1,book,Poesi\nC,X Y,2000,10,1,book,Roman\nD,X Y,2000,10,1,book,Roman\n"),
			[]string{"A | X Y | 10 | 2000-01-01 | 1.00 | Roman", "B | X Y | 10 | 2000-01-01 | 1.00 | Poesi", "C | X Y | 10 | 2000-01-01 | 1.00 | Roman", "D | X Y | 10 | 2000-01-01 | 1.00 | Roman"}, ""},
		"publishers that repeat": {[]byte("Title,Author,Year,Pages,Price,From,Shelf\nA,X Y,2000,10,1,Oak Press,Novels\nB,X Z,2000,10,1,Oak Press,Poems\nC,X Y,2000,10,1,Oak Press,Novels\nD,X Y,2000,10,1,Elm Press,Novels\n"),
			[]string{"A | X Y | 10 | 2000-01-01 | 1.00 | -", "B | X Z | 10 | 2000-01-01 | 1.00 | -", "C | X Y | 10 | 2000-01-01 | 1.00 | -", "D | X Y | 10 | 2000-01-01 | 1.00 | -"}, ""},
		"a place and a year": {[]byte("Назва;Автор;Місце та рік видання;Сторінок;Ціна;Жанр\nМоре;Іван Лис;Київ, 2019;10;265 грн 50 коп.;Роман\nЛіс;Олена Гай;Львів : Веселка, 2016;20;302 грн;Роман\n"),
			[]string{"Море | Іван Лис | 10 | 2019-01-01 | 265.50 | Роман", "Ліс | Олена Гай | 20 | 2016-01-01 | 302.00 | Роман"}, ""},
		"a place, a publisher and a year": {[]byte("Title,Author,Imprint date,Pages,Price,Genre\nA,X Y,\"Oslo: Aschehoug, [1987]\",10,12 kr 5 øre,G\nB,X Y,\"Bergen, c2001.\",10,7 kr 50 øre,G\n"),
			[]string{"A | X Y | 10 | 1987-01-01 | 12.05 | G", "B | X Y | 10 | 2001-01-01 | 7.50 | G"}, ""},
		"headings of MARC": {[]byte("=LDR  00000nam a22000007i 4500\n=100  1\\$aLee, Ann.\n=245  10$aSea /\n=264  \\1$c1990.\n=300  \\\\$a10 p. ;\n=655  \\7$aFiction.$2gsafd\n\n" +
			"=LDR  00000nam a22000007i 4500\n=100  1\\$aEk, Boris.\n=245  10$aHat /\n=264  \\1$c1991.\n=300  \\\\$a20 p. ;\n=655  \\7$aPoetry.$2gsafd\n"),
			[]string{"Sea | Ann Lee | 10 | 1990-01-01 | - | Fiction", "Hat | Boris Ek | 20 | 1991-01-01 | - | Poetry"}, ""},
		"Thai months": {[]byte("ชื่อเรื่อง,ผู้แต่ง,วันที่พิมพ์,จำนวนหน้า,ราคา,ประเภท\nก,ก ข,22 มี.ค. 2548,10,1,นวนิยาย\nข,ก ค,5 ธันวาคม 2550,10,1,นวนิยาย\n"),
			[]string{"ก | ก ข | 10 | 2005-03-22 | 1.00 | นวนิยาย", "ข | ก ค | 10 | 2007-12-05 | 1.00 | นวนิยาย"}, ""},
		"Croatian in ISO 8859-2": {latin2("Naslov;Autor;Godina;Stranica;Cijena;Žanr\nDružba;Mato Lovrak;1933;90;5,50;dječja književnost\nSjena;Daša Križ;1998;120;7,00;roman\n"),
			[]string{"Družba | Mato Lovrak | 90 | 1933-01-01 | 5.50 | dječja književnost", "Sjena | Daša Križ | 120 | 1998-01-01 | 7.00 | roman"}, ""},
		"Slovak in ISO 8859-2": {latin2("Názov;Autor;Rok;Strán;Cena;Žáner\nŤažká zima;Ľudo Šťastný;1953;90;5,50;próza\nVeľká reka;Ján Ďuriš;1998;120;7,00;poézia\n"),
			[]string{"Ťažká zima | Ľudo Šťastný | 90 | 1953-01-01 | 5.50 | próza", "Veľká reka | Ján Ďuriš | 120 | 1998-01-01 | 7.00 | poézia"}, ""},
		"days of Excel": {[]byte("Title,Author,Published,Pages,Price,Genre\nA,X Y,39264,10,1,G\nB,X Y,40909,10,1,G\n"),
			[]string{"A | X Y | 10 | 2007-07-01 | 1.00 | G", "B | X Y | 10 | 2012-01-01 | 1.00 | G"}, ""},
		"days of Excel in German": {[]byte("Titel;Autor;Erscheinungsdatum;Seiten;Preis;Genre\nA;X Y;39264.5;10;1;G\nB;X Y;12000;10;1;G\n"),
			[]string{"A | X Y | 10 | 2007-07-01 | 1.00 | G", "B | X Y | 10 | 1932-11-07 | 1.00 | G"}, ""},
		"numbers of another thing": {[]byte("Title,Author,Number,Pages,Price,Genre\nA,X Y,39264,10,1,G\nB,X Y,40909,10,1,G\n"),
			[]string{"A | X Y | 10 | - | 1.00 | G", "B | X Y | 10 | - | 1.00 | G"}, ""},
		"authors without a known name": {[]byte(`[{"title": "A", "authors": [{"x": "Ann", "y": "Lee"}], "year": 2000, "pages": 10, "price": 1, "genre": "G"},
			{"title": "B", "authors": [{"x": "Bo", "y": "Ek"}], "year": 2000, "pages": 10, "price": 1, "genre": "G"}]`),
			[]string{"A | - | 10 | 2000-01-01 | 1.00 | G", "B | - | 10 | 2000-01-01 | 1.00 | G"}, ""},
	})
}

// TestOptionalByCells finds the columns of ISBNs and publishers by their cells, also beside columns that a person has
// chosen.
func TestOptionalByCells(t *testing.T) {
	t.Parallel()
	for _, options := range []Options{{}, {NoHeader: true, Columns: map[string]string{"name": "#1", "author": "#2", "published_at": "#3", "pages": "#4", "price": "#5", "genre": "#6"}}} {
		header := "Title,Author,Year,Pages,Price,Genre,Number,House\n"
		if options.NoHeader {
			header = ""
		}
		f, err := surveyOf(t, []byte(header+"A,X Y,2000,10,1,G,9783161484100,Oak Press\nB,X Y,2000,10,1,G,978-0-306-40615-7,Elm Publishing\n"), options)
		must(t, err)
		reader, err := f.Open(t.Context())
		must(t, err)
		row, err := reader.Next()
		must(t, err)
		if book := row.form.ImportBook(); book.Text("isbn") != "9783161484100" || book.Text("publisher") != "Oak Press" {
			t.Errorf("%+v: %q by %q", options, book.Text("isbn"), book.Text("publisher"))
		}
	}
}

// TestUnknownWords imports lists whose units, currencies and kinds nobody has listed.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	importKinds(t, map[string]kind{
		"pages with an unknown unit beside prices": {[]byte("Title,Author,Year,Leaves,Worth,Genre\nA,X Y,2000,304 xq.,\"12,50 AZN\",G\nB,X Y,2000,120 xq.,\"7,00 AZN\",G\n"),
			[]string{"A | X Y | 304 | 2000-01-01 | 12.50 | G", "B | X Y | 120 | 2000-01-01 | 7.00 | G"}, ""},
		"prices in an unknown currency beside pages": {[]byte("Title,Author,Year,Leaves,Worth,Genre\nA,X Y,2000,304,12 qq,G\nB,X Y,2000,120,7 qq,G\n"),
			[]string{"A | X Y | 304 | 2000-01-01 | 12.00 | G", "B | X Y | 120 | 2000-01-01 | 7.00 | G"}, ""},
		"dates in unknown words are no default": {[]byte("Title,Author,Issued,Pages,Price,Genre\nA,X Y,15 xxxx 2012,10,1,G\nB,X Y,3 yyyy 2011,10,1,G\n"), []string{"rejected", "rejected"}, ""},
		"years among them":                      {[]byte("Title,Author,Issued,Pages,Price,Genre\nA,X Y,15 xxxx 2012,10,1,G\nB,X Y,2011,10,1,G\nC,X Y,3 yyyy 2011,10,1,G\n"), []string{"rejected", "B | X Y | 10 | 2011-01-01 | 1.00 | G", "rejected"}, ""},
	})
}
