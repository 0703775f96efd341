package citation

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/textline"
)

// maxEntry is the maximum number of bytes of an entry, of its values, and of all @string.
const maxEntry = textline.MaxBytes

// Limits of the texts of @string in entries, which may be long where the entries are short: maxExpansion for each
// byte of the file, beyond freeExpansion.
const (
	maxExpansion  = 100
	freeExpansion = 32 << 20
)

var errExpands = fmt.Errorf("the texts of @string make the file more than %d times longer, and it was refused",
	maxExpansion)

// Entry is what a Reader reads: a book, or a damaged entry.
type Entry struct {
	Line    int               // first line, from 1
	Values  map[string]string // by key of model.ImportFields; fields that are no part of a book have their own names
	Problem string            // why it is damaged: a sentence without a full stop
	Size    int               // in bytes
}

// BibTeXReader reads the entries of BibTeX and BibLaTeX.
type BibTeXReader struct {
	in       *textline.Reader
	strings  map[string]string // of @string and of the months
	size     int               // bytes of the strings
	read     int               // bytes of all blocks
	expanded int               // bytes of strings in all entries
	parser   bibParser         // rest of a block
}

// NewBibTeXReader returns a reader of a text in UTF-8.
func NewBibTeXReader(in io.Reader) *BibTeXReader {
	r := &BibTeXReader{in: textline.NewReader(in), strings: map[string]string{}}
	for _, month := range months {
		r.strings[month] = month
	}
	return r
}

var months = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")

var (
	// entryStart matches a line that begins an entry, which also ends a damaged one.
	entryStart = regexp.MustCompile(`^\s*@\s*[A-Za-z]+\s*[{(]`)
	// knownEntry matches a line that begins an entry of a usual type.
	knownEntry = regexp.MustCompile(
		`(?im)^\s*@(?:book|inbook|incollection|collection|article|` +
			`thesis|phdthesis|mastersthesis|booklet|manual|proceedings|` +
			`inproceedings|techreport|report|misc|online|unpublished|string|comment|preamble)\s*[{(]`)
)

// IsBibTeX reports whether a text begins as BibTeX does: with an entry, or with one of a usual type after other lines.
func IsBibTeX(start []byte) bool { return entryStart.Match(start) || knownEntry.Match(start) }

// Next returns the next entry, or io.EOF.
func (r *BibTeXReader) Next() (Entry, error) {
	for {
		for r.parser.text != "" {
			text, line := r.parser.text, r.parser.line
			kind, fields, err := r.parser.entry(r)
			if r.expanded > max(freeExpansion, maxExpansion*r.read) {
				return Entry{}, errExpands
			}
			if err == nil && !utf8.ValidString(text[:len(text)-len(r.parser.text)]) {
				err = errors.New("the entry is not UTF-8")
			}
			if err != nil {
				r.parser.text = ""
				return Entry{Line: line, Problem: err.Error(), Size: len(text)}, nil
			}
			read := text[:len(text)-len(r.parser.text)]
			r.parser.line += strings.Count(read, "\n")
			if kind != "" {
				return Entry{Line: line, Values: bookOf(kind, fields), Size: len(read)}, nil
			}
		}
		if err := r.block(); err != nil {
			return Entry{}, err
		}
	}
}

// block reads the lines of an entry, to the line before the next one. Lines before the first entry are comments.
func (r *BibTeXReader) block() error {
	var text []byte
	first := 0 // line
	for {
		line, err := r.in.Next()
		content := line.Content()
		isStart := entryStart.Match(content)
		switch {
		case first > 0 && (isStart || errors.Is(err, io.EOF)):
			if isStart {
				r.in.Unread([]textline.Line{line})
			}
			r.parser = bibParser{string(text), first}
			return nil
		case err != nil:
			return err
		case isStart:
			first = line.Number
		}
		if first > 0 {
			r.read += len(content) + 1
			text = append(text, content[:min(len(content), maxEntry+1-len(text))]...)
			text = append(text, '\n')[:min(len(text)+1, maxEntry+1)]
		}
	}
}

var errNotClosed = errors.New("the entry is not closed: a brace or a quote is missing")

