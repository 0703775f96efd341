package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"library-catalogue/graph/model/textline"
)

// Windows1252 is the name of the encoding of Western Europe.
const Windows1252 = "Windows-1252"

var (
	utf8Charset = charset{name: "UTF-8"}
	utf16Little = charset{name: "UTF-16", encoding: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
	utf16Big    = charset{name: "UTF-16", encoding: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
)

// decode returns the text in UTF-8. Bytes that the encoding does not have become the byte 0xFF, so that their rows are
// refused as broken UTF-8 is.
func (c charset) decode(in io.Reader) io.Reader {
	if c.encoding == nil {
		return in
	}
	return transform.NewReader(in, transform.Chain(c.encoding.NewDecoder(), refusal{isUTF16: c.name == utf16Big.name}))
}

// refusal replaces characters that decoders write for bytes without a meaning by the byte 0xFF.
type refusal struct {
	transform.NopResetter
	isUTF16 bool // which has the control characters from U+0080
}

// Transform implements transform.Transformer.
func (t refusal) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		if nDst+size > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		if r == utf8.RuneError || r >= 0x80 && r < 0xA0 && !t.isUTF16 {
			dst[nDst] = 0xFF
			nDst++
		} else {
			nDst += copy(dst[nDst:], src[nSrc:nSrc+size])
		}
		nSrc += size
	}
	return nDst, nSrc, nil
}

// findCharset reads a file to its end and detects its encoding:
//
//   - by a byte order mark
//   - as UTF-16 if every other byte of the beginning is 0
//   - by the declaration of XML, unless it says UTF-8
//   - as UTF-8 or another one, by the majority of non-ASCII characters, so that a few broken rows do not
//     change the encoding of UTF-8
//
// unsure are the encodings to choose from, if the text does not tell which is meant; the first one is returned.
func findCharset(in io.Reader) (found charset, unsure []Guess, err error) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	start, err := buffered.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return charset{}, nil, err
	}
	zeros := [2]int{} // at even and odd offsets
	for i, b := range start {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch half := len(start) / 2; {
	case bytes.HasPrefix(start, []byte(textline.ByteOrderMark)):
		return utf8Charset, nil, nil
	case bytes.HasPrefix(start, []byte{0xFF, 0xFE}), half > 0 && zeros[1] > half/2 && zeros[0] < half/10+1:
		return utf16Little, nil, nil
	case bytes.HasPrefix(start, []byte{0xFE, 0xFF}), half > 0 && zeros[0] > half/2 && zeros[1] < half/10+1:
		return utf16Big, nil, nil
	}
	if named := declared.FindSubmatch(start); named != nil {
		if c, ok := namedAs(string(named[1])); ok {
			return c, nil, nil
		}
	}
	valid, invalid, lines, err := countUTF8(buffered)
	if err != nil || invalid <= valid {
		return utf8Charset, nil, err
	}
	guesses, isSure := guessCharset(lines)
	switch {
	case len(guesses) == 0:
		return utf8Charset, nil, nil // its bad rows are refused one by one
	case isSure:
		return guesses[0].charset, nil, nil
	}
	return guesses[0].charset, guesses, nil
}

// declared matches the declaration of XML with an encoding.
var declared = regexp.MustCompile(`^<\?xml [^>]*encoding=["']([\w.:-]+)["']`)

// namedAs returns the encoding with one of its registered names, if it is one of charsets.
func namedAs(name string) (charset, bool) {
	encoding, err := ianaindex.IANA.Encoding(name)
	if err != nil || encoding == nil {
		return charset{}, false
	}
	for _, c := range charsets {
		if c.encoding == encoding {
			return c, true
		}
	}
	return charset{}, false
}

// maxForeign is the maximum number of bytes that are evidence for an encoding.
const maxForeign = 64 << 10

// countUTF8 counts characters of two or more bytes, and invalid bytes. It returns the first lines with invalid bytes.
func countUTF8(in *bufio.Reader) (valid, invalid int, lines []byte, err error) {
	var line []byte
	isForeign := false
	for {
		r, size, err := in.ReadRune()
		if err == nil && r == utf8.RuneError && size == 1 {
			invalid++
			isForeign = true
			if err = in.UnreadRune(); err == nil {
				var b byte
				b, err = in.ReadByte()
				line = append(line, b)
			}
		} else if err == nil {
			line = utf8.AppendRune(line, r)
			if size > 1 {
				valid++
			}
		}
		if r == '\n' || err != nil || len(line) > maxForeign {
			if isForeign && len(lines) < maxForeign {
				lines = append(lines, line...)
			}
			line, isForeign = line[:0], false
		}
		switch {
		case errors.Is(err, io.EOF):
			return valid, invalid, lines, nil
		case err != nil:
			return 0, 0, nil, err
		}
	}
}

// charsetNamed returns the encoding of a name in Encodings.
func charsetNamed(name string) charset {
	for _, c := range charsets {
		if c.name == name {
			return c
		}
	}
	return utf8Charset
}
