package value

import (
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// TestAmounts reads amounts of columns with a decimal point, and with a decimal comma.
func TestAmounts(t *testing.T) {
	t.Parallel()
	const bad = "not read"
	for text, want := range map[string]struct{ point, comma string }{
		"12.5":                                {"12.5", "12.5"},
		"12,5":                                {"12.5", "12.5"},
		"1.299":                               {"1.299", "1299"},
		"1,299":                               {"1299", "1.299"},
		"1,299.00":                            {"1299.00", "1299.00"},
		"1.299,00":                            {"1299.00", "1299.00"},
		"1'299.50":                            {"1299.50", "1299.50"},
		"1 299,50 €":                          {"1299.50", "1299.50"},
		"1,299,000":                           {"1299000", "1299000"},
		"$ 9.99":                              {"9.99", "9.99"},
		"US$9.99":                             {"9.99", "9.99"},
		"9.99 USD":                            {"9.99", "9.99"},
		"12,-":                                {"12", "12"},
		"kr 199,-":                            {"199", "199"},
		"Rs. 250/-":                           {"250", "250"},
		"₹1,25,000.00":                        {"125000.00", "125000.00"},
		"1,25,000":                            {"125000", "125000"},
		"Rp 1.250.000":                        {"1250000", "1250000"},
		"２２.００元":                              {"22.00", "22.00"},
		"١٢٫٥٠ ر.س":                           {"12.50", "12.50"},
		"kr. 99":                              {"99", "99"},
		"99 kr.":                              {"99", "99"},
		"12000 so'm":                          {"12000", "12000"},
		"1e2":                                 {"1e2", "1e2"},
		"DM 29,80":                            {"29.80", "29.80"},
		"öS 233,00":                           {"233.00", "233.00"},
		"S 233":                               {"233", "233"},
		"9,90FF":                              {"9.90", "9.90"},
		"12 SFr.":                             {"12", "12"},
		"35 zł":                               {"35", "35"},
		"1200円":                               {"1200", "1200"},
		"500 р.":                              {"500", "500"},
		"US$ 12 USD":                          {"12", "12"},
		"NT$300":                              {"300", "300"},
		"12 ATS":                              {"12", "12"},
		"$7.95 (U.S.)":                        {"7.95", "7.95"},
		"12 Euro 50":                          {"12.50", "12.50"},
		"12€50":                               {"12.50", "12.50"},
		"1 250$00":                            {"1250.00", "1250.00"},
		"1.250$00":                            {"1250.00", "1250.00"},
		"8F90":                                {"8.90", "8.90"},
		"265 грн 5 коп.":                      {"265.05", "265.05"},
		"265 грн 50 коп":                      {"265.50", "265.50"},
		"12€5":                                {bad, bad},
		"12€505":                              {bad, bad},
		"12,50€50":                            {bad, bad},
		"12x50":                               {bad, bad},
		"5S12":                                {bad, bad},
		"1e50":                                {"1e50", "1e50"},
		"450,- Kč":                            {"450", "450"},
		"1'299.-":                             {"1299", "1299"},
		"Fr. 12.--":                           {"12", "12"},
		"12,— €":                              {"12", "12"},
		"12:- kr":                             {"12", "12"},
		"12.50.-":                             {"12.50", "12.50"},
		"12 ABC":                              {bad, bad}, // no currency
		"12 ats":                              {bad, bad}, // codes are in capitals
		"XXX 12":                              {bad, bad}, // the code of no currency
		"12o":                                 {bad, bad},
		"8,9o":                                {bad, bad},
		"l2.50":                               {bad, bad},
		"S12":                                 {bad, bad}, // 512
		"€12,5o":                              {bad, bad},
		"50¢":                                 {bad, bad},
		"99p":                                 {bad, bad},
		"12'":                                 {bad, bad},
		"., ":                                 {bad, bad},
		"24 (23.50)":                          {bad, bad},
		"24.50, 25.00":                        {bad, bad},
		"Broschur : EUR 29.95":                {"29.95", "29.95"},
		"(kart.) : Pp. : 12.50":               {"12.50", "12.50"},
		"EUR 24.00 (DE), EUR 24.70 (AT 2)":    {"24.00", "24.00"},
		"Lw. : DM 29.80, sfr 29.80, S 233.00": {"29.80", "29.80"},
		"£12.99 (hbk) : £6.99 (pbk)":          {"12.99", "12.99"},
		"\u200e12.50":                         {"12.50", "12.50"},
		`="12.50"`:                            {"12.50", "12.50"},
		"12,34,5":                             {bad, bad},
		"1,2345.00":                           {bad, bad},
		"Free":                                {bad, bad},
		"about 12":                            {bad, bad},
		"9.7813E+12 x":                        {bad, bad},
		"$":                                   {bad, bad},
		"":                                    {bad, bad},
	} {
		for comma, want := range map[bool]string{false: want.point, true: want.comma} {
			got, ok := ParseAmount(text, comma, "")
			if !ok {
				got = bad
			}
			if got != want {
				t.Errorf("%q, comma %v: %s, not %s", text, comma, got, want)
			}
		}
	}
}

// TestComma: the cells that leave nothing open decide for those that do.
func TestComma(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cells []string
		want  bool
		clear bool
	}{
		{[]string{"1.299", "9,99"}, true, true}, {[]string{"1.299,00"}, true, true}, {[]string{"1,299.00", "1,299"}, false, true},
		{[]string{"1,299"}, false, true}, {[]string{"Rp 85.000", "Rp 120.000"}, true, false}, {[]string{"1.250 €", "950 €"}, true, true},
		{[]string{"12.500", "0.990"}, false, true}, {[]string{"Rp 25.000", "$ 7.50"}, true, false}, {[]string{"$ 25.000", "$ 7.50", "12.5"}, false, true},
		{[]string{"25.000", "$ 7.50"}, false, true}, {[]string{"9,99", "9.99"}, false, true}, {[]string{"1.850", "9,50", "7.25"}, true, false}, {nil, false, true},
	} {
		var s AmountSurvey
		for _, cell := range test.cells {
			s.Add(1, cell)
		}
		if comma, isClear := s.Comma(); comma != test.want || isClear != test.clear {
			t.Errorf("%q: %v, clear %v", test.cells, comma, isClear)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"352": "352", "1,024": "1024", "1.024": "1024", "352.0": "352", "352 pages": "352", "352 p.": "352", "1 024": "1024",
		"304 p": "304", "304 S.": "304", "304 Seiten": "304", "xii, 304 pages": "304", "XII-304 p.": "304", "xii, 304 p. : ill. ; 23 cm": "304",
		"[4], 304, [2] p.": "304", "[304] p.": "304", "1 vol. (304 p.)": "304", "1 online resource (xii, 1,024 pages)": "1024", "ca. 300 S.": "300",
		"304 páginas ; 21 cm": "304", "304 с.": "304", "2 v. (304, 290 p.)": "", "12-34 p.": "", "304 cm": "", "xii p.": "", "3 DVDs": "",
		"4 p. l., 304 p.": "304", "2 p.l., iii-xii, 304 p.": "304", "1 p. l., [7]-304 p.": "304", "1 f., 304 p.": "304", "[304] p., 4 p.": "304",
		"16 p. of plates, 304 p.": "304", "12 S., 304 S.": "304", "4 p., 1 024 p.": "1024", "1 f., 304 p. (12 p.)": "304", "4 p. l., 12-304 p.": "",
		"viii,120,304p.": "304", "[4],120,304 p.": "304", "xii,304,120 p.": "304", "xii, 304,120 p.": "304", "viii,4,120 p.": "120",
		"12-304 p.": "", "12-304": "", "1 vol. (120-304 p.)": "", "5/120": "", "12x304": "",
		"352页": "352", "352ページ": "352", "共352頁": "352", "352쪽": "352", "٣٥٢ صفحة": "352", "352 หน้า": "352", "３５２": "352", "3巻": "", "352 עמ": "352",
		"2 τόμοι": "", "12 εκ.": "", "350 руб.": "", "18 см": "", "2 т.": "", "304 σελ.": "304", "304 сторінки": "304", "304 bogs": "",
		"320 sivua :": "320", "xxiii, 320 sivua ; 21 cm": "320", "320 lk": "320", "320 lpp.": "320", "320 σ.": "320", "320 tr.": "320", "320 halaman": "320",
		"iv, 320 leaves :": "320", "iv, 85 l.": "85", "[1] l., 304 p.": "304", "85l": "", "120 Bl.": "120", "120 stranica": "120", "120 hojas": "120", "304 o.": "",
		"xi + 868": "868", "xii, 352": "352", "XII+352+[4]": "352", "304+16": "304", "[304]": "304", "[4], 304": "304", "12, 352": "", "xii": "", "xii, 12-30": "",
		"p. 352": "352", "pp. 12": "12", "S. 1.120": "1120", "Pages: 352": "352", "p. 12-34": "", "v. 3": "", "3 v. (xx, 1200 p.)": "", "\u200b352": "352", `="352"`: "352",
		"3.5": "", "many": "", "9.78E+12": "", "p": "", "1,2": "", "": "",
	} {
		if got, ok := ParsePages(text, ""); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// TestUncounted: an extent without a number of pages is no value. Another number is a value, which may be wrong.
func TestUncounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"p. cm.": true, "pages cm": true, "pages ; 23 cm": true, "v. :": true, "volumes ;": true, "1 volume (unpaged)": true, "1 v. (various pagings) ; 28 cm": true,
		"unpaged": true, "[unpaged]": true, "o. Pag.": true, "1 online resource": true, "1 Band": true, "sivua": true,
		"2 vol.": false, "1 p.": false, "320 p.": false, "many": false, "23 cm": false, "1 volume (304)": false, "xii p.": false, "": false, ".": false,
	} {
		if got := IsUncounted(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestCurrency finds the unknown currency of a column. One letter is a misspelt digit, also in each cell.
func TestCurrency(t *testing.T) {
	t.Parallel()
	for want, columns := range map[string][][]string{
		"qz": {{"Qz 12.50", "13 qz"}, {"Qz 1", "Qz 2", "Qz 3", "Qz 4", "5"}},
		"":   {{"Qz 12.50"}, {"Qz 1", "Qz 2", "3"}, {"12o", "8,9o", "7o"}, {"12 €", "13 €"}, {"Qz", "Qz"}},
	} {
		for _, cells := range columns {
			var s AmountSurvey
			for _, cell := range cells {
				s.Add(1, cell)
			}
			currency, _ := s.Currency()
			if currency != want {
				t.Errorf("%q: %q, not %q", cells, currency, want)
			}
			if number, ok := ParseAmount("Qz 7.50", false, currency); ok != (currency == "qz") || ok && number != "7.50" {
				t.Errorf("%q: Qz 7.50 is %q", cells, number)
			}
		}
	}
}

// TestCells: formulas, and characters that cannot be seen, are no part of a value.
func TestCells(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`=""`: true, `=" "`: true, "#REF!": true, "[]": true, "[ ]": true, "{}": true, "['']": true, `[""]`: true, "[None]": true, "[null, null]": true, "{NULL}": true,
		"[": false, "[x]": false, "['None such']": false, "['a', '']": false, "[[]]": false, "": false, "\u200e": false, "0": false, `="0"`: false, "=": false} {
		if got := IsEmpty(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]string{`="1984"`: "1984", `="a ""b"""`: `a "b"`, `="`: `="`, "=1+1": "=1+1"} {
		if got := WithoutFormula(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"eng.": "eng", "(de) ;": "de", `="fr"`: "fr", "\u200fעברית": "עברית", "हिन्दी": "हिन्दी", "..": ""} {
		if got := Bare(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"0192553356:": "9780192553355", "\u200e9780192553355": "9780192553355", "978\u200b0192553355 (pbk.)": "9780192553355", "9780192553355.0": "9780192553355",
		"9780439023481 pbk, 9780545670319": "9780439023481", "978 0 439 02348 1 (pbk.)": "9780439023481",
		"0192553356,00": "9780192553355", `="0192553356"`: "9780192553355", "ISBN13:9780192553355;": "9780192553355", `=""`: "", "9780192553350:": "",
	} {
		if got, ok := ParseISBN(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// TestUnits finds the unknown unit of a column.
func TestUnits(t *testing.T) {
	t.Parallel()
	for want, columns := range map[string][][]string{
		"oj":        {{"214 oj.", "96 oj. ;", "1 024 oj"}, {"1 oj", "2 oj", "3 oj", "4 oj", "5"}},
		"muka laut": {{"214 muka laut", "96 Muka laut"}},
		"":          {{"214 oj."}, {"214 oj.", "96 p.", "3 x"}, {"214 oj.", "96", "12"}, {"2 cm", "3 cm"}, {"12 руб.", "13 руб."}, nil, {"oj", "oj"}},
	} {
		for _, cells := range columns {
			var s UnitSurvey
			for _, cell := range cells {
				s.Add(1, cell)
			}
			unit, _ := s.Shared()
			if unit != want {
				t.Errorf("%q: %q, not %q", cells, unit, want)
			}
			if number, ok := ParsePages("214 oj.", unit); ok != (unit == "oj") || ok && number != "214" {
				t.Errorf("%q: 214 oj. is %q", cells, number)
			}
		}
	}
}

// TestDates reads dates of many notations.
func TestDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2000年5月": "2000-05-01", "1988年": "1988-01-01", "1998年12月1日": "1998-12-01", "2010년 8월 1일": "2010-08-01", "１９９８": "1998-01-01",
		"2013-03-00": "2013-03-01", "2009-00-00": "2009-01-01", "2009-00": "2009-01-01", "0/5/1998": "", "5/0/1998": "",
		"2023-xx-xx": "2023-01-01", "1998-05-??": "1998-05-01", "1998-00-00 00:00:00": "1998-01-01", "1998/XX/XX": "1998-01-01", "1998-uu": "1998-01-01",
		"xx.05.1998": "1998-05-01", "??/??/1998": "1998-01-01", "00/05/1998": "1998-05-01", "05/00/1998": "1998-05-01", "00.00.1998": "1998-01-01",
		"?? May 1998": "1998-05-01", "00-May-1998": "1998-05-01", "May xx, 1998": "1998-05-01", "19980500": "1998-05-01", "19980000": "1998-01-01",
		"1998 3rd ed.": "1998-01-01", "2004, 2nd printing": "2004-01-01", "1998 21st": "", "3rd 1998": "", "May 3rd, 1998": "1998-05-03", "1998 May 1st": "1998-05-01",
		"3rd May 1998": "1998-05-03", "1998-03": "1998-03-01", "xx/13/1998": "", "199x-xx-xx": "", "19??": "", "00000500": "", "[1998 ?]": "1998-01-01", "5.x.1998": "", "00 1998": "1998-01-01", "1998-05-??-01": "",
		"1973年3月第1版": "1973-03-01", "1973年3月1日 発行": "1973-03-01", "1998年 12月 1日 初版第1刷": "1998-12-01", "1998年版": "1998-01-01", "1998年12月1日（火）": "1998-12-01",
		"2010년 7월 9일 초판 발행": "2010-07-09", "2010년 8월 1일 일요일": "2010-08-01", "2011년 개정판": "2011-01-01", "1973年3月第1版 1980年5月第3刷": "1973-03-01",
		"1990年代": "", "1990년대": "", "1998年以前": "", "1998年13月第1版": "", "1998页": "", "昭和55年3月": "", "1998年 Smarch": "",
		"Monday, May 31, 2010": "2010-05-31", "Mon May 31 2010 00:00:00 GMT+0200 (CEST)": "2010-05-31", "lundi 31 mai 2010": "2010-05-31",
		"mar. 31 mars 2010": "2010-03-31", "Di, 31.05.2010": "2010-05-31", "понедельник, 31 мая 2010": "2010-05-31", "Mon 2010": "", "١٩٩٨": "1998-01-01",
		"२०१०": "2010-01-01", "31 Smarch 2010": "", "0000-05-01": "",
		"31/12/27": "2027-12-31", "1/1/28": "1928-01-01", // the hundred years up to the last one
		"2011 (reimpr.)": "2011-01-01", "1998 printing, c1997.": "1998-01-01", "1999 (2. Aufl.)": "1999-01-01", "c1998 (pbk)": "1998-01-01", "reprint 1998": "1998-01-01",
		"Spring 2015": "2015-01-01", "2015/spring": "2015-01-01", "2011 (May)": "", "2011 foo": "", "2010 Smarch 31": "", "2011 (12)": "",
		"1998 [i.e. 1999]": "1998-01-01", "Heisei 10 [1998]": "1998-01-01", "昭和55 (1980)": "1980-01-01", "民國87 [1998]": "1998-01-01", "MCMXCVIII [1998]": "1998-01-01",
		"5758 [1998]": "1998-01-01", "5758. [1998]": "1998-01-01", "2541 [1998]": "1998-01-01", "1377 [1998 or 1999]": "1998-01-01", "1420 [1999 or 2000]": "1999-01-01", "1890 [1998]": "1890-01-01", "7506 [1998]": "1998-01-01",
		"[199-?] [1990]": "1990-01-01", "31 Smarch 2010 [2011]": "", "[199-?]": "", "平成10": "", "1990s": "", "12345 [1998]": "",
		"[between 1990 and 1998?]": "1990-01-01", "[1998 or 1999]": "1998-01-01", "1984b": "1984-01-01", "May 1984c": "1984-05-01", "\u200e2001-05-31": "2001-05-31",
	} {
		day, _, ok := ParseDate(text, DatesDMY, 2027)
		if got := day.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v, not %q", text, got, ok, want)
		}
	}
	for text, want := range map[string]bool{"0000-00-00 00:00:00": true, "1/0/1900": true,
		"0000-00-00 00:00:00.000": true, "0000-00-00T00:00:00Z": true, "0000-00-00T00:00:00+00:00": true, "00/00/0000 12:00:00 AM": true, "0000-00-00 00:00:00 UTC": true,
		"????-??-??": true, "xx.xx.xxxx": true, "00:00": true, "12:30": false, "x": false, "0000-05-00": false, "2000-00-00T00:00:00Z": false,
		"0001-01-01 00:00:00": false, "1/0/1900 0:00": true, "n.d.": true, "1900-01-01": false, "0": true,
		"[date of publication not identified]": true, "[publication date not identified]": true, "Erscheinungsjahr nicht ermittelbar": true, "sin fecha": true, "б. г.": true, "\u200e": true, "": true,
		"not identified, 1998": false, "soon": false} {
		if got := IsNoDate(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzCells: what is read of a cell is what the catalogue takes, whatever the cell.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"31-Jul-14", "1.299,50 €", "3/4/05", "1st May 2001", "352 pages", "١٢/٣/٢٠٠٥", "\xff-Jan-01", "2001 05", "1’299"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, order := range []string{DatesAuto, DatesMDY, DatesDMY} {
			if day, layout, ok := ParseDate(text, order, 2027); ok && (layout == "" || day.String() < "0001" || len(day.String()) != 10) {
				t.Errorf("%q: %s, %q", text, day, layout)
			}
		}
		var dates DateSurvey
		dates.Add(1, text, 2027)
		for _, comma := range []bool{false, true} {
			if plain, ok := ParseAmount(text, comma, ""); ok {
				if _, ok := model.ParseCents(plain); !ok {
					t.Errorf("%q: %q is no amount", text, plain)
				}
			}
		}
		if plain, ok := ParsePages(text, ""); ok {
			if _, ok := model.ParseCents(plain); !ok || plain == "" {
				t.Errorf("%q: %q is no number", text, plain)
			}
		}
	})
}

// TestLongCells reads long cells, which are no values, without a search in them.
func TestLongCells(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("1 ", 1<<19), strings.Repeat("mon ", 1<<18), strings.Repeat("i, ", 1<<10) + "304 p.", strings.Repeat("1", 1<<11), "kr " + strings.Repeat("1", 1<<11), strings.Repeat("mon ", 1<<9) + "May 31, 2010", "['" + strings.Repeat("a','", 1<<18) + "a']"} {
		_, isPages := ParsePages(text, "")
		_, isAmount := ParseAmount(text, true, "")
		_, _, isDate := ParseDate(text, DatesDMY, 2027)
		_, isList := ParseList(text)
		if isPages || isAmount || isDate || isList {
			t.Errorf("%.9s…: pages %v, amount %v, date %v, list %v", text, isPages, isAmount, isDate, isList)
		}
	}
}

// TestMonths reads the names of months in many languages, with their forms, and abbreviations.
func TestMonths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"16 Ogos 1961": "1961-08-16", "1 Mac 1966": "1966-03-01", "12 Disember 1831": "1831-12-12", "5 Agustus 2001": "2001-08-05", "5 Agosti 2001": "2001-08-05",
		"1999ko ekainaren 3a": "1999-06-03", "1999(e)ko urriaren 12an": "1999-10-12", "5 d'agost de 1999": "1999-08-05", "5 de xuño de 1999": "1999-06-05",
		"1999 m. kovo 5 d.": "1999-03-05", "1879. gada 15. martā": "1879-03-15", "5. toukokuuta 1999": "1999-05-05", "toukokuu 1999": "1999-05-01", "5. mail 1999": "1999-05-05",
		"1999. május 5.": "1999-05-05", "31. prosince 1999": "1999-12-31", "5. srpna 1999": "1999-08-05", "5. srpnja 1999": "1999-07-05", "5 lipca 1999": "1999-07-05", "5. lipnja 1999": "1999-06-05",
		"5 Fai 1999": "1999-05-05", "5ed o Fai 1999": "1999-05-05", "3 Meán Fómhair 1999": "1999-09-03", "5 Ġunju 1999": "1999-06-05", "5 Mayıs 1999": "1999-05-05", "15 Ağu 1999": "1999-08-15", "5 Kas 1999": "1999-11-05",
		"12 августа 1999 г.": "1999-08-12", "5 травня 1999 р.": "1999-05-05", "5. јуна 1999.": "1999-06-05", "5 Ιουνίου 1999": "1999-06-05", "5 qershor 1999": "1999-06-05", "5 tetor 1999": "1999-10-05",
		"5 მაისი 1999": "1999-05-05", "1999 წლის 5 მაისი": "1999-05-05", "5 մայիսի 1999 թ.": "1999-05-05", "5 במאי 1999": "1999-05-05", "5 مايو 1999": "1999-05-05", "5 मई 1999": "1999-05-05",
		"5 tháng 8 năm 1999": "1999-08-05", "Ngày 5 tháng 12 năm 1999": "1999-12-05", "ágúst 2001": "2001-08-01", "des. 2001": "2001-12-01", "mar 1999": "1999-03-01", "5 Mar 2001": "2001-03-05",
		"den 5. maj 1999": "1999-05-05", "3 červ 1999": "", "5 lip 1999": "", "5 quintember 1999": "", "5 ma 1999": "",
	} {
		if day, _, ok := ParseDate(text, DatesDMY, 2027); ok != (want != "") || ok && day.String() != want {
			t.Errorf("%s: %s, want %s", text, day, want)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(monthNames), "\n") {
		if n := len(strings.Fields(line)); n != 12 {
			t.Errorf("%d months: %s", n, line)
		}
	}
}

// TestCalendars reads the dates of a column as its other cells show.
func TestCalendars(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cells      []string
		text, want string
	}{
		{[]string{"5. rujna 2001", "3. listopada 2001"}, "3. listopada 2001", "2001-10-03"},
		{[]string{"5 września 2001", "3 listopada 2001"}, "3 listopada 2001", "2001-11-03"},
		{[]string{"2496", "2480", "๒๕๐๑"}, "2496", "1953-01-01"},
		{[]string{"2496-05-01", "2480-01-01"}, "2480-01-01", "1937-01-01"},
		{[]string{"1996", "2480", "1987"}, "2480", "2480-01-01"},
	} {
		var s DateSurvey
		for i, cell := range tt.cells {
			s.Add(i, cell, 2027)
		}
		if day, _, _ := s.Parse(tt.text, DatesDMY, 2027); day.String() != tt.want {
			t.Errorf("%q: %s, want %s", tt.cells, day, tt.want)
		}
	}
}
