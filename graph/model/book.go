package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model/isbn"
	"library-catalogue/graph/model/lang"
)

// Book is a book.
type Book struct {
	Ordered
	ID           ID
	Version      int64 // counts changes, from 1
	Name         string
	Description  *string
	Pages        int
	PublishedAt  Date
	Author       string
	ISBN         *string // 13 digits
	Publisher    *string
	Language     *string // BCP 47
	ShelfMark    *string
	Subtitle     *string
	Series       *string
	SeriesNumber *string // a text: 1.5, IV
	Price        Cents
	GenreID      ID
	CreatedAt    Timestamp
	UpdatedAt    Timestamp
}

var bookDefinitions = define[Book, CreateBookInput, BookPatch](
	stored(FieldInfo{Name: "id", Use: neverInFile}, idCodec, func(b *Book) *ID { return &b.ID }),
	stored(FieldInfo{Name: "version", Use: OnDemand}, versionCodec, func(b *Book) *int64 { return &b.Version }),
	required(FieldInfo{
		Name: "name", Max: maxText, Use: everywhere,
		Spellings: strings.Fields(`
			title booktitle bookname book maintitle 245a 200a
		`),
	}, textCodec, func(b *Book) *string { return &b.Name }),
	optional(FieldInfo{
		Name: "description", Max: maxDescription, Use: Filterable | InREST | InFile | OnDemand,
		Spellings: strings.Fields(`
			summary synopsis blurb abstract abstractnote overview about comments 520a 330a
		`),
	}, textCodec, func(b *Book) **string { return &b.Description }),
	required(FieldInfo{
		Name: "pages", Min: 1, Max: 1_000_000, Use: everywhere,
		Spellings: strings.Fields(`
			numpages numberofpages noofpages pagecount pagescount numberofpagesmedian pagination extent 300a 215a
			physicaldescription
			umfang
		`),
	}, intCodec, func(b *Book) *int { return &b.Pages }),
	required(FieldInfo{
		Name: "publishedAt", Label: "Published", Use: everywhere,
		Spellings: strings.Fields(`
			publicationdate publisheddate publishdate datepublished dateofpublication pubdate releasedate
			published originalpublicationdate originalpublicationyear publicationyear yearofpublication
			yearpublished publishedyear firstpublishyear firstpublished dateofpublicationdistributionetc
			260c 264c 210d 214d issued year date copyrightdate copyrightyear
		`), Fallbacks: []string{"data"},
	}, dateCodec, func(b *Book) *Date { return &b.PublishedAt }),
	required(FieldInfo{
		Name: "author", Max: maxText, Use: everywhere, OrderAfter: "name",
		Spellings: strings.Fields(`
			authors authorname authornames primaryauthor mainauthor writer writers creator creators personalname
			mainentrypersonalname 100a 700a statementofresponsibility bystatement authorsort contributions
		`),
	}, textCodec, func(b *Book) *string { return &b.Author }),
	optional(FieldInfo{
		Name: "isbn", Label: "ISBN", Max: 40, Use: onShelf,
		Syntax:    &Syntax{"ISBN", "The %s field must be a valid ISBN.", isbn.Parse},
		Spellings: strings.Fields(`isbn13 isbn10 020a 010a internationalstandardbooknumber`),
	}, textCodec, func(b *Book) **string { return &b.ISBN }),
	optional(FieldInfo{
		Name: "publisher", Max: maxText, Use: onShelf,
		Spellings: strings.Fields(`publishername publishinghouse imprint 260b 264b 210c publication`),
	}, textCodec, func(b *Book) **string { return &b.Publisher }),
	optional(FieldInfo{
		Name: "language", Max: lang.MaxLength, Use: onShelf,
		Syntax:    &Syntax{"language", "The %s field must be a valid language.", lang.Parse},
		Spellings: strings.Fields(`languages lang languagecode 041a 101a`),
	}, textCodec, func(b *Book) **string { return &b.Language }),
	optional(FieldInfo{
		Name: "shelfMark", Label: "Shelf mark", Max: 200, Use: onShelf, Natural: true,
		Spellings: strings.Fields(
			`callnumber shelfmarks shelf shelvinglocation itemcallnumber lccallnumber plaatskenmerk 852h 050a 952o`),
	}, textCodec, func(b *Book) **string { return &b.ShelfMark }),
	optional(FieldInfo{
		Name: "subtitle", Max: maxText, Use: onShelf &^ Orderable,
		Spellings: strings.Fields(`
			booksubtitle untertitel soustitre subtitulo sottotitolo ondertitel undertitel remainderoftitle 245b 200e
		`),
	}, textCodec, func(b *Book) **string { return &b.Subtitle }),
	optional(FieldInfo{
		Name: "series", Max: maxText, Use: onShelf,
		Spellings: strings.Fields(`
			seriesname seriestitle bookseries seriesstatement serie reihe reihentitel coleccion collana reeks
			collectiontitle 490a 830a 225a
		`),
	}, textCodec, func(b *Book) **string { return &b.Series }),
	optional(FieldInfo{
		Name: "seriesNumber", Label: "Number in the series", Max: 50, Use: onShelf, Natural: true,
		Spellings: strings.Fields(`
			numberintheseries seriesno seriesindex collectionnumber seriesposition seriesvolume volumeinseries
			bandderreihe bandnummer numeroenlacoleccion numerodanslacollection numeronellacollana deelnummer
			490v 830v 225v
		`),
	}, textCodec, func(b *Book) **string { return &b.SeriesNumber }),
	required(FieldInfo{
		Name: "price", Column: "price_cents", Max: int64(MaxPrice), Use: everywhere,
		Spellings: strings.Fields(`
			listprice coverprice retailprice unitprice cost replacementprice 020c 365b
		`), Fallbacks: strings.Fields(`purchaseprice pricepaid kaufpreis`),
	}, centsCodec, func(b *Book) *Cents { return &b.Price }),
	required(FieldInfo{Name: "genreId", Use: Filterable | InREST}, idCodec, func(b *Book) *ID { return &b.GenreID }),
	stored(FieldInfo{Name: "createdAt", Use: neverInFile | OnDemand}, timestampCodec, func(b *Book) *Timestamp {
		return &b.CreatedAt
	}),
	stored(FieldInfo{Name: "updatedAt", Use: neverInFile | OnDemand}, timestampCodec, func(b *Book) *Timestamp {
		return &b.UpdatedAt
	}),
)

