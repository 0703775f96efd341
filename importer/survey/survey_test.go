package survey

import (
	"slices"
	"testing"

	"library-catalogue/graph/model"
)

// TestNamePoints finds the field of names of columns in many languages. An empty field means none.
func TestNamePoints(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Book Title": "name", "BookTitle": "name", "Název": "name", "Naslov knjige": "name", "OBRA": "name", "书名": "name", "اسم الكتاب": "name",
		"Kitap Adı": "name", "Tên sách": "name", "书籍名称": "name", "Titre de l'ouvrage": "name", "제목": "name", "Назва книги": "name", "Judul Buku": "name",
		"Author Name": "author", "Avtor": "author", "اسم الكاتب": "author", "Yazar Adı": "author", "作者": "author", "Tác giả": "author", "Автор": "author",
		"Autor(es)": "author", "Auteur principal": "author", "พิมพ์โดยผู้แต่ง": "author", "எழுத்தாளர்": "author", "מחבר": "author", "Penulis": "author",
		"Počet stran": "pages", "Število strani": "pages", "Number of pages": "pages", "num_pages": "pages", "Liczba stron": "pages", "PÁGINAS": "pages",
		"页数": "pages", "عدد الصفحات": "pages", "Sayfa Sayısı": "pages", "Số trang": "pages", "Anzahl Seiten": "pages", "Nombre de pages": "pages",
		"Rok vydání": "published_at", "Leto izida": "published_at", "Año de edición": "published_at", "Année d'édition": "published_at", "ANO": "published_at",
		"出版时间": "published_at", "سنة النشر": "published_at", "Yayın Tarihi": "published_at", "Year": "published_at", "Tahun Terbit": "published_at",
		"Cena (Kč)": "price", "Preço": "price", "定价": "price", "السعر": "price", "Fiyat": "price", "List price (USD)": "price", "Cover Price": "price", "Giá bán": "price",
		"Žanr": "genre", "Gatunek": "genre", "类型": "genre", "Tür": "genre", "Thể loại": "genre", "ジャンル": "genre",
		"CATEGORIA": "category", "الفئة": "category", "Kategorie 1": "category",
		"Klappentext": "description", "Sinopsis": "description", "简介": "description",

		"Publisher": "publisher", "Nakladatelství": "publisher", "出版社": "publisher", "دار النشر": "publisher", "תאריך הוצאה לאור": "published_at", "Publishing year": "published_at", "Editorial": "publisher", "ISBN": "isbn", "Book ID": "", "Author ID": "", "Date added": "",
		"Author2": "author", "ISBN10": "isbn", "Publishers": "publisher", "Strana 1": "pages", "Liczba stron ogółem": "pages", "Kiadás éve": "published_at", "Costo": "price", "Precios": "price", "Materias": "genre", "Resumen": "description",
		// words of one language that begin or end like a word of another
		"Strong Character Development?": "", "Strange pages": "pages", "Outsider": "", "Authority": "", "Authorized by": "", "Blades": "", "Retrieved": "", "Achieve": "", "Steve": "",
		"Precious": "", "Preconditions": "", "Costume": "", "Generation": "", "General": "", "Generous": "", "Material": "", "Amnesia": "", "Resumed": "", "Police": "", "Policy": "",
		"Dilemma": "", "dateadded": "", "datepurchased": "", "Pricey": "", "Starting": "", "Altersgruppe": "", "Zielgruppe": "", "Utlånt til": "", "Start date": "", "Content Warning Description": "",
		"Date Read": "", "Series title": "", "Average Rating": "", "Author image URL": "", "Purchase date": "", "Birth year": "", "Translator": "", "Language": "language",
		"Sprache": "language", "Copies in stock": "", "Publication place": "", "Series Pages Url": "", "Edition": "", "Foo": "", "": "", "#3": "",
	} {
		best, most := "", 0
		for _, field := range model.ImportFields {
			if n := NamePoints(name, field); n > most {
				best, most = field, n
			}
		}
		if best != want {
			t.Errorf("%q is %q, not %q", name, best, want)
		}
	}
}

