package lookup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/marc"
	"library-catalogue/importer/value"
)

// sruResponse is the part of a response around its records (SRU 1.1, searchRetrieve). Names match in any namespace.
type sruResponse struct {
	XMLName     xml.Name     `xml:"searchRetrieveResponse"`
	Number      *int         `xml:"numberOfRecords"`
	Diagnostics []diagnostic `xml:"diagnostics>diagnostic"`
}

type diagnostic struct {
	URI     string `xml:"uri"`
	Message string `xml:"message"`
	Details string `xml:"details"`
}

// firstRecordOutOfRange is the diagnostic by which some servers say that there are no records.
const firstRecordOutOfRange = "info:srw/diagnostic/1/61"

// readSRU reads a response of SRU. Of several records with the ISBN the one with most values counts.
func readSRU(response []byte, isbn string, now time.Time) (*model.FoundBook, error) {
	if err := readEnvelope(response); err != nil {
		return nil, err
	}
	var best *model.FoundBook
	var problem error
	records := marc.NewXMLReader(bytes.NewReader(response))
	for {
		record, err := records.Next()
		if damaged, ok := errors.AsType[*marc.RecordError](err); ok {
			problem = fmt.Errorf("the record is damaged: %w", damaged)
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if record.IsUNIMARC() {
			record = record.FromUNIMARC()
		}
		if record.IsDeleted() || !hasISBN(record, isbn) {
			continue
		}
		values := record.Values()
		values["name"], values["subtitle"] = record.SplitTitle()
		if book := bookOf(values, isbn, now); best == nil || len(book.Form) > len(best.Form) {
			best = book
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, problem
}

// readEnvelope checks the response around the records.
func readEnvelope(response []byte) error {
	envelope := sruResponse{}
	decoder := xml.NewDecoder(bytes.NewReader(response))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8
	if err := decoder.Decode(&envelope); err != nil {
		if !bytes.Contains(response, []byte("searchRetrieveResponse")) {
			return errors.New("the response is not of SRU")
		}
		return errors.New("the XML of the response is broken or cut off")
	}
	for _, d := range envelope.Diagnostics {
		isEmpty := strings.TrimSpace(d.URI) == firstRecordOutOfRange
		if !isEmpty && (envelope.Number == nil || *envelope.Number == 0) {
			return refusal{why: "the source refused the query: " + d.text()}
		}
	}
	return nil
}

// maxDiagnostic is the maximum number of characters of a diagnostic that is shown.
const maxDiagnostic = 200

// text returns a diagnostic in one line.
func (d diagnostic) text() string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(d.Message+" "+d.Details, "")), " ")
	if text == "" {
		text = strings.TrimSpace(d.URI)
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), maxDiagnostic)])
}

// hasISBN reports whether a record has an ISBN. Some servers respond with records of other numbers.
func hasISBN(r marc.Record, isbn string) bool {
	return slices.ContainsFunc(r.Data, func(f marc.DataField) bool {
		return f.Tag == "020" && slices.ContainsFunc(f.Subfields, func(s marc.Subfield) bool {
			digits, ok := value.ParseISBN(s.Text)
			return s.Code == 'a' && ok && digits == isbn
		})
	})
}
