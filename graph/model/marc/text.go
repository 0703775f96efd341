package marc

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model/textline"
)

// TextReader reads records of MARCMaker text (.mrk), as MarcEdit writes it: a field a line, and an empty line after
// each record.
//
//	=LDR  00000nam a2200000 i 4500
//	=008  260102s1957\\\\xx\ …
//	=245  14$aThe red river /$cAnn One.
type TextReader struct{ in *textline.Reader }

// NewTextReader returns a TextReader of a text in UTF-8.
func NewTextReader(in io.Reader) *TextReader { return &TextReader{textline.NewReader(in)} }

// textField matches a line of a field.
var textField = regexp.MustCompile(`^=([0-9A-Za-z]{3})  (.*)$`)

// IsText reports whether a text begins with a record of MARCMaker text.
func IsText(start []byte) bool {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	found := textField.FindSubmatch(bytes.TrimRight(line, "\r"))
	return found != nil && (string(found[1]) == "LDR" || string(found[1]) == "000")
}

// Next returns the next record, or io.EOF. The error of a damaged record is a *RecordError.
func (r *TextReader) Next() (record Record, err error) {
	var problem error
	total, isBegun := 0, false
	for {
		next, err := r.in.Next()
		line := strings.TrimRight(string(next.Content()), " ")
		switch {
		case err != nil && !(isBegun && errors.Is(err, io.EOF)):
			return record, err
		case line == "" && isBegun:
			return record, problem
		case line == "":
			continue
		}
		isBegun = true
		if total += len(line); total > maxRecord {
			problem = damaged("the record is longer than %d bytes", maxRecord)
		}
		if problem == nil {
			problem = record.addLine(line)
		}
	}
}

// addLine adds the field of a line.
func (r *Record) addLine(line string) error {
	found := textField.FindStringSubmatch(line)
	switch {
	case !utf8.ValidString(line):
		return damaged("the line %.20q is not UTF-8", line)
	case found == nil:
		return damaged("the line %.20q is no field: a field begins like =245  10$a", line)
	}
	tag, text := found[1], found[2]
	head, rest, hasSubfields := strings.Cut(text, "$")
	switch isControl := !hasSubfields || strings.HasPrefix(tag, "00"); {
	case tag == "LDR", tag == "000":
		r.Leader = blanks.Replace(text)
	case isControl:
		r.Control = append(r.Control, ControlField{tag, blanks.Replace(text)})
	default:
		if len(head) == 2 {
			head = blanks.Replace(head)
		}
		return r.add(tag, head+"$"+rest, "$", withoutMnemonics)
	}
	return nil
}

// blanks replaces the sign for a blank.
var blanks = strings.NewReplacer(`\`, " ")

// mnemonic matches a name of a character.
var mnemonic = regexp.MustCompile(`^\{[0-9A-Za-z]{2,8}\}`)

// withoutMnemonics replaces the names of characters. A mark follows its letter in Unicode, and precedes it here. Other
// texts in braces stay.
func withoutMnemonics(text string) (string, error) {
	if !strings.Contains(text, "{") {
		return text, nil
	}
	var b strings.Builder
	var marks []string
	rest := text
	for rest != "" {
		name := mnemonic.FindString(rest[:min(len(rest), 10)])
		text, isName := mnemonics[strings.Trim(name, "{}")]
		if !isName {
			_, size := utf8.DecodeRuneInString(rest)
			name, text = rest[:size], rest[:size]
		}
		rest = rest[len(name):]
		mark, isMark := strings.CutPrefix(text, circle)
		if isName && isMark && len(marks) < maxMarks {
			marks = append(marks, mark)
			continue
		}
		b.WriteString(mark)
		b.WriteString(strings.Join(marks, ""))
		marks = marks[:0]
	}
	b.WriteString(strings.Join(marks, ""))
	return norm.NFC.String(b.String()), nil
}
