package db_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// TestSearchExamples stores the books of docs/graphql.md and makes the searches there.
func TestSearchExamples(t *testing.T) {
	t.Parallel()
	text := string(must[[]byte](t)(os.ReadFile("../docs/graphql.md")))
	table := func(header string) (rows [][]string) {
		_, after, found := strings.Cut(text, "\n| "+header)
		if !found {
			t.Fatalf("there is no table of %s", header)
		}
		for line := range strings.SplitSeq(strings.SplitN(after, "\n\n", 2)[0], "\n") {
			cells := strings.Split(line, "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells[1:])
		}
		return rows[2:]
	}
	books, searches := table("name | author"), table("search | finds")
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		shelve(t, s, books)
		for _, search := range searches {
			text := strings.Trim(search[0], "`")
			for _, text := range []string{text, norm.NFD.String(text)} {
				if diff := cmp.Diff(search[1], strings.Join(foundBooks(t, s, text), "; ")); diff != "" {
					t.Errorf("%s finds (-docs +got):\n%s", text, diff)
				}
			}
		}
	})
}

// shelve stores books of a name, an author and a description, and nothing else.
func shelve(t *testing.T, s *db.Store, rows [][]string) {
	t.Helper()
	home := newShelf(t, s)
	var books []*model.Book
	for _, row := range rows {
		b := &model.Book{Name: row[0], Author: row[1], Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, GenreID: home.genre.ID}
		if row[2] != "" {
			b.Description = &row[2]
		}
		books = append(books, b)
	}
	if err := s.Books.Insert(t.Context(), books); err != nil {
		t.Fatal(err)
	}
	if err := s.Books.Delete(t.Context(), home.book.ID, nil, model.Cascade); err != nil {
		t.Fatal(err)
	}
}

// TestSearchRule compares what is found, in its order, with the rule of docs/graphql.md
// in plain words.
func TestSearchRule(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		fillShelf(t, s)
		odd := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1}))[0].GenreID
		for _, row := range [][]string{
			{"S. S. Van Dine’s \"S S\" stories", "S.S. Van Dine", "J K Rowling's, K. J. Rowling's"},
			{norm.NFD.String("한국 소설: 채식주의자"), norm.NFD.String("한강"), "각ᆨ ㄱ ㄴ 이 책"},
			{"三体 II 黒暗森林", "刘慈欣", "三's 'sblood"}, {"C++", "A B C D E F", "1 2 3 4 a1 b2"},
			{"Л.Н. Толстой: Война и мир", "Лев Толстой", "Ünïcödé 3.14 x.y.z"}, {"Dune", "act", "cat hat that's"},
			{"Wi-Fi, Catch-22's and You’ll", "O'Brien-Smith", "state-of-the-art re-use; rock'n'roll"},
		} {
			in := newBook(row[0], odd)
			in.Author = row[1]
			in.Description = graphql.OmittableOf(&row[2])
			in.Subtitle, in.Series = graphql.OmittableOf(&row[0]), graphql.OmittableOf(&row[2])
			must[*model.Book](t)(s.Books.Create(t.Context(), in))
			exec(t, other(t, url), `INSERT INTO books (name, author, description, subtitle, series, pages, published_at, price_cents, genre_id)
VALUES ('Part', 'J', 'd', $1, $2, 1, '2000-01-01', 0, $3)`, row[2], row[1], odd)
		}
		wantBooksInSearch(t, url, other(t, url))
		page := must[*model.Page](t)(model.PageArgs{}.Page("Book"))
		page.Limit = model.MaxPageSize
		shelf := newRuleShelf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page)))
		random := rand.New(rand.NewPCG(4, 7))
		corrected, empty := 0, 0
		for range 600 {
			text := shelf.randomSearch(random)
			page := searchPage(t, "Book", text)
			page.Limit = model.MaxPageSize
			want, correction := shelf.find(text)
			if got := idsOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))); !slices.Equal(want, got) {
				t.Errorf("%q finds %v, want %v", text, got, want)
			}
			if got := must[*string](t)(s.Unchecked(t.Context()).Books.Correct(t.Context(), text)); correction == "" && got != nil || correction != "" && (got == nil || *got != correction) {
				t.Errorf("%q is corrected to %v, want %q", text, got, correction)
			}
			if len(want) == 0 {
				empty++
			} else if correction != "" {
				corrected++
			}
		}
		if corrected < 60 || empty > 200 {
			t.Errorf("%d searches are corrected, %d find nothing: they test little", corrected, empty)
		}
	})
}

