package sru

import (
	"bytes"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/marc"
)

// schema is a format of records.
type schema struct {
	name, title, identifier string
	write                   func(*writer, *book)
}

// schemas are the formats, the default first.
var schemas = []schema{
	{"marcxml", "MARCXML", "info:srw/schema/1/marcxml-v1.1", writeMARC},
	{"dc", "Dublin Core", "info:srw/schema/1/dc-v1.1", writeDC},
}

// schemaOf returns the format with a name or an identifier.
func schemaOf(name string) (schema, error) {
	for _, s := range schemas {
		if name == "" || name == s.name || name == s.identifier {
			return s, nil
		}
	}
	return schema{}, diagnosticError{unknownSchema, name}
}

// writer writes XML.
type writer struct{ bytes.Buffer }

// element writes an element with a text.
func (w *writer) element(name, text string) {
	w.WriteString("<" + name + ">")
	w.text(text)
	name, _, _ = strings.Cut(name, " ")
	w.WriteString("</" + name + ">")
}

// text escapes a text. Characters that XML 1.0 does not have become U+FFFD.
func (w *writer) text(text string) { _ = xml.EscapeText(w, []byte(text)) } // to memory

// begin begins a document with a response.
func begin(response string) *writer {
	w := &writer{}
	w.WriteString(xml.Header + `<zs:` + response + ` xmlns:zs="http://www.loc.gov/zing/srw/">` + "\n<zs:version>1.2</zs:version>\n")
	return w
}

// end ends the document.
func (w *writer) end(response string) []byte {
	w.WriteString("</zs:" + response + ">\n")
	return w.Bytes()
}

// searchResponse returns the response to a search with a page of its total records, from number start on.
func searchResponse(request url.Values, s schema, packing string, start, total int, page []book) []byte {
	w := begin("searchRetrieveResponse")
	w.element("zs:numberOfRecords", strconv.Itoa(total))
	if len(page) > 0 {
		w.WriteString("\n<zs:records>\n")
		for i := range page {
			w.record(s.identifier, packing, func(w *writer) { s.write(w, &page[i]) }, start+i)
		}
		w.WriteString("</zs:records>")
		if next := start + len(page); next <= total {
			w.element("zs:nextRecordPosition", strconv.Itoa(next))
		}
	}
	w.WriteString("\n<zs:echoedSearchRetrieveRequest>")
	for _, name := range parameters[1:] {
		if request.Has(name) {
			w.element("zs:"+name, request.Get(name))
		}
	}
	w.WriteString("</zs:echoedSearchRetrieveRequest>\n")
	return w.end("searchRetrieveResponse")
}

// record writes a record. Position 0 is none.
func (w *writer) record(identifier, packing string, write func(*writer), position int) {
	w.WriteString("<zs:record>")
	w.element("zs:recordSchema", identifier)
	w.element("zs:recordPacking", packing)
	data := &writer{}
	write(data)
	w.WriteString("<zs:recordData>")
	if packing == "string" {
		w.text(data.String())
	} else {
		_, _ = w.Write(data.Bytes())
	}
	w.WriteString("</zs:recordData>")
	if position > 0 {
		w.element("zs:recordPosition", strconv.Itoa(position))
	}
	w.WriteString("</zs:record>\n")
}

func writeMARC(w *writer, b *book) {
	_, _ = w.Write(marc.AppendBook(nil, &b.Book, &b.genre, &b.category)) // to memory
}

// writeDC writes simple Dublin Core in the schema of SRU.
func writeDC(w *writer, b *book) {
	w.WriteString(`<srw_dc:dc xmlns:srw_dc="info:srw/schema/1/dc-schema" xmlns:dc="http://purl.org/dc/elements/1.1/">`)
	w.element("dc:title", b.Name)
	for _, name := range author.Parse(b.Author) {
		w.element("dc:creator", name.Inverted())
	}
	w.element("dc:subject", b.genre.Name)
	w.element("dc:subject", b.category.Name)
	date := b.PublishedAt.String()
	if b.PublishedAt.IsYear() {
		date = date[:4]
	}
	for _, e := range []struct {
		name string
		text *string
	}{{"dc:description", b.Description}, {"dc:publisher", b.Publisher}, {"dc:language", b.Language}, {"dc:date", &date}} {
		if e.text != nil {
			w.element(e.name, *e.text)
		}
	}
	w.element("dc:type", "Text")
	w.element("dc:format", strconv.Itoa(b.Pages)+" pages")
	if b.ISBN != nil {
		w.element("dc:identifier", "urn:isbn:"+*b.ISBN)
	}
	w.WriteString("</srw_dc:dc>")
}

// Refuse writes the response to a request that another part of the server refuses.
func Refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, body := failure(w, r.URL.Query().Get("operation"), err)
	respond(w, status, body)
}

func respond(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	envelope.WriteBody(w, status, body)
}

// failure returns the response to a request that failed, with the status of a server that is not at fault unless it is.
func failure(w http.ResponseWriter, operation string, err error) (int, []byte) {
	d, ok := errors.AsType[diagnosticError](err)
	status := http.StatusOK
	if !ok {
		e := model.AsError(err)
		d = diagnosticError{generalError, e.Message}
		switch status = envelope.StatusOf(err); e.Code {
		case model.BadUserInput:
			d.code, status = badSyntax, http.StatusOK
		case model.CostLimitExceeded, model.DepthLimitExceeded:
			d.code, status = tooManyBooleans, http.StatusOK
		case model.Unavailable:
			d.code = temporarilyUnavailable
			w.Header().Set("Retry-After", "1")
		case model.RateLimited: // the limiter has set Retry-After
			d.code = temporarilyUnavailable
		}
	}
	response := "searchRetrieveResponse"
	if operation == "explain" {
		response = "explainResponse"
	}
	x := begin(response)
	if response == "searchRetrieveResponse" {
		x.element("zs:numberOfRecords", "0")
	}
	x.WriteString(`<zs:diagnostics><diag:diagnostic xmlns:diag="http://www.loc.gov/zing/srw/diagnostic/">`)
	x.element("diag:uri", "info:srw/diagnostic/1/"+strconv.Itoa(int(d.code)))
	x.element("diag:details", d.details)
	x.element("diag:message", messages[d.code])
	x.WriteString("</diag:diagnostic></zs:diagnostics>\n")
	return status, x.end(response)
}
