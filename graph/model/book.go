package model

import (
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model/isbn"
	"library-catalogue/graph/model/lang"
)

// Book is a book.
type Book struct {
	Ordered
	ID          ID
	Version     int64 // counts changes, from 1
	Name        string
	Description *string
	Pages       int
	PublishedAt Date
	Author      string
	ISBN        *string // 13 digits
	Publisher   *string
	Language    *string // BCP 47
	ShelfMark   *string
	Price       Cents
	GenreID     ID
	CreatedAt   Timestamp
	UpdatedAt   Timestamp
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
		Name: "isbn", Label: "ISBN", Max: 40, Use: onShelf, Syntax: &Syntax{"ISBN", isbn.Parse},
		Spellings: strings.Fields(`isbn13 isbn10 020a 010a internationalstandardbooknumber`),
	}, textCodec, func(b *Book) **string { return &b.ISBN }),
	optional(FieldInfo{
		Name: "publisher", Max: maxText, Use: onShelf,
		Spellings: strings.Fields(`publishername publishinghouse imprint 260b 264b 210c publication`),
	}, textCodec, func(b *Book) **string { return &b.Publisher }),
	optional(FieldInfo{
		Name: "language", Max: lang.MaxLength, Use: onShelf, Syntax: &Syntax{"language", lang.Parse},
		Spellings: strings.Fields(`languages lang languagecode 041a 101a`),
	}, textCodec, func(b *Book) **string { return &b.Language }),
	optional(FieldInfo{
		Name: "shelfMark", Label: "Shelf mark", Max: 200, Use: onShelf, Natural: true,
		Spellings: strings.Fields(
			`callnumber shelfmarks shelf shelvinglocation itemcallnumber lccallnumber 852h 050a 952o`),
	}, textCodec, func(b *Book) **string { return &b.ShelfMark }),
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
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	Pages       graphql.Omittable[*int]
	PublishedAt graphql.Omittable[*Date]
	Author      graphql.Omittable[*string]
	ISBN        graphql.Omittable[*string]
	Publisher   graphql.Omittable[*string]
	Language    graphql.Omittable[*string]
	ShelfMark   graphql.Omittable[*string]
	Price       graphql.Omittable[*Cents]
	GenreID     graphql.Omittable[*ID]
	Problems    FieldErrors
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
