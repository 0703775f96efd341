package marc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// RecordError is the error of a damaged record. The records after it can be read.
type RecordError struct {
	Reason string // a sentence without a full stop
}

func (e *RecordError) Error() string { return e.Reason }

func damaged(format string, args ...any) error { return &RecordError{fmt.Sprintf(format, args...)} }

const (
	maxRecord      = 99_999 // bytes, which is what a leader can say
	leaderBytes    = 24
	directoryEntry = 12 // bytes

	endOfField, endOfRecord = 0x1E, 0x1D
	delimiter               = "\x1F"
)

// Reader reads records of ISO 2709 (.mrc).
type Reader struct{ in *bufio.Reader }

// NewReader returns a Reader.
func NewReader(in io.Reader) *Reader { return &Reader{bufio.NewReaderSize(in, 64<<10)} }

// Next returns the next record, or io.EOF. The error of a damaged record is a *RecordError.
func (r *Reader) Next() (Record, error) {
	data, err := r.read()
	data = bytes.TrimLeft(data, "\r\n \x00\x1A")
	switch isCut := errors.Is(err, io.EOF) && len(data) > 0; {
	case err != nil && !isCut:
		return Record{}, err
	case len(data) > maxRecord:
		return Record{}, damaged("the record is longer than %d bytes", maxRecord)
	case isCut:
		return Record{}, damaged("the record is truncated: its end is missing")
	}
	return parse(data)
}

// read returns the bytes to the end of a record, and no more than maxRecord+1 of them.
func (r *Reader) read() (data []byte, err error) {
	for {
		part, err := r.in.ReadSlice(endOfRecord)
		data = append(data, part[:min(len(part), maxRecord+1-len(data))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, err
		}
	}
}

// IsISO2709 reports whether a text begins as ISO 2709 does, also if its first record is damaged: with digits, and
// with the signs between fields and subfields, which no text has. It returns the name of the first record's character
// set.
func IsISO2709(start []byte) (charset string, ok bool) {
	start = bytes.TrimLeft(start, "\r\n ")
	if len(start) < 5 || number(start[:5]) < 0 || bytes.IndexByte(start, endOfField) < 0 ||
		!bytes.Contains(start, []byte(delimiter)) {
		return "", false
	}
	if len(start) > 9 && start[9] == 'a' {
		return "UTF-8", true
	}
	return "MARC-8", true
}

// number returns a number of digits, or -1.
func number(digits []byte) (n int) {
	for _, c := range digits {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// parse returns the record of its bytes.
func parse(data []byte) (r Record, err error) {
	if len(data) < leaderBytes+2 {
		return r, damaged("the record has %d bytes, too few for a leader", len(data))
	}
	r.Leader = string(data[:leaderBytes])
	if strings.ContainsFunc(r.Leader, func(c rune) bool { return c < ' ' || c > '~' }) {
		return r, damaged("the leader has characters other than ASCII")
	}
	base := number(data[12:17])
	if base <= leaderBytes || base > len(data)-1 || data[base-1] != endOfField ||
		(base-1-leaderBytes)%directoryEntry != 0 {
		return r, damaged("the directory does not end at byte %.5s, as the leader says", data[12:17])
	}
	decode, err := decoderOf(data)
	if err != nil {
		return r, err
	}
	total := base + 1
	for at := leaderBytes; at < base-1; at += directoryEntry {
		entry := data[at : at+directoryEntry]
		tag, length, start := string(entry[:3]), number(entry[3:7]), number(entry[7:12])
		from := base + start
		if length < 1 || start < 0 || from+length > len(data)-1 || data[from+length-1] != endOfField {
			return r, damaged("the directory has a wrong place of field %.3q", tag)
		}
		if total += length; total > len(data) {
			return r, damaged("the fields of the directory overlap")
		}
		if strings.ContainsFunc(tag, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return r, damaged("the directory has a field with the tag %q", tag)
		}
		if err := r.add(tag, string(data[from:from+length-1]), delimiter, decode); err != nil {
			return r, err
		}
	}
	return r, nil
}

// add adds a field of its text, with a delimiter before each subfield.
func (r *Record) add(tag, text, delimiter string, decode func(string) (string, error)) error {
	head, rest, hasSubfields := strings.Cut(text, delimiter)
	if !hasSubfields || strings.HasPrefix(tag, "00") {
		text, err := decode(text)
		if err != nil {
			return damaged("field %s: %v", tag, err)
		}
		r.Control = append(r.Control, ControlField{tag, text})
		return nil
	}
	if len(head) != 2 || !isASCII(head) {
		return damaged("field %s has %q for its two indicators", tag, head)
	}
	f := DataField{Tag: tag, Indicators: [2]byte{head[0], head[1]}}
	for part := range strings.SplitSeq(rest, delimiter) {
		if part == "" {
			continue // a delimiter too many
		}
		if part[0] <= ' ' || part[0] > '~' {
			return damaged("field %s has the code %q of a subfield", tag, part[:1])
		}
		text, err := decode(part[1:])
		if err != nil {
			return damaged("field %s $%c: %v", tag, part[0], err)
		}
		f.Subfields = append(f.Subfields, subfield(part[0], text))
	}
	r.Data = append(r.Data, f)
	return nil
}

// decoderOf returns the decoder of a record's texts, which byte 9 of its leader names. Many programs leave it blank in
// UTF-8, which can be told from MARC-8: there a sign for an accent comes before an ASCII letter.
func decoderOf(data []byte) (func(string) (string, error), error) {
	isUTF8 := utf8.Valid(data)
	isASCII := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	switch {
	case data[9] == 'a' && !isUTF8:
		return nil, damaged("the record has bytes that are not UTF-8, and its leader says UTF-8: convert it with " +
			"yaz-marcdump or MarcEdit")
	case data[9] == 'a', isUTF8 && !isASCII:
		return func(text string) (string, error) { return text, nil }, nil
	}
	return decodeMARC8, nil
}