// ruleShelf is books by their words: of the name, the author, the series, the subtitle and the description.
type ruleShelf struct {
	books      []*model.Book
	words      [][5][]string
	joined     [][5][]string
	vocabulary []string
}

func newRuleShelf(books []*model.Book) (s ruleShelf) {
	s.books = books
	for _, b := range books {
		var words, joined [5][]string
		for i, text := range []*string{&b.Name, &b.Author, b.Series, b.Subtitle, b.Description} {
			if text != nil {
				words[i], joined[i] = collate.Entries(*text)
				s.vocabulary = slices.Concat(s.vocabulary, words[i], joined[i])
			}
		}
		s.words, s.joined = append(s.words, words), append(s.joined, joined)
	}
	slices.Sort(s.vocabulary)
	s.vocabulary = slices.DeleteFunc(slices.Compact(s.vocabulary), hasDigit)
	return s
}

func hasDigit(word string) bool { return strings.ContainsAny(word, "0123456789") }

// find returns the books that a search finds, the best first, and what was searched for
// in place of it, if it was corrected.
func (s ruleShelf) find(text string) (found []model.ID, correction string) {
	words := collate.Words(text)
	var terms [][]string
	for _, word := range words {
		terms = append(terms, []string{word})
	}
	if found = s.ranked(words, terms); len(found) > 0 {
		return found, ""
	}
	for i, word := range words {
		if len(s.ranked(nil, terms[i:i+1])) > 0 {
			continue
		}
		terms[i] = s.nearest(word)
		if len(terms[i]) == 0 {
			return nil, ""
		}
		if len(terms[i]) == 1 {
			words[i] = terms[i][0]
		}
	}
	for _, term := range terms {
		correction += " " + strings.Join(term, "/")
	}
	correction = strings.TrimPrefix(correction, " ")
	if correction == strings.Join(collate.Words(text), " ") {
		correction = ""
	}
	return s.ranked(words, terms), correction
}

// nearest returns the words that a mistyped one stands for.
func (s ruleShelf) nearest(word string) (found []string) {
	letters := utf8.RuneCountInString(word)
	for edits := 1; edits <= 2 && len(found) == 0; edits++ {
		if letters < 3*edits || hasDigit(word) {
			return nil
		}
		for _, other := range s.vocabulary {
			if withinEdits([]rune(word), []rune(other), edits) {
				found = append(found, other)
			}
		}
	}
	return found
}

// withinEdits reports whether b is at most so many edits away from a.
func withinEdits(a, b []rune, edits int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 && len(b) == 0:
		return true
	case edits == 0:
		return false
	case len(a) == 0 || len(b) == 0:
		return max(len(a), len(b)) <= edits
	case len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] && withinEdits(a[2:], b[2:], edits-1):
		return true
	}
	return withinEdits(a[1:], b[1:], edits-1) || withinEdits(a[1:], b, edits-1) || withinEdits(a, b[1:], edits-1)
}