// bibParser parses a text of one or more entries.
type bibParser struct {
	text string // the rest
	line int    // line of its start
}

// entry parses the next entry. kind is empty for a @string, a comment, or the end of the text.
func (p *bibParser) entry(r *BibTeXReader) (kind string, fields map[string]string, err error) {
	if len(p.text) > maxEntry {
		return "", nil, errors.New("the entry is longer than 1 MiB")
	}
	at := strings.IndexByte(p.text, '@')
	if at < 0 {
		p.text = ""
		return "", nil, nil
	}
	p.text = p.text[at+1:]
	kind = strings.ToLower(p.name())
	open, closing := p.skip(), byte('}')
	if kind == "" || open != '{' && open != '(' {
		return "", nil, nil // an @ in a comment
	}
	if open == '(' {
		closing = ')'
	}
	if kind == "comment" || kind == "preamble" {
		_, err := p.delimited(closing)
		return "", nil, err
	}
	p.text = p.text[1:]
	if kind != "string" {
		comma := strings.IndexAny(p.text, ",=\"{}\n")
		if comma >= 0 && p.text[comma] == ',' {
			p.text = p.text[comma+1:] // behind the key
		} else if comma >= 0 && p.text[comma] == closing { // @book{key}
			p.text = p.text[comma+1:]
			return kind, nil, nil
		}
	}
	fields = map[string]string{}
	total := 0
	for p.skip() != closing {
		if p.text == "" {
			return "", nil, errNotClosed
		}
		name := strings.ToLower(p.name())
		if name == "" || p.skip() != '=' {
			return "", nil,
				fmt.Errorf("the entry is damaged before %.20q: a field is written as name = {text},", p.text)
		}
		p.text = p.text[1:]
		value, err := p.value(r, maxEntry-total)
		if err != nil {
			return "", nil, err
		}
		total += len(value)
		if _, ok := fields[name]; !ok { // the first one counts, as in BibTeX
			fields[name] = value
		}
		if p.skip() == ',' {
			p.text = p.text[1:]
		}
	}
	p.text = p.text[1:]
	if kind != "string" {
		return kind, fields, nil
	}
	if r.size += total; r.size > maxEntry {
		return "", nil, errors.New("the texts of all @string are longer than 1 MiB")
	}
	maps.Copy(r.strings, fields)
	return "", nil, nil
}

// skip skips white space and returns the next byte, or 0 at the end.
func (p *bibParser) skip() byte {
	p.text = strings.TrimLeft(p.text, " \t\r\n")
	if p.text == "" {
		return 0
	}
	return p.text[0]
}

// name returns the name at the start of the text.
func (p *bibParser) name() string {
	p.skip()
	end := strings.IndexAny(p.text, " \t\r\n{}()=,#\"@")
	if end < 0 {
		end = len(p.text)
	}
	name := p.text[:end]
	p.text = p.text[end:]
	return name
}

// value parses texts joined by #. They have at most maxBytes.
func (p *bibParser) value(r *BibTeXReader, maxBytes int) (string, error) {
	var b strings.Builder
	for {
		var part string
		var err error
		switch p.skip() {
		case '{':
			part, err = p.delimited('}')
		case '"':
			part, err = p.delimited('"')
		default:
			part = p.name()
			if text, ok := r.strings[strings.ToLower(part)]; ok {
				part = text
				r.expanded += len(text)
			} else if part == "" {
				err = fmt.Errorf("the entry is damaged before %.20q: a text is missing", p.text)
			}
		}
		if err != nil {
			return "", err
		}
		if b.Len()+len(part) > maxBytes {
			return "", errors.New("the entry is longer than 1 MiB")
		}
		b.WriteString(part)
		if p.skip() != '#' {
			return b.String(), nil
		}
		p.text = p.text[1:]
	}
}

// delimited returns the text between the delimiter at the start and its end. Braces in it are in pairs; a backslash
// does not change that, as in BibTeX.
func (p *bibParser) delimited(closing byte) (string, error) {
	depth := 0
	for i := 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == closing && depth == 0:
			inside := p.text[1:i]
			p.text = p.text[i+1:]
			return inside, nil
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	return "", errNotClosed
}
