package marc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// iso2709 returns a record as ISO 2709.
func iso2709(r Record) []byte {
	var directory, fields bytes.Buffer
	add := func(tag, text string) {
		fmt.Fprintf(&directory, "%s%04d%05d", tag, len(text)+1, fields.Len())
		fields.WriteString(text + "\x1E")
	}
	for _, f := range r.Control {
		add(f.Tag, f.Text)
	}
	for _, f := range r.Data {
		text := string(f.Indicators[:])
		for _, s := range f.Subfields {
			text += "\x1F" + string(rune(s.Code)) + s.Text
		}
		add(f.Tag, text)
	}
	base := leaderBytes + directory.Len() + 1
	return fmt.Appendf(nil, "%05d%s%05d%s%s\x1E%s\x1D", base+fields.Len()+1, r.Leader[5:12], base, r.Leader[17:], directory.Bytes(), fields.Bytes())
}

// mrk returns a record as MARCMaker text.
func mrk(r Record) string {
	var b strings.Builder
	escape := strings.NewReplacer("$", "{dollar}", "{", "{lcub}", "}", "{rcub}", "\\", "{bsol}")
	blank := strings.NewReplacer(" ", `\`)
	fmt.Fprintf(&b, "=LDR  %s\r\n", r.Leader)
	for _, f := range r.Control {
		fmt.Fprintf(&b, "=%s  %s\r\n", f.Tag, blank.Replace(f.Text))
	}
	for _, f := range r.Data {
		fmt.Fprintf(&b, "=%s  %s", f.Tag, blank.Replace(string(f.Indicators[:])))
		for _, s := range f.Subfields {
			fmt.Fprintf(&b, "$%c%s", s.Code, escape.Replace(s.Text))
		}
		b.WriteString("\r\n")
	}
	return b.String() + "\r\n"
}

type reader interface{ Next() (Record, error) }

// readAll returns the values of the records of a file, or the reasons of damaged ones.
func readAll(t *testing.T, r reader) (all []map[string]string) {
	t.Helper()
	for range 1000 {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if bad, ok := errors.AsType[*RecordError](err); ok {
			all = append(all, map[string]string{"reason": bad.Reason})
			continue
		}
		if err != nil {
			return append(all, map[string]string{"error": err.Error()})
		}
		all = append(all, record.Values())
	}
	t.Fatal("no end")
	return nil
}

// TestRoundTrip: our records come back the same from MARCXML, ISO 2709 and MARCMaker text.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	books := books()
	for _, author := range []string{"Plato; Aristotle", "Smith, John", "Smith, J. R., Doe, S.", "Tolkien, J. R. R.; Doe, Jane", "One and Sons, Inc.", "村上 春樹", "Ann One (ed.)"} {
		books = append(books, &model.Book{ID: 9, Name: author, Author: author, Pages: 1, Price: 1, PublishedAt: model.Date{Year: 1999, Month: 2, Day: 28}})
	}
	long := *books[1]
	long.Description = new(strings.Repeat("语", 9000) + " x  y\n z\n\n w " + strings.Repeat("é ", 5000) + "end")
	books = append(books, &long)
	var inXML, inISO, inText bytes.Buffer
	var want []map[string]string
	inXML.WriteString(CollectionStart)
	for _, b := range books {
		r := FromBook(b, &model.Genre{Name: "{R} $& D. /"}, &model.Category{Name: "Works"})
		inXML.Write(AppendXML(nil, r))
		inISO.Write(iso2709(r))
		inText.WriteString(mrk(r))
		values := map[string]string{"genre": "{R} $& D. /", "category": "Works"}
		for _, f := range model.BookFields {
			if !slices.Contains(model.ImportFields, f.Key) {
				continue
			}
			if text := f.Text(b); text != "" {
				values[f.Key] = strings.NewReplacer("\t", " ", "\r\n", "\n", "\x00", "").Replace(text)
			}
		}
		values["pages"] += " p."
		values["published_at"] = strings.TrimSuffix(values["published_at"], "-01-01")
		want = append(want, values)
	}
	inXML.WriteString(CollectionEnd)
	want[0]["language"] = "ger" // for lang.Parse
	want[0]["name"] += ": Ein Schauspiel"
	delete(want[0], "subtitle") // SplitTitle has it
	for name, r := range map[string]reader{"MARCXML": NewXMLReader(&inXML), "ISO 2709": NewReader(&inISO), "MARCMaker": NewTextReader(&inText)} {
		got := readAll(t, r)
		if name != "MARCXML" { // the writer of XML drops it
			got[0]["description"] = strings.ReplaceAll(got[0]["description"], "\x00", "")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestForeignRecords reads records as other programs write them.
func TestForeignRecords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, record, want string }{
		{"old", "=LDR  00000nam a2200000 a 4500\n=008  850101s1815\\\\\\\\enk           000 0 eng d\n=020  \\\\$a0192834401 (pbk.) :$c{dollar}7.95 (U.S.)\n=041  1\\$aengfre\n" +
			"=050  00$aPZ3$b.A93 Em\n=100  1\\$aAusten, Jane,$d1775-1817.\n=245  10$aEmma :$ba novel /$cby Jane Austen.\n=260  \\\\$aLondon :$bJohn Murray,$c1815.\n" +
			"=300  \\\\$axvi, 474 p. ;$c20 cm.\n=520  \\\\$aOne.$bTwo.\n=520  \\\\$aThree.\n=650  \\0$aYoung women$vFiction.\n=650  \\0$aVillages.\n",
			"100$d=1775-1817.|245$c=by Jane Austen.|260$a=London :|300$c=20 cm.|650$a=Villages.|650$v=Fiction.|author=Jane Austen|description=One. Two.\n\nThree.|genre=Young women|" +
				"isbn=0192834401 (pbk.)|language=eng|name=Emma: a novel|pages=xvi, 474 p. ;|price=$7.95|published_at=1815|publisher=John Murray|shelf_mark=PZ3 .A93 Em"},
		{"Koha", "=LDR  00000nam a2200000 i 4500\n=008  200101s2019\\\\\\\\gw            000 1 ger d\n=020  \\\\$z123\n=020  \\\\$a9783161484100\n=245  00$aDas Buch.$n2,$pDer Teil /$cherausgegeben von Anna Müller ; übersetzt von B. Zwei.\n" +
			"=264  \\4$c©2018\n=264  \\1$aTübingen :$bMohr,$c[2019]\n=655  \\7$aRoman$2gnd-content\n=700  1\\$aMüller, Anna,$eHerausgeber$4edt\n=952  \\\\$aMAIN$g12.50$o830 MUE$v20.00\n=952  \\\\$o830 MUE 2\n",
			"020$z=123|245$c=herausgegeben von Anna Müller ; übersetzt von B. Zwei.|264$a=Tübingen :|264$c=©2018|700$4=edt|700$e=Herausgeber|952$a=MAIN|952$g=12.50|952$o=830 MUE 2|author=Anna Müller|" +
				"genre=Roman|isbn=9783161484100|language=ger|name=Das Buch. 2, Der Teil|price=20.00|published_at=2019|publisher=Mohr|shelf_mark=830 MUE"},
		{"translator", "=LDR  00000nam a2200000 i 4500\n=100  0\\$aElizabeth$bII,$cQueen of Great Britain\n=245  10$aA$cB\n=260  \\\\$b[s.n.],$c[ca. 1900?]\n=700  1\\$aTwo, Bob,$etranslator.\n=700  1\\$aThree, Cid,$eauthor.\n=710  2\\$aOne and Sons.$4aut\n=700  12$aFour, D.$tWork\n",
			"100$c=Queen of Great Britain|245$c=B|700$a=Two, Bob,; Four, D.|700$e=translator.; author.|700$t=Work|710$4=aut|author=Elizabeth II, Cid Three, One and Sons|name=A|published_at=[ca. 1900?]"},
		{"nobody", "=LDR  00000nam a2200000 i 4500\n=245  00$aA /$cthe people.\n=852  \\\\$j77\n=999  \\\\\n", "author=the people|name=A|shelf_mark=77"},
	} {
		got := readAll(t, NewTextReader(strings.NewReader(test.record)))
		var shown []string
		for _, key := range slices.Sorted(maps.Keys(got[0])) {
			shown = append(shown, key+"="+got[0][key])
		}
		if text := strings.Join(shown, "|"); text != test.want || len(got) != 1 {
			t.Errorf("%s: %s\nwant %s", test.name, text, test.want)
		}
	}
}

// TestSplitTitle reads the remainder of a title apart, and series.
func TestSplitTitle(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][4]string{
		"=245  10$aEmma :$ba novel /$cby Jane Austen.\n":                            {"Emma", "a novel"},
		"=245  10$aDas Buch.$n2,$pDer Teil :$bRoman.\n=490  1\\$aReihe ;$vBd. 12\n": {"Das Buch. 2, Der Teil", "Roman", "Reihe", "12"},
		"=245  10$bOnly\n=830  \\0$aSaga.$vIV.\n=490  1\\$aThe saga ;$v4\n":         {"Only", "", "Saga", "IV"},
		"=245  10$aA\n=490  1\\$aS ;$v" + strings.Repeat("1", 51) + "\n":            {"A", "", "S"},
	} {
		record, err := NewTextReader(strings.NewReader("=LDR  00000nam a2200000 i 4500\n" + fields)).Next()
		if err != nil {
			t.Fatal(err)
		}
		name, subtitle := record.SplitTitle()
		values := record.Values()
		if got := [4]string{name, subtitle, values["series"], values["series_number"]}; got != want || values["subtitle"] != "" {
			t.Errorf("%q: %q, want %q", fields, got, want)
		}
	}
}

func TestMARC8(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain", "Dvo\xE9r\xE2ak": "Dvořák", "\xB1\xA1\xC7\xB2": "łŁßø", "\xF2\xE3o": "ộ", "t\xEBs\xECa": "ts͡a", "\x88The \x89red": "The red",
		"\x1B(Bx\x1Bsy\x1B)!Ez": "xyz", "\xC8\xC3": "€©",
		"\x1B(NABC": `the character set of MARC-8 with the escape sequence "(NA"`, "\x1Bgb": "the escape sequence \"gb\"", "\x1B": "the escape sequence \"\"",
		"\xFF": "the byte 0xFF is no", "\x80": "the byte 0x80 is no", "\xAF": "the byte 0xAF", "e\xE2": "an accent of MARC-8 is not followed by a letter",
		strings.Repeat("\xE2", 9) + "e": "too many accents", "\xFCa": "the byte 0xFC",
	} {
		got, err := decodeMARC8(in)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", in, err, want)
			}
		} else if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestDamagedISO2709: a damaged record has a reason, and the next one is read.
func TestDamagedISO2709(t *testing.T) {
	t.Parallel()
	whole := string(iso2709(Record{Leader: leader, Data: []DataField{field("245", "00", "a", "Öl")}}))
	marc8 := strings.Replace(whole, "m a22", "m  22", 1)
	for record, want := range map[string]string{
		whole: "Öl", "\r\n" + whole: "Öl", marc8: "Öl", strings.Replace(marc8, "Ö", "\xE8O", 1): "Öl",
		whole[:20] + "\x1D":                                   "the record has 21 bytes, too few for a leader",
		strings.Replace(whole, "00046", "00054", 1):           "Öl", // programs count characters, or forget to count again
		strings.Replace(whole, "00037", "00038", 1):           "the directory does not end at byte 00038, as the leader says",
		strings.Replace(whole, "00037", "00036", 1):           "the directory does not end at byte 00036, as the leader says",
		strings.Replace(whole, "00037", "00000", 1):           "the directory does not end at byte 00000, as the leader says",
		strings.Replace(whole, "2450008", "2459999", 1):       `the directory has a wrong place of field "245"`,
		strings.Replace(whole, "2450008", "2450000", 1):       `the directory has a wrong place of field "245"`,
		strings.Replace(whole, "2450008", "245x008", 1):       `the directory has a wrong place of field "245"`,
		strings.Replace(whole, "2450008", "24\x015008", 1)[:]: `the directory has a wrong place of field "24\x01"`,
		strings.Replace(whole, "2450008", " 450008", 1):       `the directory has a field with the tag " 45"`,
		strings.Replace(whole, "Ö", "\xE8O", 1):               "the record has bytes that are not UTF-8, and its leader says UTF-8: convert it with yaz-marcdump or MarcEdit",
		strings.Replace(marc8, "Ö", "\x1B$", 1):               `field 245 $a: the character set of MARC-8 with the escape sequence "$l" is not read: convert the file to UTF-8 with yaz-marcdump or MarcEdit`,
		strings.Replace(whole, "00\x1F", "0\x1F\x1F", 1):      `field 245 has "0" for its two indicators`,
		strings.Replace(whole, "\x1Fa", "\x1F\x02", 1):        `field 245 has the code "\x02" of a subfield`,
		strings.Replace(whole, "000", "\x0100", 1):            "the leader has characters other than ASCII",
		strings.Repeat("x", 100_000) + "\x1D":                 "the record is longer than 99999 bytes",
		strings.Repeat("0", 200_000) + "\x1D":                 "the record is longer than 99999 bytes",
	} {
		got := readAll(t, NewReader(strings.NewReader(record+whole+"\n\x1A")))
		if text := got[0]["reason"] + got[0]["name"]; text != want || len(got) != 2 || got[1]["name"] != "Öl" {
			t.Errorf("%.60q: %s, want %s", record, got, want)
		}
	}
	got := readAll(t, NewReader(strings.NewReader(whole+whole[:40])))
	if len(got) != 2 || got[1]["reason"] != "the record is truncated: its end is missing" {
		t.Errorf("truncated: %s", got)
	}
}

// TestOverlap: a directory can not make a short record long.
func TestOverlap(t *testing.T) {
	t.Parallel()
	whole := iso2709(Record{Leader: leader, Control: []ControlField{{"001", strings.Repeat("x", 500)}, {"002", "y"}}})
	overlapping := bytes.Replace(whole, []byte("002000200501"), []byte("002050100000"), 1)
	if got := readAll(t, NewReader(bytes.NewReader(overlapping))); got[0]["reason"] != "the fields of the directory overlap" {
		t.Error(got)
	}
}

func TestDamagedXML(t *testing.T) {
	t.Parallel()
	const good = `<record><leader>x</leader><datafield tag="245" ind1="0" ind2=""><subfield code="a">A</subfield></datafield></record>`
	deep := strings.Repeat("<a>", 21)
	for inside, want := range map[string]string{
		"": "name=A", `<leader>` + strings.Repeat("x", 100_000) + `</leader>`: "reason=the record is longer than 99999 bytes|name=A",
		`<controlfield tag="0011">7</controlfield>`:                            `reason=a controlfield has the tag "0011"|name=A`,
		`<datafield tag="245" ind1="00"/>`:                                     `reason=field 245 has the ind1 "00"|name=A`,
		`<datafield tag="245"><subfield>x</subfield></datafield>`:              `reason=field 245 has a subfield with the code ""|name=A`,
		`<datafield tag="245"><subfield code="a">x<b/></subfield></datafield>`: `reason=the record has an element "b", which is not of MARCXML|name=A`,
		`<subfield code="a">x</subfield>`:                                      `reason=the record has an element "subfield", which is not of MARCXML|name=A`,
		`<x>` + deep:                                                           "error=the XML has elements nested deeper than 20",
		`</leader>`:                                                            "error=the XML is broken in line 2: XML syntax error on line 2: element <record> closed by </leader>",
		`&bomb;`:                                                               "error=the XML is broken in line 2: XML syntax error on line 2: invalid character entity &bomb;",
		`<leader>` + strings.Repeat("x", 2<<20):                                "error=the XML has a text or a tag longer than 1 MiB",
		`<leader a="` + strings.Repeat("x", 2<<20):                             "error=the XML has a text or a tag longer than 1 MiB",
	} {
		text := "<?xml version='1.0' encoding='ISO-8859-1'?><collection>\n<record>" + inside + "</record>" + good + "</collection>"
		if inside == "" {
			text = "<marc:collection xmlns:marc='" + Namespace + "'>" + strings.NewReplacer("</", "</marc:", "<", "<marc:").Replace(good) + "</marc:collection>"
			text = strings.ReplaceAll(text, "<marc:/marc:", "</marc:")
		}
		var shown []string
		for _, values := range readAll(t, NewXMLReader(strings.NewReader(text))) {
			for key, value := range values {
				shown = append(shown, key+"="+value)
			}
		}
		if got := strings.Join(shown, "|"); got != want {
			t.Errorf("%.80s: %.200s, want %s", inside, got, want)
		}
	}
	if got := readAll(t, NewXMLReader(strings.NewReader("<!DOCTYPE a [<!ENTITY b 'c'>]>"+good))); got[0]["error"] != "the XML has a document type (DTD), which is not read: remove it" {
		t.Error(got)
	}
	oai := "<OAI-PMH xmlns='o'><record><header/><metadata><record xmlns='" + Namespace + "'>" + strings.TrimPrefix(good, "<record>") + "</metadata></record></OAI-PMH>"
	if got := readAll(t, NewXMLReader(strings.NewReader(oai))); len(got) != 1 || got[0]["name"] != "A" {
		t.Error(got)
	}
}

