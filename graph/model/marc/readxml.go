package marc

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxDepth = 20      // nested elements
	maxXML   = 1 << 20 // bytes per token
)

var errLongXML = errors.New("the XML has a text or a tag longer than 1 MiB")

// XMLReader reads records of MARCXML: all elements "record" of its namespace or without one, at any depth, as in
// responses of OAI-PMH and SRU.
type XMLReader struct {
	in    *xml.Decoder
	left  int // bytes that may be read before the next token
	depth int
}

// NewXMLReader returns an XMLReader of a text in UTF-8, whatever its declaration says.
func NewXMLReader(in io.Reader) *XMLReader {
	r := &XMLReader{left: maxXML}
	r.in = xml.NewDecoder(readerFunc(func(p []byte) (int, error) {
		if r.left <= 0 {
			return 0, errLongXML
		}
		n, err := in.Read(p)
		r.left -= n
		return n, err
	}))
	r.in.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return r
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// IsXML reports whether a text begins as MARCXML does.
func IsXML(start []byte) bool {
	return bytes.HasPrefix(start, []byte("<")) &&
		(bytes.Contains(start, []byte(Namespace)) || bytes.Contains(start, []byte("leader>")))
}

// token returns the next token. It refuses a DTD and elements that are nested too deep.
func (r *XMLReader) token() (xml.Token, error) {
	r.left = maxXML
	token, err := r.in.Token()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, errLongXML) {
			return nil, err
		}
		line, _ := r.in.InputPos()
		return nil, fmt.Errorf("the XML is broken in line %d: %w", line, err)
	}
	switch token.(type) {
	case xml.Directive:
		return nil, errors.New("the XML has a document type (DTD), which is not read: remove it")
	case xml.StartElement:
		if r.depth++; r.depth > maxDepth {
			return nil, fmt.Errorf("the XML has elements nested deeper than %d", maxDepth)
		}
	case xml.EndElement:
		r.depth--
	}
	return token, nil
}

// Next returns the next record, or io.EOF. The error of a record that is not valid is a *RecordError.
func (r *XMLReader) Next() (Record, error) {
	for {
		token, err := r.token()
		if err != nil {
			return Record{}, err
		}
		if start, ok := token.(xml.StartElement); ok && isMARC(start, "record") {
			return r.record()
		}
	}
}

// isMARC reports whether an element has a name of MARCXML. The prefix marc may be undeclared.
func isMARC(e xml.StartElement, name string) bool {
	return e.Name.Local == name && (e.Name.Space == Namespace || e.Name.Space == "" || e.Name.Space == "marc")
}

// record reads the rest of a record, to its end also if it is not valid.
func (r *XMLReader) record() (record Record, err error) {
	end := r.depth - 1
	var problem error
	var text []byte // text of the innermost element
	total := 0      // bytes of all texts
	var open []xml.StartElement
	for r.depth > end {
		token, err := r.token()
		if err != nil {
			return record, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			text = text[:0]
			if open = append(open, token.Copy()); problem == nil {
				problem = record.start(open)
			}
		case xml.CharData:
			total += len(bytes.TrimSpace(token))
			switch {
			case problem != nil:
			case total > maxRecord:
				problem = damaged("the record is longer than %d bytes", maxRecord)
			default:
				text = append(text, token...)
			}
		case xml.EndElement:
			if problem == nil && len(open) > 0 {
				record.end(open, string(text))
			}
			text, open = text[:0], open[:max(len(open)-1, 0)]
		}
	}
	return record, problem
}

// start adds the field of the last of the open elements. Its text follows.
func (r *Record) start(open []xml.StartElement) error {
	e := open[len(open)-1]
	switch depth := len(open); {
	case depth == 1 && isMARC(e, "leader"):
		return nil
	case depth == 1 && (isMARC(e, "controlfield") || isMARC(e, "datafield")):
		tag := attribute(e, "tag")
		if len(tag) != 3 || !isASCII(tag) {
			return damaged("a %s has the tag %.20q", e.Name.Local, tag)
		}
		if e.Name.Local == "datafield" {
			f := DataField{Tag: tag, Indicators: [2]byte{' ', ' '}}
			for i, name := range []string{"ind1", "ind2"} {
				switch value := attribute(e, name); {
				case len(value) == 1 && isASCII(value):
					f.Indicators[i] = value[0]
				case value != "":
					return damaged("field %s has the %s %.20q", tag, name, value)
				}
			}
			r.Data = append(r.Data, f)
		}
		return nil
	case depth == 2 && isMARC(e, "subfield") && isMARC(open[0], "datafield"):
		if code := attribute(e, "code"); len(code) != 1 || !isASCII(code) {
			return damaged("field %s has a subfield with the code %.20q", attribute(open[0], "tag"), code)
		}
		return nil
	}
	return damaged("the record has an element %.20q, which is not of MARCXML", e.Name.Local)
}

// end adds the text of the last of the open elements.
func (r *Record) end(open []xml.StartElement, text string) {
	switch e := open[len(open)-1]; e.Name.Local {
	case "leader":
		r.Leader = text
	case "controlfield":
		r.Control = append(r.Control, ControlField{attribute(e, "tag"), text})
	case "subfield":
		last := &r.Data[len(r.Data)-1]
		last.Subfields = append(last.Subfields, subfield(attribute(e, "code")[0], text))
	}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