// TestHalfOf finds the halves of names.
func TestHalfOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Half{
		"Author First Name": Given, "first_name": Given, "Prénom auteur": Given, "Vorname": Given, "Imię autora": Given, "Jméno": Given, "Author Forename": Given,
		"Author Last Name": Family, "Nom auteur": Family, "Nachname": Family, "Nazwisko": Family, "Příjmení": Family, "Surname": Family, "Apellido": Family,
		"Nom auteur complet": Whole, "Author (full name)": Whole, "Vollständiger Autorenname": Whole,
		"Author": NoName, "Translator First Name": NoName, "Title": NoName,
	} {
		if got := HalfOf(name); got != want {
			t.Errorf("%q: %v, not %v", name, got, want)
		}
	}
}

// TestPoints ranks columns by their cells alone.
func TestPoints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cells []string
		want  []string // the fields that the column may be, best first; text fields count as one, "text"
	}{
		{[]string{"1999", "2005", "1984"}, []string{"published_at", "pages", "price"}},
		{[]string{"320", "212", "1024"}, []string{"pages", "price"}},
		{[]string{"1", "2", "3", "4"}, nil},
		{[]string{"12,50 €", "9,99 €", "20 €"}, []string{"price"}},
		{[]string{"9780306406157", "978-3-16-148410-0", "0-306-40615-2"}, nil},
		{[]string{"https://a.example/1", "http://b.example"}, nil},
		{[]string{"Ann One", "Bob Two", "C. D. Three"}, []string{"text"}},
		{[]string{"2001-05-31", "1. März 2000"}, []string{"published_at"}},
		{nil, nil},
	} {
		var p Profile
		for _, cell := range test.cells {
			p.Add(cell, 2027)
		}
		var got []string
		for _, field := range []string{"published_at", "pages", "price", "text"} {
			asked := field
			if field == "text" {
				asked = "author"
			}
			if p.Points(asked) > 0 {
				got = append(got, field)
			}
		}
		slices.SortStableFunc(got, func(a, b string) int { return p.Points(b) - p.Points(a) })
		if !slices.Equal(got, test.want) {
			t.Errorf("%q may be %q, not %q", test.cells, got, test.want)
		}
	}
}

// FuzzProfile describes any cells without a panic.
func FuzzProfile(f *testing.F) {
	f.Add("Ann One", "1999", "12,50 €")
	f.Fuzz(func(_ *testing.T, a, b, c string) {
		var p Profile
		for _, cell := range []string{a, b, c, a} {
			p.Add(cell, 2027)
		}
		for _, field := range model.ImportFields {
			p.Points(field)
			p.Refutes(field)
			NamePoints(a, field)
		}
		HalfOf(b)
	})
}

// TestMarks: inventory numbers and shelf marks are no texts and no prices, and a shelf mark only by the name of the
// column.
func TestMarks(t *testing.T) {
	t.Parallel()
	var p Profile
	for _, cell := range []string{"A3", "B1", "INV-0042", "B-104", "C 12"} {
		p.Add(cell, 2027)
	}
	for _, field := range model.ImportFields {
		if points := p.Points(field); points >= 0 && field != "shelf_mark" {
			t.Errorf("%s: %d points", field, points)
		}
	}
}

// TestUnits: a unit that the cells share speaks for a price, or for pages if it is the name of the column.
func TestUnits(t *testing.T) {
	t.Parallel()
	points := func(name string, cells ...string) map[string]int {
		p, points := Profile{Name: name}, map[string]int{}
		for _, cell := range cells {
			p.Add(cell, 2027)
		}
		for _, field := range []string{"pages", "price", "genre", "name"} {
			points[field] = p.Points(field)
		}
		return points
	}
	if p := points("Jis", "420 kap", "260 kap"); p["price"] <= p["pages"] || p["pages"] < 3 || p["genre"] >= 0 || p["name"] >= 0 {
		t.Error("a unit without a name: ", p)
	}
	if p := points("Kap", "420 kap", "260 kap"); p["price"] >= p["pages"] {
		t.Error("a unit with a name: ", p)
	}
	if p := points("Jis", "KSh 420/=", "260/="); p["genre"] >= 0 || p["pages"] >= 0 {
		t.Error("money: ", p)
	}
}

// TestExcelDays counts days of Excel as dates in a column with a word for them alone.
func TestExcelDays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"Published": true, "Datum": true, "Number": false, "": false} {
		p := Profile{Name: name}
		p.Add("39264", 2027)
		p.Add("40909", 2027)
		if got := p.Points("published_at") > 0; got != want || p.Refutes("published_at") == want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
