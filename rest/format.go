package rest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
	"library-catalogue/graph/model/citation"
)

// format is the format of a list or of a book.
type format struct {
	name           string // value of the parameter format
	contentType    string
	tagSuffix      string // end of the ETag
	suffix         string // end of the file name; empty: no file
	begin          string // text before the rows
	separator, end string // text between and after the rows
	// appender returns a function that appends a book; nil: JSON in the envelope.
	appender func() bookfile.Appender
	books    model.JSONFields[model.Book] // fields in JSON
	// pack returns a writer that makes the file of a list from its text; nil: the text is the file.
	pack func(io.Writer) (io.WriteCloser, error)
}

const csvType = "text/csv; charset=utf-8; header=present"

// csvOf escapes formula-like cells in csv and spreadsheet, because most users open CSV in a spreadsheet.
func csvOf() bookfile.Appender { return bookfile.CSV(true) }

var (
	jsonFormat = &format{name: "json", contentType: "application/json", separator: ",", end: "]}",
		books: model.BookJSON}
	fileFormats = []*format{
		{name: "csv", contentType: csvType, tagSuffix: "-csv", suffix: ".csv", begin: bookfile.Header(false),
			appender: csvOf},
		{name: "spreadsheet", contentType: csvType, tagSuffix: "-spreadsheet", suffix: ".csv",
			begin: bookfile.Header(true), appender: csvOf},
		{
			name: "xlsx", contentType: bookfile.XLSXType, tagSuffix: "-xlsx", suffix: ".xlsx",
			begin: bookfile.SheetBegin(), end: bookfile.SheetEnd,
			appender: func() bookfile.Appender { return bookfile.AppendSheetRow }, pack: bookfile.NewXLSX,
		},
	}
	citationFormats = newCitationFormats()

	// listFormats and itemFormats are the formats of a list of books and of one book, the default first.
	listFormats = slices.Concat([]*format{jsonFormat}, fileFormats, citationFormats)
	itemFormats = slices.Concat([]*format{jsonFormat}, citationFormats)
)

func newCitationFormats() (formats []*format) {
	for _, f := range citation.Formats {
		formats = append(formats, &format{
			name: f.Name, contentType: f.ContentType, tagSuffix: "-" + f.Name, suffix: f.Suffix,
			begin: f.Begin, separator: f.Separator, end: f.End, appender: func() bookfile.Appender { return f.Append },
		})
	}
	return formats
}

// format returns one of the formats, the first by default: from the parameter format, else from Accept.
func (q *query) format(w http.ResponseWriter, r *http.Request, formats []*format) *format {
	w.Header().Add("Vary", "Accept") // also of a live object
	if len(formats) == 0 {
		return jsonFormat
	}
	if !q.has("format") {
		return acceptedFormat(r, formats)
	}
	name := q.one("format")
	var names []string
	for _, f := range formats {
		if f.name == name {
			return f
		}
		names = append(names, f.name)
	}
	last := len(names) - 1
	q.refuse("format", "The %s field must be "+strings.Join(names[:last], ", ")+" or "+names[last]+".")
	return jsonFormat
}

// acceptedFormat returns the format that Accept prefers (RFC 9110, section 12.5.1). The default is JSON.
func acceptedFormat(r *http.Request, formats []*format) *format {
	weights := map[string]float64{}
	for _, p := range httpcond.Preferences(r.Header["Accept"]) {
		weights[p.Name] = p.Weight
	}
	json, named := weights["application/json"]
	if !named {
		json = max(weights["application/*"], weights["*/*"])
	}
	chosen, most := jsonFormat, 0.0
	for _, f := range formats[1:] {
		mediaType, _, _ := strings.Cut(f.contentType, ";")
		weight := weights[mediaType]
		wins := weight > json || !named && weight == json // a named type precedes a wildcard
		if wins && weight > most {
			chosen, most = f, weight
		}
	}
	return chosen
}

// withSuffix replaces the suffix of a path to books by the parameter format. It returns the path without the suffix.
func withSuffix(r *http.Request, path string) (*http.Request, string) {
	if (strings.HasPrefix(path, "api/books.") || strings.HasPrefix(path, "api/books/")) &&
		(r.Method == http.MethodGet || r.Method == http.MethodHead) {
		for _, f := range citationFormats {
			if short, ok := strings.CutSuffix(path, f.suffix); ok {
				changed := *r
				changed.URL = &url.URL{Path: "/" + short,
					RawQuery: strings.TrimPrefix(r.URL.RawQuery+"&format="+f.name, "&")}
				return &changed, short
			}
		}
	}
	return r, path
}

// appendBegin appends the text before the rows of a list.
func (f *format) appendBegin(dst []byte, res *resource) []byte {
	if f.appender != nil {
		return append(dst, f.begin...)
	}
	return append(envelope.AppendSuccess(dst, res.plural+" retrieved successfully"), '[')
}

// packed returns the file of a list with a text.
func (f *format) packed(text []byte) ([]byte, error) {
	if f.pack == nil {
		return text, nil
	}
	var file bytes.Buffer
	err := f.packTo(&file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	return file.Bytes(), err
}

// packTo writes the file of a list. write writes its text.
func (f *format) packTo(dst io.Writer, write func(io.Writer) error) error {
	if f.pack == nil {
		return write(dst)
	}
	w, err := f.pack(dst)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err // without an end that would make the file look complete
	}
	return w.Close()
}

// listTag returns the ETag of a list at a revision.
func (f *format) listTag(revision int64) string {
	return httpcond.SuffixTag(httpcond.RevisionTag(revision), f.tagSuffix)
}

// setHeaders sets Content-Type, and the file name of a file.
func (f *format) setHeaders(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", f.contentType)
	if f.suffix != "" {
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+f.suffix+`"`)
	}
}