func TestDamagedText(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"=245  00$aA{acute}e {eacute} {lcub}{abc}{rcub} {copy}{lstrok}{uml}": "A\u00e9 {eacute} {{abc}} ©ł\u0308",
		"x":                        `the line "x" is no field: a field begins like =245  10$a`,
		"=24  00$aA":               `the line "=24  00$aA" is no field: a field begins like =245  10$a`,
		"=245  0$aA":               `field 245 has "0" for its two indicators`,
		"=245  00$éA":              `field 245 has the code "\xc3" of a subfield`,
		"=245  00$a\xff":           `the line "=245  00$a\xff" is not UTF-8`,
		strings.Repeat("x", 1<<18): "the record is longer than 99999 bytes",
	} {
		got := readAll(t, NewTextReader(strings.NewReader("\n=LDR  x\r\n"+line+"\n\r\n\n=LDR  x\n=245  00$aB")))
		if text := got[0]["reason"] + got[0]["name"]; text != want || len(got) != 2 || got[1]["name"] != "B" {
			t.Errorf("%.60q: %.100q, want %q", line, got, want)
		}
	}
}

func TestIsFormat(t *testing.T) {
	t.Parallel()
	whole := string(iso2709(Record{Leader: leader, Data: []DataField{field("245", "00", "a", "A")}}))
	for text, want := range map[string]string{
		whole: "UTF-8", strings.Replace(whole, " a22", "  22", 1): "MARC-8", "12345,name,author\n1,2,3": "", "": "", whole[:24]: "",
		"=LDR  x": "text", "=245  x": "", "=LDR  x\r\n": "text", "=1+1": "", "<record><leader>": "xml", "<html>": "", "<a xmlns='" + Namespace + "'>": "xml",
	} {
		got, _ := IsISO2709([]byte(text))
		if IsText([]byte(text)) {
			got += "text"
		}
		if IsXML([]byte(text)) {
			got += "xml"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTrimPunctuation removes the signs at the end of the fields of catalogue cards.
func TestTrimPunctuation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The red river /": "The red river", "Bread and salt : ": "Bread and salt", "Miller, Anna,": "Miller, Anna", "Water =": "Water",
		"Either/Or": "Either/Or", "AC/": "AC/", "/": "/", "Who?": "Who?", "A, B": "A, B",
	} {
		if got := TrimPunctuation(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// drain reads all records. It fails if the reader does not end.
func drain(t *testing.T, r reader, size int) (records []Record) {
	t.Helper()
	for range size + 2 {
		record, err := r.Next()
		if _, ok := errors.AsType[*RecordError](err); ok {
			continue
		}
		if err != nil {
			return records
		}
		record.Values()
		records = append(records, record)
	}
	t.Fatal("no end")
	return nil
}

func FuzzISO2709(f *testing.F) {
	for _, b := range books() {
		record := iso2709(FromBook(b, &model.Genre{Name: "R&D"}, &model.Category{Name: "Works"}))
		f.Add(record)
		f.Add(bytes.Replace(record, []byte("m a22"), []byte("m  22"), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		IsISO2709(data)
		drain(t, NewReader(bytes.NewReader(data)), len(data))
		if len(data) > 5 && data[len(data)-1] == endOfRecord { // of the right length
			drain(t, NewReader(io.MultiReader(strings.NewReader(fmt.Sprintf("%05d", len(data))), bytes.NewReader(data[5:]))), len(data))
		}
	})
}

func FuzzMARC8(f *testing.F) {
	f.Add([]byte("Dvo\xE9r\xE2ak \xEBt\xECs\x1B)!E\x88"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := decodeMARC8(string(data)); err == nil && !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}

// FuzzXML: a record that was read is the same after it is written.
func FuzzXML(f *testing.F) {
	golden, err := os.ReadFile("testdata/books.marcxml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add([]byte(`<record><leader>x</leader><datafield tag="245" ind1="0"><subfield code="a">A</subfield></datafield></record>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, record := range drain(t, NewXMLReader(bytes.NewReader(data)), len(data)) {
			again := drain(t, NewXMLReader(bytes.NewReader(AppendXML(nil, record))), len(data))
			if diff := cmp.Diff([]Record{record}, again); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, b := range books() {
		f.Add([]byte(mrk(FromBook(b, &model.Genre{Name: "R&D"}, &model.Category{Name: "Works"}))))
	}
	f.Add([]byte("=LDR  x\n=245  00$aDvo{caron}r{acute}ak{lcub}\n\n=LDR  y"))
	f.Fuzz(func(t *testing.T, data []byte) { drain(t, NewTextReader(bytes.NewReader(data)), len(data)) })
}