// onShelf is the use of the optional fields of libraries.
const onShelf = Filterable | Orderable | InFile | OnInclude | OnDemand

// BookFields are the fields of a book.
var BookFields = bookDefinitions.fields()

// RowID returns the book's number.
func (b *Book) RowID() ID { return b.ID }

// NodeID returns the book's global id.
func (b *Book) NodeID() string { return NodeID("Book", b.ID) }

// Form returns the book's values in a file by key, without genre and category.
func (b *Book) Form() Form {
	form := Form{}
	for _, f := range BookFields {
		if f.Is(InFile) {
			form[f.Key] = Text(f.Text(b))
		}
	}
	return form
}

// CreateBookInput is a new book. GenreID or Genre gives its genre. Problems are the errors from
// reading the input; Validate returns them with its own.
type CreateBookInput struct {
	Name             string
	Description      graphql.Omittable[*string]
	Pages            int
	PublishedAt      Date
	Author           string
	ISBN             graphql.Omittable[*string]
	Publisher        graphql.Omittable[*string]
	Language         graphql.Omittable[*string]
	ShelfMark        graphql.Omittable[*string]
	Subtitle         graphql.Omittable[*string]
	Series           graphql.Omittable[*string]
	SeriesNumber     graphql.Omittable[*string]
	Price            Cents
	GenreID          ID // 0 if absent
	Genre            *CreateBookGenreInput
	ClientMutationID *string
	Problems         FieldErrors
}

// CreateBook returns the input of a new book.
func (f Form) CreateBook() (in CreateBookInput) {
	in.Problems = bookDefinitions.readInput(f, &in)
	return in
}

// Validate trims the texts and returns the errors of the fields.
func (in *CreateBookInput) Validate() FieldErrors {
	f := bookDefinitions.checkInput(in, in.Problems)
	parent(&f, "genre", in.GenreID, in.Genre)
	return f
}

// ExistingGenre returns the id of the existing genre and the field that names it, or "" for a new
// genre.
func (in *CreateBookInput) ExistingGenre() (field string, id ID) {
	return existing("genre", in.GenreID, in.Genre)
}

// Row returns the book to store. GenreID is 0 for a new genre.
func (in *CreateBookInput) Row() *Book {
	book := in.Fill(new(Book))
	_, book.GenreID = in.ExistingGenre()
	return book
}

// Fill sets the fields of b from the input, but not those with the keys in except, and returns b. Absent optional
// fields keep their values.
func (in *CreateBookInput) Fill(b *Book, except ...string) *Book {
	return bookDefinitions.fill(b, in, except...)
}

