package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// book is a book of a catalogue of realistic shapes. Missing texts are empty.
type book struct {
	id                            int // from 1
	name, description, author     string
	isbn, publisher, language     string
	shelfMark                     string
	pages, priceCents, genre, age int // age in days at the end of 2025
	rarest                        int // rank of the rarest place in its name, 0 without one
}

func (b *book) published() string {
	return time.Date(2025, 12, 31-b.age, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// created returns the time of creation: a book a minute.
func (b *book) created() string {
	return time.Unix(1e9+60*int64(b.id), 0).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// generator makes books, always the same for an id. Words, authors, genres and publishers have Zipf's distribution;
// every third word is a small one, and a third of the others are places.
type generator struct {
	source                                          *rand.PCG
	random                                          *rand.Rand
	word, place, author, genre, publisher, language *rand.Zipf
}

func newGenerator() *generator {
	source := rand.NewPCG(1, 0)
	random := rand.New(source)
	zipf := func(s, v float64, values int) *rand.Zipf { return rand.NewZipf(random, s, v, uint64(values-1)) }
	return &generator{
		source: source, random: random,
		word:      zipf(1.1, 30, len(words)-smallWords),
		place:     zipf(1.1, 100, len(placeStarts)*len(placeMiddles)*len(placeEnds)),
		author:    zipf(1.2, 50, len(givenNames)*len(initials)*len(surnames)),
		genre:     zipf(1.1, 4, allGenres),
		publisher: zipf(1.1, 4, len(publishers)),
		language:  zipf(2, 1, len(languages)),
	}
}

func (g *generator) percent(n int) bool { return g.random.IntN(100) < n }

// pick returns a combination of parts, another one for each n below their number.
func pick(n uint64, sep string, lists ...[]string) string {
	n *= 7919 // a prime, so that neighbours share no part
	parts := make([]string, len(lists))
	for i, list := range lists {
		parts[i] = list[n%uint64(len(list))]
		n /= uint64(len(list))
	}
	return strings.Join(parts, sep)
}

// book returns the book with an id.
func (g *generator) book(id int) book {
	g.source.Seed(uint64(id), 1)
	b := book{id: id, genre: 1 + int(g.genre.Uint64()), pages: 40 + g.random.IntN(400) + g.random.IntN(400)}
	b.name, b.rarest = g.title()
	b.author = g.authorName()
	if g.percent(75) {
		b.description = g.text(3 + g.random.IntN(65))
	}
	if g.percent(70) {
		b.isbn = isbn(id)
	}
	if g.percent(85) {
		b.publisher = publishers[g.publisher.Uint64()]
	}
	if g.percent(95) {
		b.language = languages[g.language.Uint64()]
	}
	if g.percent(80) {
		last := b.author[strings.LastIndexByte(b.author, ' ')+1:]
		b.shelfMark = fmt.Sprintf("%03d.%d %.3s", b.genre*7%1000, g.random.IntN(1000), strings.ToUpper(last))
	}
	b.priceCents = 100*(1+int(g.random.ExpFloat64()*18)) - []int{1, 1, 1, 5, 50, 100}[g.random.IntN(6)]
	b.age = int(g.random.ExpFloat64() * 9000)
	if g.percent(50) { // only the year is known
		year := time.Date(2025, 12, 31-b.age, 0, 0, 0, 0, time.UTC)
		b.age += year.YearDay() - 1
	}
	return b
}

func (g *generator) authorName() string {
	n := g.author.Uint64()
	if n%3 == 0 {
		return pick(n, " ", givenNames, initials, surnames)
	}
	return pick(n, " ", givenNames, surnames)
}

// nextWord returns a word, and its rank among places if it is one.
func (g *generator) nextWord() (word string, place int) {
	switch g.random.IntN(9) {
	case 0, 1, 2:
		return words[min(g.random.IntN(smallWords), g.random.IntN(smallWords))], 0
	case 3, 4:
		n := g.place.Uint64()
		return pick(n, "", placeStarts, placeMiddles, placeEnds), int(n)
	}
	return words[smallWords+g.word.Uint64()], 0
}

// title returns a name of 2 to 8 words, and the rank of its rarest place, 0 without one.
func (g *generator) title() (name string, rarest int) {
	title := make([]string, 2+(g.random.IntN(7)+g.random.IntN(7))/2)
	for i := range title {
		word, place := g.nextWord()
		if rarest = max(rarest, place); i == 0 || len(word) > 4 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		title[i] = word
	}
	return strings.Join(title, " "), rarest
}

// text returns sentences with a number of words, of 600 characters at most.
func (g *generator) text(n int) string {
	var text strings.Builder
	for ended := true; n > 0; n-- {
		word, _ := g.nextWord()
		if text.Len()+len(word) > 597 {
			break
		}
		if ended {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(word)
		if ended = g.percent(8) || n == 1; ended {
			text.WriteByte('.')
		}
	}
	return text.String()
}

// isbn returns a valid ISBN with 13 digits.
func isbn(id int) string {
	digits := fmt.Sprintf("978%09d", id)
	sum := 0
	for i, digit := range digits {
		sum += int(digit-'0') * (1 + i%2*2)
	}
	return fmt.Sprintf("%s%d", digits, (10-sum%10)%10)
}

// parent is a genre or a category.
type parent struct {
	id, category      int
	name, description string
}

// parents returns the categories and the genres, with descriptions. A genre's category is that of its noun.
func (g *generator) parents() (categories, genres []parent) {
	for id := 1; id <= allGenres; id++ {
		g.source.Seed(uint64(id), 2)
		category := (id-1)%allCategories + 1
		noun, kind := genreNouns[category-1], genreKinds[(id-1)/allCategories]
		genres = append(genres, parent{id, category, kind + " " + noun, g.text(30)})
		if id <= allCategories {
			categories = append(categories, parent{id: id, name: noun, description: g.text(30)})
		}
	}
	return categories, genres
}

// writeCSV writes the books with the ids from first to last, with the columns of catalogue import.
func (g *generator) writeCSV(to io.Writer, first, last int) error {
	_, genres := g.parents()
	out := csv.NewWriter(to)
	const columns = "name,description,pages,published_at,author,price,genre,category,isbn,publisher,language,shelf_mark"
	row := strings.Split(columns, ",")
	for id := first; ; id++ {
		if err := out.Write(row); err != nil || id > last {
			out.Flush()
			return out.Error()
		}
		b := g.book(id)
		genre := genres[b.genre-1]
		row = []string{b.name, b.description, fmt.Sprint(b.pages), b.published(), b.author,
			fmt.Sprintf("%d.%02d", b.priceCents/100, b.priceCents%100), genre.name, genreNouns[genre.category-1],
			b.isbn, b.publisher, b.language, b.shelfMark}
	}
}
