package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"library-catalogue/graph/model/marc"
	"library-catalogue/graph/model/textline"
)

// Text is the decompressed and decoded text of a file.
type Text struct {
	Packing string // gzip, zstd or ""
	Sheets         // of a spreadsheet only
	Charset string
	Unsure  []Guess // encodings that the text may have, the first is Charset; nil: it is sure
	source  *Source
	charset charset
}

// Text reads a file to its end, and detects its compression and encoding. The text of a spreadsheet is CSV that
// begins with the header.
func (s *Source) Text(ctx context.Context, h Header) (*Text, error) {
	sheets, err := s.convertSpreadsheet(ctx, h)
	if err != nil {
		return nil, err
	}
	in, packing, err := s.unpack()
	if err != nil {
		return nil, err
	}
	var found charset
	var unsure []Guess
	buffered := bufio.NewReaderSize(withContext(ctx, in), maxRow)
	start, err := buffered.Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if name, ok := marc.IsISO2709(start); ok && h.Encoding != "" {
		return nil, errors.New(
			"the encoding option applies to texts only, and records of MARC (ISO 2709) name their own: leave it out")
	} else if ok {
		found = charset{name: name}
	} else if h.Encoding != "" && !bytes.HasPrefix(start, []byte(textline.ByteOrderMark)) { // as rejected rows have
		found = charsetNamed(h.Encoding)
	} else if found, unsure, err = findCharset(buffered); err != nil {
		return nil, err
	}
	return &Text{Packing: packing, Sheets: sheets, Charset: found.name, Unsure: unsure, source: s, charset: found}, nil
}

// IsUTF8 reports whether the encoding is UTF-8.
func (t *Text) IsUTF8() bool { return t.charset.encoding == nil }

// open returns the text from its start.
func (t *Text) open(ctx context.Context) (io.Reader, error) {
	in, _, err := t.source.unpack()
	if err != nil {
		return nil, err
	}
	return t.charset.decode(withContext(ctx, in)), nil
}

// Format detects the format of the text, unless name or delimiter set it.
func (t *Text) Format(ctx context.Context, name string, delimiter byte, h Header) (Format, error) {
	in, err := t.open(ctx)
	if err != nil {
		return Format{}, err
	}
	return findFormat(in, name, delimiter, h)
}

// Records returns a reader at the first record, and for CSV the names of the columns. The reader fails when ctx ends.
func (t *Text) Records(ctx context.Context, f Format) (_ RecordReader, header []string, err error) {
	in, err := t.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	records, header, err := newRecordReader(in, f)
	return contextRecords{ctx, records}, header, err
}

func newRecordReader(in io.Reader, f Format) (_ RecordReader, header []string, err error) {
	for _, l := range libraries {
		if l.format == f.Name {
			return l.records(textline.WithoutMark(in)), nil, nil
		}
	}
	switch f.Name {
	case JSONLines:
		return jsonLines{textline.NewReader(in)}, nil, nil
	case JSONArray:
		return newJSONArray(in, f), nil, nil
	}
	return newCSVReader(in, f)
}

// contextRecords is a RecordReader that fails when ctx ends, so that each loop over a file ends with it. The records
// of a text that is in memory take long too.
type contextRecords struct {
	ctx context.Context
	RecordReader
}

// Next implements RecordReader.
func (r contextRecords) Next() (Record, error) {
	if err := r.ctx.Err(); err != nil {
		return Record{}, err
	}
	return r.RecordReader.Next()
}

// IsSpreadsheet reports whether the file is a spreadsheet.
func (t *Text) IsSpreadsheet() bool { return t.Names != nil }