// SameContent reports whether two books are equal in all writable fields.
func (b *Book) SameContent(other *Book) bool {
	return !slices.ContainsFunc(BookFields, func(f RowField[Book]) bool { return f.Writable && !f.Equal(b, other) })
}

// BookPatch holds new values of a book. Fields that are not set keep their values. For Problems see
// CreateBookInput.
type BookPatch struct {
	Name         graphql.Omittable[*string]
	Description  graphql.Omittable[*string]
	Pages        graphql.Omittable[*int]
	PublishedAt  graphql.Omittable[*Date]
	Author       graphql.Omittable[*string]
	ISBN         graphql.Omittable[*string]
	Publisher    graphql.Omittable[*string]
	Language     graphql.Omittable[*string]
	ShelfMark    graphql.Omittable[*string]
	Subtitle     graphql.Omittable[*string]
	Series       graphql.Omittable[*string]
	SeriesNumber graphql.Omittable[*string]
	Price        graphql.Omittable[*Cents]
	GenreID      graphql.Omittable[*ID]
	Problems     FieldErrors
}

// ReplaceBook returns the patch of a PUT. Required fields must be present; absent fields that are
// optional or KeptByPUT keep their values.
func (f Form) ReplaceBook() *BookPatch {
	p := new(BookPatch)
	p.Problems = bookDefinitions.readPatch(f, p)
	return p
}

// Validate trims the texts and returns the errors of the set fields.
func (p *BookPatch) Validate() FieldErrors { return bookDefinitions.checkPatch(p, p.Problems) }

// KeepName removes the new name from the patch.
func (p *BookPatch) KeepName() { p.Name = graphql.Omittable[*string]{} }

// Changes returns the columns of the patch's new values.
func (p *BookPatch) Changes() Changes { return bookDefinitions.changes(p) }

// UpsertBookInput is the book with the ID, or else the book with the same Key, or a new book.
// Absent optional fields keep their values.
type UpsertBookInput struct {
	ID *ID
	CreateBookInput
	ExpectedVersion *int64
}

// Patch returns the valid new values for an existing book.
func (in *UpsertBookInput) Patch() *BookPatch { return bookDefinitions.patch(&in.CreateBookInput) }

// The inputs and results of writes of a book.
type (
	CreateBookGenreInput = ParentInput[CreateGenreInput]
	UpdateBookInput      = UpdateInput[BookPatch]
	DeleteBookInput      = DeleteInput

	CreateBookPayload = Payload[Book]
	UpdateBookPayload = Payload[Book]
	UpsertBookPayload = Payload[Book]
	DeleteBookPayload = DeletePayload
)

// Lookup has what sources say about an ISBN.
type Lookup struct {
	ISBN    string          `json:"-"` // 13 digits
	Books   []*FoundBook    `json:"books"`
	Sources []*LookupSource `json:"sources"`
}

// Problem says why there is no book.
func (l *Lookup) Problem() string {
	var problems []string
	for _, s := range l.Sources {
		if s.Message != nil {
			problems = append(problems, s.Name+": "+*s.Message)
		}
	}
	return cmp.Or(strings.Join(problems, " "), "No source has the book.")
}

// FoundBook is the book of a source. A value that its record lacks, or that cannot be read, is nil.
type FoundBook struct {
	Form         Form    `json:"-"` // the values in the catalogue's notation
	Source       string  `json:"source"`
	ISBN         string  `json:"isbn"` // 13 digits
	Name         *string `json:"name"`
	Author       *string `json:"author"`
	PublishedAt  *Date   `json:"published_at"`
	Pages        *int    `json:"pages"`
	Publisher    *string `json:"publisher"`
	Language     *string `json:"language"` // BCP 47
	Description  *string `json:"description"`
	Price        *Cents  `json:"price"`
	Genre        *string `json:"genre"`    // name
	Category     *string `json:"category"` // name
	Subtitle     *string `json:"subtitle"`
	Series       *string `json:"series"`
	SeriesNumber *string `json:"series_number"`
}

// LookupSource says how a source responded.
type LookupSource struct {
	Name    string       `json:"name"`
	Status  LookupStatus `json:"status"`
	Message *string      `json:"message"` // the cause of the last three statuses
}

// LookupStatus is the result of a source.
type LookupStatus string

// The statuses.
const (
	LookupFound       LookupStatus = "FOUND"
	LookupUnknown     LookupStatus = "UNKNOWN"     // the source has no such book
	LookupUnreachable LookupStatus = "UNREACHABLE" // it gave no usable response
	LookupRefused     LookupStatus = "REFUSED"     // it refused the query or its sender
	LookupSkipped     LookupStatus = "SKIPPED"     // it was not asked
)
