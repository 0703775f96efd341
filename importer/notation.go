package importer

import (
	"regexp"

	"library-catalogue/importer/source"
)

// notation is the kind of text that a field has in a file. It decides which signs and further values are not stored.
type notation int

const (
	asWritten   notation = iota
	own                  // text of our own export, which does not change
	card                 // text of a library's catalogue, with its signs at the end
	imprint              // a publisher with its place and year
	persons              // names of persons in a library's catalogue
	marcPersons          // names of persons in MARC
	genres               // one or several genres in a library's catalogue
	headings             // genres in MARC, which have commas of their own
	tags                 // genres of citations, without signs
	keywords             // genres of RIS, one a line: without signs, and with commas of their own
)

// isCard reports whether texts have the signs of a library's catalogue at their ends.
func (n notation) isCard() bool { return n == card || n == persons || n == genres || n == headings }

// isPersons reports whether texts are names of persons.
func (n notation) isPersons() bool { return n == persons || n == marcPersons }

// isTags reports whether a text may have several genres.
func (n notation) isTags() bool { return n >= genres }

// isHeading reports whether genres have commas of their own.
func (n notation) isHeading() bool { return n == headings || n == keywords }

// notationOf returns the notation of a field. isExport is true for the columns of our exports, which library formats have too.
func (f *File) notationOf(field string, isExport bool) notation {
	column, isGenre, isRIS := f.columnOf(field), field == genre || field == category, f.format.Name == source.RIS
	isTag := marcTag.MatchString(column)
	switch {
	case isExport && !(f.hasFixedFields() && (isGenre || field == published)):
		return own
	case isGenre && isExport && isRIS:
		return keywords
	case isGenre && isExport && !f.isMARC():
		return tags
	case isGenre && (isTag || isRIS || f.isMARC()):
		return headings
	case isGenre:
		return genres
	case field == "publisher" && foldName(column) == "publication": // LibraryThing
		return imprint
	case field == column: // plain lists by our names
		return asWritten
	case field == author && isTag:
		return marcPersons
	case field == author:
		return persons
	case field == "name", field == "publisher":
		return card
	}
	return asWritten
}

// marcTag matches the name of a column with a subfield of MARC: 100$a.
var marcTag = regexp.MustCompile(`^\d{3} ?[$_|]?[a-z0-9]$`)
