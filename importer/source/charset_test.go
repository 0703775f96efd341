package source

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// TestGuessCharset encodes lists of several languages. A guess is the right one and sure, or not sure with the right
// one among the first.
func TestGuessCharset(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		encoding, text string
		isSure         bool
	}{
		{"Windows-1252", "Der Grüne Heinrich,Keller\nÜber den Fluss,Jörg Bäcker\n", true},
		{"Windows-1252", "L'élève,Françoise Noël\nÀ la maison,Zoé\n", true},
		{"Windows-1252", "Café – the “best”,X\n", true},
		{"Windows-1252", "O coração,João Guimarães\nAs mãos,Ângela\n", true},
		{"Windows-1252", "El niño,Muñoz\n¿Qué?,Pérez\n", true},
		{"Windows-1250", "Žluťoučký kůň,Karel Čáp,Román\n", true},
		{"Windows-1250", "Gęsia skórka,Łukasz Żak\nŚwięto,Ból\n", true},
		{"Windows-1250", "Tűz és víz,Őri Béla\nHárom nővér,Szűcs\n", false},
		{"Windows-1251", "Книга о мёде,Лев Волк,Роман\n", true},
		{"Windows-1251", "Війна і мир,Українка\nЇжак,Ґудзик\n", true},
		{"KOI8-R", "Книга о мёде,Лев Волк,Роман\nТихая река,Иван\n", true},
		{"IBM866", "Книга о меде,Лев Волк,Роман\nТихая река,Иван\n", true},
		{"GB18030", "红河的故事,王小明,小说\n", true},
		{"Big5", "紅河的故事,王小明,小說\n", true},
		{"Shift_JIS", "赤い川のはなし,山田太郎,小説\nノルウェイの森,村上春樹\n", true},
		{"EUC-JP", "赤い川のはなし,山田太郎,小説\nノルウェイの森,村上春樹\n", true},
		{"EUC-KR", "붉은 강의 이야기,김철수,소설\n", true},
		{"Windows-1253", "Το κόκκινο ποτάμι,Νίκος Παπάς\n", true},
		{"Windows-1254", "Kırmızı ırmak,Şükrü Ağaoğlu\n", true},
		{"Windows-1255", "הנהר האדום,דן כהן\n", false},
		{"Windows-1256", "النهر الأحمر,أحمد علي\n", true},
		{"Macintosh", "L'élève,Françoise Noël\nÜber,Jörg\n", true},
		{"Windows-1252", strings.Repeat("Schöne Wörter;Jürgen Müller;3\n", 400) + "L'hiver;Anaïs Moulin;9\nLa forêt;Geneviève Roux;10\n", true},
		{"Windows-1252", "La forêt;Geneviève Roux\n" + strings.Repeat("Über den Fluß;Käthe Größ\n", 400), false},
		{"Windows-1252", "naïveté,Molière\nLa bibliothèque,Zoé\n", true},
		{"Windows-1252", "Perché è così,Niccolò\nLa città,Però\n", true},
		{"Windows-1252", "A manhã,Conceição\nCoração,José Antônio\n", true},
		{"Windows-1252", "Smörgåsbord,Åsa Öberg\nBlåbær,Jørgen Bjørnson\n", true},
		{"Windows-1252", strings.Repeat("Bär,Côté\nKäse,Été\n", 50) + "Anaïs,Élève\n", true},
		{"Windows-1252", "80 m² Glück,1\n", true},
		{"Windows-1252", "Geneviève\n", false},
		{"Windows-1252", "Anaïs\n", false},
		{"Windows-1250", "Příběh člověka,Karel Dvořák\nŽivot,Němec\n", true},
		{"Windows-1250", strings.Repeat("Šťastný člověk;Jiří Kovář;3\n", 300), true},
		{"Windows-1250", "Čas;Jan Černý\nDie Müller;Jörg\n", true},
		{"Windows-1250", "Řeka,Bezděk\nLoďka,Ďurica\n", false},
		{"Windows-1250", "Ślepy tor,Grażyna Wójcik\nKsięga,Łucja\n", true},
		{"Windows-1250", "Az öreg hős,Kőműves Gábor\nKönyv,Sűrű Ödön\n", true},
		{"Windows-1254", "İnce yol,Yaşar Çağlar\nGölge,Oğuz Şahin\n", true},
		{"Windows-1254", "Kırmızı\n", false},
	} {
		bytes, err := charsetNamed(test.encoding).encoding.NewEncoder().String(test.text)
		if err != nil {
			t.Fatal(test, err)
		}
		guesses, isSure := guessCharset([]byte(bytes))
		var names []string
		for _, g := range guesses {
			names = append(names, g.Encoding)
		}
		text, _ := guesses[0].charset.encoding.NewDecoder().String(bytes)
		if isSure && text != test.text || test.isSure && !isSure || !strings.Contains(strings.Join(names[:min(4, len(names))], " "), test.encoding) {
			t.Errorf("%s %.60q: %v, sure %v", test.encoding, test.text, names, isSure)
		}
	}
	guesses, _ := guessCharset([]byte("M\xfcller\nGenevi\xe8ve\n"))
	if guesses[0].Text != "Geneviève" || guesses[1].Text != "Genevičve" {
		t.Errorf("the guesses show %q and %q, and not the line in which they differ", guesses[0].Text, guesses[1].Text)
	}
	if guesses, isSure := guessCharset([]byte("\xca,1\n")); isSure || len(guesses) == 0 {
		t.Errorf("one letter: %v, sure", guesses)
	}
}

// TestLostBytes decodes bytes that an encoding does not have, at the ends of buffers too. They stay broken.
func TestLostBytes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want string }{
		"Shift_JIS":    {"A\xff\x80", "A\xff\xff"},
		"GB18030":      {"A\xff,\xc4\xe3", "A\xff,你"},
		"Windows-1252": {"A\x81\x80", "A\xff€"},
		"Windows-1253": {"\xe1\xff", "α\xff"},
	} {
		for _, before := range []int{0, 4094, 4095, 4096} {
			text := strings.Repeat("x", before)
			got, err := io.ReadAll(charsetNamed(name).decode(iotest.OneByteReader(strings.NewReader(text + test.in))))
			if err != nil || string(got) != text+test.want {
				t.Errorf("%s after %d bytes: %q, %v", name, before, got[before:], err)
			}
		}
	}
}

// TestSplitCharacters decodes text whose characters are split between two buffers.
func TestSplitCharacters(t *testing.T) {
	t.Parallel()
	const text = "é€𝄞"
	for n := range len(text) {
		first, err := io.ReadAll(transform.NewReader(io.MultiReader(strings.NewReader(text[:n]), strings.NewReader(text[n:])), refusal{}))
		if err != nil || string(first) != text {
			t.Errorf("split after %d bytes: %q, %v", n, first, err)
		}
	}
	for atEOF, want := range map[bool]error{false: transform.ErrShortSrc, true: nil} { // at the end no more follows
		nDst, nSrc, err := refusal{}.Transform(make([]byte, 10), []byte("a\xe2\x82"), atEOF)
		if isWhole := nDst == 3 && nSrc == 3; !errors.Is(err, want) || isWhole != atEOF {
			t.Errorf("a part of a character, at the end %v: %d, %d, %v, want %v", atEOF, nDst, nSrc, err, want)
		}
	}
}
