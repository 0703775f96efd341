// Package archive writes a whole catalogue to an archive, restores it, and copies it between databases.
//
// docs/archive.md describes the format: a tar file (POSIX.1-2001, pax) of JSON Lines, compressed with Zstandard
// (RFC 8878). Equal catalogues have equal archives, byte for byte.
package archive

import (
	"context"
	"fmt"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Format is the version of the format that Write writes, and the newest that Restore reads.
const Format = 1

const (
	formatName   = "format.json"   // name of the first member
	manifestName = "manifest.json" // name of the last member
	kind         = "library-catalogue"

	partSize  = 1 << 20 // bytes after which a member ends with the current row
	maxLine   = 1 << 20 // maximum bytes of a row; the longest valid row has 140,000
	maxWindow = 8 << 20 // memory for decompression
	maxEnd    = 1 << 20 // maximum zeros of tar programs after the last member
	batchRows = 500     // rows read or stored at a time
)

// header is the first member.
type header struct {
	Archive string              `json:"archive"` // kind
	Format  int                 `json:"format"`
	Fields  map[string][]string `json:"fields"` // by table, in order
}

// Manifest is the last member: the content of the archive by table.
type Manifest map[string]Content

// Content summarises the rows of a table.
type Content struct {
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"` // hash of all lines, in hexadecimal
}

// compare returns an error with the first table that differs.
func (m Manifest) compare(found Manifest) error {
	for _, t := range tables {
		want, got := m[t.name()], found[t.name()]
		switch {
		case got.Rows != want.Rows:
			return fmt.Errorf("%d %s, expected %d", got.Rows, t.name(), want.Rows)
		case got.SHA256 != want.SHA256:
			return fmt.Errorf("%s with SHA-256 %q, expected %.80q", t.name(), got.SHA256, want.SHA256)
		}
	}
	return nil
}

// String returns the numbers of rows.
func (m Manifest) String() string {
	return fmt.Sprintf("%d categories, %d genres, %d books", m["categories"].Rows, m["genres"].Rows, m["books"].Rows)
}

// table archives the rows of one type.
type table interface {
	name() string
	// keys returns the keys of all fields.
	keys() []string
	// each calls fn with the line of each row of the catalogue, in order of id. The line is
	// valid until fn returns.
	each(ctx context.Context, snapshot *db.Snapshot, keys []string, fn func(line []byte) error) error
	// copy stores the rows that the target lacks, and returns the content of the snapshot.
	copy(ctx context.Context, snapshot *db.Snapshot, c *copier) (Content, error)
	// restorer returns a restorer of rows with these fields. A nil store stores nothing.
	restorer(store *db.Store, keys []string) (restorer, error)
}

// restorer restores rows one by one.
type restorer interface {
	add(ctx context.Context, line []byte) error
	flush(ctx context.Context) error // stores what was added
}

// tables are the tables of an archive, in order: rows follow the rows that they reference.
var tables = []table{
	tableOf[model.Category]{"categories", model.CategoryFields, (*model.Category).RowID,
		func(s *db.Snapshot) db.Reader[model.Category] { return s.Categories },
		func(s *db.Store) db.Writer[model.Category] { return s.Categories }},
	tableOf[model.Genre]{"genres", model.GenreFields, (*model.Genre).RowID,
		func(s *db.Snapshot) db.Reader[model.Genre] { return s.Genres },
		func(s *db.Store) db.Writer[model.Genre] { return s.Genres }},
	tableOf[model.Book]{"books", model.BookFields, (*model.Book).RowID,
		func(s *db.Snapshot) db.Reader[model.Book] { return s.Books },
		func(s *db.Store) db.Writer[model.Book] { return s.Books }},
}

// newHeader returns the header of an archive with all fields.
func newHeader() header {
	h := header{Archive: kind, Format: Format, Fields: map[string][]string{}}
	for _, t := range tables {
		h.Fields[t.name()] = t.keys()
	}
	return h
}
