package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Windows1252 is the name of the encoding of texts without another one. Other encodings of a byte a letter look the same.
const Windows1252 = "Windows-1252"

// byteOrderMark may precede a text.
const byteOrderMark = "\uFEFF"

// charset is the encoding of a file.
type charset struct {
	name     string
	encoding encoding.Encoding // nil: UTF-8
}

var (
	utf8Charset    = charset{name: "UTF-8"}
	windowsCharset = charset{Windows1252, charmap.Windows1252}
	utf16Little    = charset{"UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	utf16Big       = charset{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
)

// decode returns the text in UTF-8.
func (c charset) decode(in io.Reader) io.Reader {
	if c.encoding == nil {
		return in
	}
	return c.encoding.NewDecoder().Reader(in)
}

// findCharset reads a file to its end and detects its encoding:
//
//   - by a byte order mark
//   - as UTF-16 if every other byte of the beginning is 0
//   - as UTF-8 or Windows-1252, by the majority of non-ASCII characters, so that a few broken rows do not
//     change the encoding of UTF-8
func findCharset(in io.Reader) (charset, error) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	start, err := buffered.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return charset{}, err
	}
	zeros := [2]int{} // at even and odd offsets
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(start) / 2; {
	case bytes.HasPrefix(start, []byte(byteOrderMark)):
		return utf8Charset, nil
	case bytes.HasPrefix(start, []byte{0xFF, 0xFE}), half > 0 && zeros[1] > half/2 && zeros[0] < half/10+1:
		return utf16Little, nil
	case bytes.HasPrefix(start, []byte{0xFE, 0xFF}), half > 0 && zeros[0] > half/2 && zeros[1] < half/10+1:
		return utf16Big, nil
	}
	valid, invalid, err := countUTF8(buffered)
	if invalid > valid {
		return windowsCharset, err
	}
	return utf8Charset, err
}

// countUTF8 counts characters of two or more bytes, and invalid bytes.
func countUTF8(in *bufio.Reader) (valid, invalid int, err error) {
	for {
		switch r, size, err := in.ReadRune(); {
		case errors.Is(err, io.EOF):
			return valid, invalid, nil
		case err != nil:
			return 0, 0, err
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 1:
			valid++
		}
	}
}