// ranked returns the books that have one word of each term, in their order.
func (s ruleShelf) ranked(text []string, terms [][]string) (found []model.ID) {
	var ranks [8][]model.ID
	for i, columns := range s.words {
		all := func(n int, begin bool) bool {
			return len(terms) > 0 && !slices.ContainsFunc(terms, func(term []string) bool {
				return !slices.ContainsFunc(term, func(word string) bool {
					return hasWord(columns[:n], word, begin) || hasJoined(s.joined[i][:n], word, begin)
				})
			})
		}
		name, text := strings.Join(columns[0], " "), strings.Join(text, " ")
		rank := 5
		switch {
		case !all(5, true):
			rank = 0
		case !all(4, true):
			rank = 7
		case !all(1, true):
			rank = 6
		case name == text:
			rank = 1
		case strings.HasPrefix(name, text+" "):
			rank = 2
		case strings.HasPrefix(name, text):
			rank = 3
		case all(1, false):
			rank = 4
		}
		ranks[rank] = append(ranks[rank], s.books[i].ID)
	}
	return slices.Concat(ranks[1:]...)
}

// hasWord reports whether columns have a word, or one that begins with it, or letters
// that follow each other and make it.
func hasWord(columns [][]string, word string, begin bool) bool {
	letters := utf8.RuneCountInString(word)
	for _, words := range columns {
		for i, w := range words {
			initials := letters >= 2 && letters <= 3 && !hasDigit(word) && i+letters <= len(words) && strings.Join(words[i:i+letters], "") == word
			if w == word || initials || begin && strings.HasPrefix(w, word) {
				return true
			}
		}
	}
	return false
}

// hasJoined reports whether columns have words joined by a sign that are a word, or begin with it.
func hasJoined(columns [][]string, word string, begin bool) bool {
	return slices.ContainsFunc(slices.Concat(columns...), func(w string) bool { return w == word || begin && strings.HasPrefix(w, word) })
}

// randomSearch returns words of a book, whole or in part, as somebody types them, or
// letters.
func (s ruleShelf) randomSearch(random *rand.Rand) string {
	pick := func(words []string) string { return words[random.IntN(len(words))] }
	i := random.IntN(len(s.books))
	if random.IntN(4) == 0 {
		i = len(s.books) - 1 - random.IntN(14) // the odd ones
	}
	words := [3][]string{s.words[i][0], slices.Concat(s.words[i][1:4]...), s.words[i][4]}
	switch random.IntN(9) {
	case 0:
		return s.books[i].Name
	case 1:
		text := strings.Fields(s.books[i].Name + " " + s.books[i].Author)
		from := random.IntN(len(text))
		return strings.ToUpper(strings.Join(text[from:min(len(text), from+1+random.IntN(3))], " "))
	case 2: // two or three letters
		var b strings.Builder
		for range 2 + random.IntN(2) {
			letters := []rune(pick(s.vocabulary))
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		return b.String()
	case 3: // initials
		var b strings.Builder
		for _, word := range words[1] {
			r, _ := utf8.DecodeRuneInString(word)
			b.WriteRune(r)
		}
		letters := []rune(b.String())
		return string(letters[:min(len(letters), 2+random.IntN(2))]) + " " + pick(words[1])
	case 4:
		if all := slices.Concat(s.joined[i][:]...); len(all) > 0 {
			return pick(all)
		}
	case 5:
		word := pick(words[random.IntN(2)]) + "'s"
		return strings.Join([]string{word, norm.NFD.String(pick(words[0]))}[:1+random.IntN(2)], ", ")
	}
	var typed []string
	for range 1 + random.IntN(3) {
		word := []rune(pick(words[min(2, random.IntN(4))]))
		switch random.IntN(4) {
		case 0:
			word = word[:1+random.IntN(len(word))]
		case 1, 2:
			for range 1 + random.IntN(1+len(word)/6) {
				word = mistype(random, word)
			}
		}
		typed = append(typed, string(word))
	}
	return strings.Join(typed, " ")
}

func mistype(random *rand.Rand, word []rune) []rune {
	i, letter := random.IntN(len(word)), 'a'+rune(random.IntN(26))
	switch word = slices.Clone(word); random.IntN(4) {
	case 0:
		return slices.Insert(word, i, letter)
	case 1:
		return slices.Delete(word, i, i+min(1, len(word)-1))
	case 2:
		word[i] = letter
	default:
		if i > 0 && unicode.IsLetter(word[i]) {
			word[i-1], word[i] = word[i], word[i-1]
		}
	}
	return word
}
