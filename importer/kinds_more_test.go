package importer

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestKindsOfTables imports tables without known names of columns, and with cells of several values.
func TestKindsOfTables(t *testing.T) {
	t.Parallel()
	const header = "Title,Author,Year,Pages,Price,Genre\n"
	const lao = "ກກ\tຂຂ\tຄຄ\tງງ\tຈຈ\tສສ\tຍຍ\n"
	importKinds(t, map[string]kind{
		"a title above unknown names": {[]byte("ბიბლიოთეკა\n\n№,აა,ბბ,გგ,დდ,ეე,ვვ\n1,ზღვა,ნინო ბერიძე,2010,160,5.50,რომანი\n2,მთა და ბარი,გია ლომიძე,2005,210,7.25,რომანი\n"),
			[]string{"ზღვა | ნინო ბერიძე | 160 | 2010-01-01 | 5.50 | რომანი", "მთა და ბარი | გია ლომიძე | 210 | 2005-01-01 | 7.25 | რომანი"}, ""},
		"two titled sheets of unknown names": {writeSheets(t, "== ກ\nຮ້ານ\n"+lao+"1\tນໍ້າ\tສົມ ແກ້ວ\t2001\t120\t5.50\tນິຍາຍ\n2\tໄຟ\tຄໍາ ດີ\t2002\t130\t6.50\tນິຍາຍ\n== ຂ\nຮ້ານ\n"+lao+"1\tລົມ\tສົມ ແກ້ວ\t2003\t140\t7.50\tກາບ\n"),
			[]string{"ນໍ້າ | ສົມ ແກ້ວ | 120 | 2001-01-01 | 5.50 | ນິຍາຍ", "ໄຟ | ຄໍາ ດີ | 130 | 2002-01-01 | 6.50 | ນິຍາຍ", "ລົມ | ສົມ ແກ້ວ | 140 | 2003-01-01 | 7.50 | ກາບ"}, ""},
		"Thai, the genre first": {[]byte("ก,ข,ค,ง,จ,ฉ\nนวนิยาย,คำพูน บุญทวี,ลูกอีสาน,2001,120,5.50\nวรรณคดี,งามพรรณ เวชชาชีวะ,พระอภัยมณี,2002,130,6.50\n"),
			[]string{"ลูกอีสาน | คำพูน บุญทวี | 120 | 2001-01-01 | 5.50 | นวนิยาย", "พระอภัยมณี | งามพรรณ เวชชาชีวะ | 130 | 2002-01-01 | 6.50 | วรรณคดี"}, ""},
		"Arabic, the author last": {[]byte("ا,ب,ت,ث,ج,ح\nرواية,عمارة يعقوبيان,2001,120,5.50,علاء الأسواني\nسيرة,الأيام,2002,130,6.50,طه حسين\n"),
			[]string{"عمارة يعقوبيان | علاء الأسواني | 120 | 2001-01-01 | 5.50 | رواية", "الأيام | طه حسين | 130 | 2002-01-01 | 6.50 | سيرة"}, ""},
		"a name for each column is offered": {[]byte("A;B\nRed;1.50\nBlue;2.50\n"), []string{"Red | - | - | - | 1.50 | -", "Blue | - | - | - | 2.50 | -"}, ""},
		"a column with a semicolon":         {[]byte("Werk; Nr,Author,Year,Pages,Price,Genre\nA,X Y,2000,10,1.50,G\nB,X Z,2001,20,2.50,G\n"), []string{"A | X Y | 10 | 2000-01-01 | 1.50 | G", "B | X Z | 20 | 2001-01-01 | 2.50 | G"}, ""},

		"dots of MARC": {[]byte("245$a,100$a,260$c,300$a,020$c,655$a\nGaroa /,\"Agirre, Domingo.\",1912.,340 p. ;,12.00,Eleberria.\nGero /,\"Axular, Pedro.\",1643.,620 p. ;,9.00,Saiakera.\n"),
			[]string{"Garoa | Domingo Agirre | 340 | 1912-01-01 | 12.00 | Eleberria", "Gero | Pedro Axular | 620 | 1643-01-01 | 9.00 | Saiakera"}, ""},
		"dots of titles too": {[]byte(header + "The sea.,X Y,2000,10,1,Fiction.\nHills etc.,X Y,2000,10,1,Poetry.\nTwo boats.,X Y,2000,10,1,\"Poetry, Irish.\"\nOne /,X Y,2000,10,1,Poetry.\n"),
			[]string{"The sea | X Y | 10 | 2000-01-01 | 1.00 | Fiction", "Hills etc. | X Y | 10 | 2000-01-01 | 1.00 | Poetry", "Two boats | X Y | 10 | 2000-01-01 | 1.00 | Poetry", "One | X Y | 10 | 2000-01-01 | 1.00 | Poetry"}, ""},
		"dots of abbreviations": {[]byte(header + "A,X Y,2000,10,1,Nov.\nB,X Y,2000,10,1,Hist.\n"), []string{"A | X Y | 10 | 2000-01-01 | 1.00 | Nov.", "B | X Y | 10 | 2000-01-01 | 1.00 | Hist."}, ""},

		"all in apostrophes": {[]byte("'Title','Author','Year','Pages','Price','Genre'\n'Bar, baz','Cy Dee','2000','13','4.5','Novel'\n'It''s','Cy Dee','2000','13','4.5','Novel'\n"),
			[]string{"Bar, baz | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel", "It's | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel"}, ""},
		"apostrophes around plain cells": {[]byte("'Title';'Author';'Year';'Pages';'Price';'Genre'\n'Bar';'Cy Dee';'2000';'13';'4.5';'Novel'\n'Foo';'Cy Dee';'2000';'13';'4.5';'Novel'\n"),
			[]string{"Bar | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel", "Foo | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel"}, ""},
		"an editor in place of an author": {[]byte("title,author,editor,year,pages,price,genre\nA,,Bob Roe,2000,10,1,G\nB,Ann Roe,Bob Roe,2000,10,1,G\n"), []string{"A | Bob Roe | 10 | 2000-01-01 | 1.00 | G", "B | Ann Roe | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"an editor that is a publisher":   {[]byte("Título,Autor,Editor,Año,Páginas,Precio,Género\nA,,Casa Uno,2000,10,1,G\nB,Ann Roe,Casa Uno,2000,10,1,G\n"), []string{"rejected", "B | Ann Roe | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"a cell in apostrophes": {[]byte("Title|Author|Year|Pages|Price|Genre\n'Salt | Sea'|Cy Dee|2000|13|4.5|Novel\n'He said: \\'come | go\\''|Cy Dee|2000|13|4.5|Novel\nIt's|Cy Dee|2000|13|4.5|Novel\n"),
			[]string{"Salt | Sea | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel", "He said: 'come | go' | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel", "It's | Cy Dee | 13 | 2000-01-01 | 4.50 | Novel"}, ""},
		"apostrophes that quote nothing": {[]byte(header + "'Salem's Lot,X Y,2000,10,1,G\n'Tis pity, she,X Y,2000,10,1,G\n'Twas,X Y,2000,10,1,G\n"),
			[]string{"'Salem's Lot | X Y | 10 | 2000-01-01 | 1.00 | G", "rejected", "'Twas | X Y | 10 | 2000-01-01 | 1.00 | G"}, ""},

		"tags by commas": {[]byte("Title,Author,Year,Pages,Price,Tags\nA,X Y,2000,10,1,\"Fiction, Children, Classics\"\nB,X Y,2000,10,1,\"Poetry; Nature\"\nC,X Y,2000,10,1,['Essays'\\, 'Art']\n"),
			[]string{"A | X Y | 10 | 2000-01-01 | 1.00 | Fiction", "B | X Y | 10 | 2000-01-01 | 1.00 | Poetry", "rejected"}, ""},
		"genres with commas in their names": {[]byte(header + "A,X Y,2000,10,1,\"Crime, Mystery & Thriller\"\nB,X Y,2000,10,1,\"Art, Architecture\"\nC,X Y,2000,10,1,\"Art, Architecture\"\nD,X Y,2000,10,1,\"Art, Architecture\"\nE,X Y,2000,10,1,\"Poetry、Essay\"\n"),
			[]string{"A | X Y | 10 | 2000-01-01 | 1.00 | Crime, Mystery & Thriller", "B | X Y | 10 | 2000-01-01 | 1.00 | Art, Architecture", "C | X Y | 10 | 2000-01-01 | 1.00 | Art, Architecture", "D | X Y | 10 | 2000-01-01 | 1.00 | Art, Architecture", "E | X Y | 10 | 2000-01-01 | 1.00 | Poetry"}, ""},
	})
}

// TestKindsOfJSON imports JSON without known keys, and of other programs.
func TestKindsOfJSON(t *testing.T) {
	t.Parallel()
	const one = `{"სახ": "ზღვა", "შემქ": {"ვინ": "ნინო ბერიძე"}, "როდის": 2010, "მოც": 160, "ფასი": "5.50", "სახეობა": ["რომანი"]}`
	const two = `{"სახ": "მთა", "შემქ": {"ვინ": "გია ლომიძე"}, "როდის": 2005, "მოც": 210, "ფასი": "7.25", "სახეობა": ["რომანი"]}`
	rows := []string{"ზღვა | ნინო ბერიძე | 160 | 2010-01-01 | 5.50 | რომანი", "მთა | გია ლომიძე | 210 | 2005-01-01 | 7.25 | რომანი"}
	const known = `{"title": "A", "author": "X Y", "year": 2000, "pages": 10, "price": "1.50", "genre": "G"}`
	marc := func(title, author string) string {
		return `{"leader": "00000nam a2200000 a 4500", "fields": [{"001": "1"}, {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "` + title + ` /"}, {"c": "X."}]}},
			{"100": {"subfields": [{"a": "` + author + `"}]}}, {"260": {"subfields": [{"c": "1988."}]}}, {"300": {"subfields": [{"a": "396 p. ;"}]}},
			{"020": {"subfields": [{"c": "15.50"}]}}, {"655": {"subfields": [{"a": "Fiction."}]}}, {"655": {"subfields": [{"a": "Essays."}]}}]}`
	}
	importKinds(t, map[string]kind{
		"a list under an unknown key": {[]byte(`{"ვინ": "x", "წიგნი": [` + one + "," + two + `]}`), rows, ""},
		"objects under unknown keys":  {[]byte(`{"წიგნი": {"a": ` + one + `, "b": ` + two + `}}`), rows, ""},
		"a list below scalars":        {[]byte(`{"count": 3, "next": null, "results": {"items": [` + known + `]}}`), []string{"A | X Y | 10 | 2000-01-01 | 1.50 | G"}, ""},
		"a list deep below":           {[]byte(`{"status": "ok", "total": 2, "took": 1, "payload": {"page": 1, "entries": [` + one + "," + two + `]}}`), rows, ""},
		"values after each other":     {[]byte(strings.ReplaceAll(one+"\n"+two+"\n", ", ", ",\n")), rows, ""},
		"MARC in JSON": {[]byte(strings.ReplaceAll(marc("Garoa", "Agirre, Domingo.")+"\n"+marc("Gero", "Axular, Pedro."), `, "`, ",\n\"")),
			[]string{"Garoa | Domingo Agirre | 396 | 1988-01-01 | 15.50 | Fiction", "Gero | Pedro Axular | 396 | 1988-01-01 | 15.50 | Fiction"}, ""},
		"an array of MARC in JSON": {[]byte("[" + marc("Garoa", "Agirre, Domingo.") + "," + marc("Gero", "Axular, Pedro.") + "]"),
			[]string{"Garoa | Domingo Agirre | 396 | 1988-01-01 | 15.50 | Fiction", "Gero | Pedro Axular | 396 | 1988-01-01 | 15.50 | Fiction"}, ""},
		"raw dates of CSL": {[]byte(`[{"type": "book", "title": "A", "number-of-pages": "10", "issued": {"raw": "1963"}, "author": [{"family": "Roe", "given": "Ann"}]},
			{"type": "book", "title": "B", "number-of-pages": "10", "issued": {"raw": "1963-05-04"}, "author": [{"family": "Roe", "given": "Ann"}]},
			{"type": "book", "title": "C", "number-of-pages": "10", "issued": {"date-parts": [[2001, 2]]}, "editor": [{"family": "Roe", "given": "Bob"}]}]`),
			[]string{"A | Ann Roe | 10 | 1963-01-01 | - | -", "B | Ann Roe | 10 | 1963-05-04 | - | -", "C | Bob Roe | 10 | 2001-02-01 | - | -"}, ""},
	})
}

// TestKindsOfValues imports dates and authors of several notations.
func TestKindsOfValues(t *testing.T) {
	t.Parallel()
	const header = "Title,Author,Year,Pages,Price,Genre\n"
	importKinds(t, map[string]kind{
		"months of Malay": {[]byte("Tajuk,Penulis,Tarikh,Halaman,Harga,Genre\nA,X Y,16 Ogos 1961,10,1,G\nB,X Y,1 Mac 1966,10,NaN,G\n"), []string{"A | X Y | 10 | 1961-08-16 | 1.00 | G", "B | X Y | 10 | 1966-03-01 | - | G"}, ""},
		"months of Croatian": {[]byte("Naslov;Autor;Datum;Stranica;Cijena;Žanr\nA;X Y;3. listopada 2001.;10;1,50;G\nB;X Y;5. rujna 2001.;10;2,50;G\n"),
			[]string{"A | X Y | 10 | 2001-10-03 | 1.50 | G", "B | X Y | 10 | 2001-09-05 | 2.50 | G"}, ""},
		"the Buddhist calendar": {[]byte("ชื่อเรื่อง,ผู้แต่ง,ปีที่พิมพ์,จำนวนหน้า,ราคา,ประเภท\nสี่แผ่นดิน,คึกฤทธิ์ ปราโมช,พ.ศ. 2496,900,350 บาท,นวนิยาย\nข้างหลังภาพ,ศรีบูรพา,๒๔๘๐,200,180 บาท,นวนิยาย\n"),
			[]string{"สี่แผ่นดิน | คึกฤทธิ์ ปราโมช | 900 | 1953-01-01 | 350.00 | นวนิยาย", "ข้างหลังภาพ | ศรีบูรพา | 200 | 1937-01-01 | 180.00 | นวนิยาย"}, ""},
		"years to come": {[]byte(header + "A,X Y,2087,10,1,G\nB,X Y,2000,10,1,G\nC,X Y,2087-05-01,10,1,G\n"), []string{"rejected", "B | X Y | 10 | 2000-01-01 | 1.00 | G", "rejected"}, ""},
		"dates of Calibre": {[]byte("title,authors,pubdate,#pages,#price,tags\nA,X Y,0101-01-01T00:00:00+00:00,10,1,G\nB,X Y,2000-05-01T12:00:00+00:00,10,1,\"G, H\"\nC,X Y,0100-12-31T23:00:00+00:00,10,1,G\n"),
			[]string{"rejected", "B | X Y | 10 | 2000-05-01 | 1.00 | G", "rejected"}, ""},
		"two names of one word": {[]byte(header + "A,\"Ilf, Petrov\",2000,10,1,G\nB,Ann Bo,2000,10,1,G\nC,Cid Do,2000,10,1,G\n"),
			[]string{"A | Ilf, Petrov | 10 | 2000-01-01 | 1.00 | G", "B | Ann Bo | 10 | 2000-01-01 | 1.00 | G", "C | Cid Do | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"inverted names of two words": {[]byte(header + "A,\"Roe, Ann\",2000,10,1,G\nB,\"Bo, Cid\",2000,10,1,G\nC,Ann Do,2000,10,1,G\n"),
			[]string{"A | Ann Roe | 10 | 2000-01-01 | 1.00 | G", "B | Cid Bo | 10 | 2000-01-01 | 1.00 | G", "C | Ann Do | 10 | 2000-01-01 | 1.00 | G"}, ""},
		"numbered authors": {[]byte("Titulli;Autori 1;Autori 2;Viti;Faqe;Çmimi;Zhanri\nA;Ana Bo;Cy Do;1999;10;5;N\nB;Ed Fo;;2000;11;6;N\n"), []string{"A | Ana Bo; Cy Do | 10 | 1999-01-01 | 5.00 | N", "B | Ed Fo | 11 | 2000-01-01 | 6.00 | N"}, ""},
	})
}

// TestDefaultsAreTexts stores the default of a text as it is given, also with commas.
func TestDefaultsAreTexts(t *testing.T) {
	t.Parallel()
	o := Options{Defaults: map[string]string{"genre": "Crime, Thriller", "category": "Fiction; Adults", "author": "Ilf, Petrov"}}
	f, err := surveyOf(t, []byte("Title,Author,Year,Pages,Price,Genre\nA,\"Roe, Ann\",2000,10,1,\"Poetry, Nature\"\nB,,2000,10,1,\n"), o)
	must(t, err)
	rows, err := f.First(t.Context(), 2)
	must(t, err)
	for _, c := range f.Columns() {
		if c.Field == "category" && c.Forms != nil {
			t.Errorf("%v", c.Forms)
		}
	}
	for i, want := range []string{"Ann Roe|Poetry|Fiction; Adults", "Ilf, Petrov|Crime, Thriller|Fiction; Adults"} {
		if got := rows[i].Value("author") + "|" + rows[i].Value("genre") + "|" + rows[i].Value("category"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestAddresses names a column in the printed command by its number where a list of options would cut its name.
func TestAddresses(t *testing.T) {
	t.Parallel()
	f, err := surveyOf(t, []byte("Werk; Nr,Author,Year,Pages,Price,Genre\nA,X Y,2000,10,1.50,G\nB,X Z,2001,20,2.50,G\n"), Options{})
	questions, _ := errors.AsType[Questions](err)
	if choices := f.FirstAnswers(questions); len(choices) == 0 || choices[0].Option != "map" || choices[0].Value != "name=#1" {
		t.Errorf("%v", choices)
	}
}

// TestPlacesOfValuesLeftOut names the rows whose ISBNs are not imported.
func TestPlacesOfValuesLeftOut(t *testing.T) {
	t.Parallel()
	rows := "title,author,year,pages,price,genre,isbn\n"
	for range maxPlaces + 2 {
		rows += "A,X Y,2000,10,1,G,12\nB,X Y,2000,10,1,G,\n"
	}
	f, err := surveyOf(t, []byte(rows), Options{Duplicates: DuplicatesLast})
	must(t, err)
	columns := f.Columns()
	form := columns[slices.IndexFunc(columns, func(c Column) bool { return c.Field == "isbn" })].Forms[0]
	if where := form.Where(); where != "12 rows: line 2, line 4, line 6, line 8, line 10, line 12, line 14, line 16, line 18, line 20 and 2 more" {
		t.Error(where)
	}
}
