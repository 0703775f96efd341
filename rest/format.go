package rest

import (
	"net/http"

	"library-catalogue/graph/model/bookfile"
	"library-catalogue/server/httpcond"
)

// format is the format of a list.
type format struct {
	contentType    string
	tagSuffix      string // of the ETag
	begin          string // text before the rows; empty: the envelope
	separator, end string // text between and after the rows
}

var (
	jsonFormat        = &format{contentType: "application/json", separator: ",", end: "]}"}
	csvFormat         = &format{contentType: "text/csv; charset=utf-8; header=present", tagSuffix: "-csv", begin: bookfile.Header(false)}
	spreadsheetFormat = &format{contentType: csvFormat.contentType, tagSuffix: "-spreadsheet", begin: bookfile.Header(true)}
)

// formats are the values of the parameter format.
var formats = map[string]*format{"json": jsonFormat, "csv": csvFormat, "spreadsheet": spreadsheetFormat}

// format returns the format of a list: from the parameter format, else from Accept.
func (q *query) format(w http.ResponseWriter, r *http.Request, l *listing) *format {
	if !l.hasCSV {
		return jsonFormat
	}
	w.Header().Add("Vary", "Accept")
	if !q.has("format") {
		return formats[acceptedFormat(r)]
	}
	f := formats[q.one("format")]
	if f == nil {
		q.refuse("format", "The %s field must be json, csv or spreadsheet.")
	}
	return f
}

// acceptedFormat returns json or csv, whichever Accept prefers (RFC 9110, section 12.5.1). The default is json.
func acceptedFormat(r *http.Request) string {
	weights := map[string]float64{}
	for _, p := range httpcond.Preferences(r.Header["Accept"]) {
		weights[p.Name] = p.Weight
	}
	csv := weights["text/csv"]
	json, named := weights["application/json"]
	if named && csv > json || !named && csv > 0 && csv >= max(weights["application/*"], weights["*/*"]) {
		return "csv"
	}
	return "json"
}

// appendBegin appends the text before the rows of a list.
func (f *format) appendBegin(dst []byte, res *resource) []byte {
	if f.begin != "" {
		return append(dst, f.begin...)
	}
	return append(appendSuccess(dst, res.plural+" retrieved successfully"), '[')
}

// listTag returns the ETag of a list at a revision.
func (f *format) listTag(revision int64) string {
	return httpcond.SuffixTag(httpcond.RevisionTag(revision), f.tagSuffix)
}

// setHeaders sets Content-Type, and the file name of a CSV file.
func (f *format) setHeaders(w http.ResponseWriter, res *resource) {
	w.Header().Set("Content-Type", f.contentType)
	if f != jsonFormat {
		w.Header().Set("Content-Disposition", `attachment; filename="`+res.name+`.csv"`)
	}
}
