package marc

import (
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// Namespace is the namespace of MARCXML.
const Namespace = "http://www.loc.gov/MARC21/slim"

// ContentType is the media type of MARCXML (RFC 6207).
const ContentType = "application/marcxml+xml"

// Start and end of a collection of records in MARCXML.
const (
	CollectionStart = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<collection xmlns="` + Namespace + `">` + "\n"
	CollectionEnd   = "</collection>\n"
)

// AppendBook appends the record of a book as AppendXML does.
func AppendBook(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	return AppendXML(dst, FromBook(b, g, c))
}

// AppendXML appends a record as an element of MARCXML, which declares its namespace.
func AppendXML(dst []byte, r Record) []byte {
	dst = append(dst, `<record xmlns="`+Namespace+"\">\n  <leader>"...)
	dst = append(appendText(dst, r.Leader), "</leader>\n"...)
	for _, f := range r.Control {
		dst = append(appendText(append(dst, `  <controlfield tag="`...), f.Tag), `">`...)
		dst = append(appendText(dst, f.Text), "</controlfield>\n"...)
	}
	for _, f := range r.Data {
		dst = append(appendText(append(dst, `  <datafield tag="`...), f.Tag), `" ind1="`...)
		dst = append(appendText(dst, string(f.Indicators[:1])), `" ind2="`...)
		dst = append(appendText(dst, string(f.Indicators[1:])), "\">\n"...)
		for _, s := range f.Subfields {
			dst = append(appendText(append(dst, `    <subfield code="`...), string([]byte{s.Code})), `">`...)
			dst = append(appendText(dst, s.Text), "</subfield>\n"...)
		}
		dst = append(dst, "  </datafield>\n"...)
	}
	return append(dst, "</record>\n"...)
}

// appendText appends a text of XML. It drops characters that XML 1.0 does not have (section 2.2), and broken UTF-8.
func appendText(dst []byte, text string) []byte {
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '"':
			dst = append(dst, "&quot;"...)
		case r == '\n':
			dst = append(dst, "&#10;"...)
		case r == '\r':
			dst = append(dst, "&#13;"...)
		case r == '\t':
			dst = append(dst, "&#9;"...)
		case r < ' ', r == 0xFFFE, r == 0xFFFF:
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
