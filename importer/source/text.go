package source

import (
	"context"
	"io"
)

// Text is the text of a file.
type Text struct {
	Packing string // gzip or zstd, if the file is packed
	Sheet   string // of a spreadsheet: the one that is read
	Charset string
	source  *Source
	charset charset
}

// Text reads a file to its end and finds out how its bytes are a text.
func (s *Source) Text(ctx context.Context) (*Text, error) {
	sheet, err := s.convertSpreadsheet(ctx)
	if err != nil {
		return nil, err
	}
	in, packing, err := s.unpack()
	if err != nil {
		return nil, err
	}
	charset, err := findCharset(withContext(ctx, in))
	return &Text{Packing: packing, Sheet: sheet, Charset: charset.name, source: s, charset: charset}, err
}

// IsUTF8 reports whether the characters are written in UTF-8.
func (t *Text) IsUTF8() bool { return t.charset.encoding == nil }

// open returns the text from its start.
func (t *Text) open(ctx context.Context) (io.Reader, error) {
	in, _, err := t.source.unpack()
	if err != nil {
		return nil, err
	}
	return t.charset.decode(withContext(ctx, in)), nil
}

// Format finds out how records stand in the text. name and delimiter are known, unless
// they are empty. matched returns how many columns of a header of CSV are known by name.
func (t *Text) Format(ctx context.Context, name string, delimiter byte, matched func(header []string) int) (Format, error) {
	in, err := t.open(ctx)
	if err != nil {
		return Format{}, err
	}
	return findFormat(in, name, delimiter, matched)
}

// Records begins to read the records. header are the names of the columns of CSV.
func (t *Text) Records(ctx context.Context, f Format) (_ RecordReader, header []string, err error) {
	in, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	switch f.Name {
	case JSONLines:
		return jsonLines{newLineReader(in, f.end)}, nil, nil
	case JSONArray:
		return newJSONArray(in), nil, nil
	}
	return newCSVReader(in, f)
}
