package source

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/graph/model"
)

const (
	// maxWindow limits the memory of zstd. Levels up to 19 need 8 MB.
	maxWindow = 8 << 20

	// maxRatio is the maximum expansion of a text longer than freeText. Lists of books reach 20.
	maxRatio = 100
	freeText = 32 << 20
)

var errBomb = fmt.Errorf("the file expands to more than %d times its size, or to more than 2 GiB, and was refused",
	maxRatio)

// isBomb reports whether a file expands too much.
func isBomb(unpacked, packed int64) bool { return unpacked > max(freeText, maxRatio*packed) }

// Magic numbers of file formats.
const (
	gzipMagic = "\x1F\x8B"
	zstdMagic = "\x28\xB5\x2F\xFD"
	zipMagic  = "PK\x03\x04"
	oleMagic  = "\xD0\xCF\x11\xE0"
)

// magic returns the first 4 bytes, or all of fewer.
func (s *Source) magic() (string, error) {
	start := make([]byte, 4)
	n, err := s.bytes.ReadAt(start, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(start[:n]), err
}

// unpack returns a reader that decompresses gzip and zstd, and the name of the compression. It reads other
// bytes unchanged.
func (s *Source) unpack() (_ io.Reader, packing string, err error) {
	var text io.Reader
	magic, err := s.magic()
	if err != nil {
		return nil, "", err
	}
	packed := s.reader()
	switch {
	case strings.HasPrefix(magic, gzipMagic):
		text, err = gzip.NewReader(packed)
		packing = "gzip"
	case magic == zstdMagic:
		text, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		packing = "zstd"
	default:
		return packed, "", nil
	}
	if err != nil {
		return nil, "", unpackError(err)
	}
	length := int64(0)
	return readerFunc(func(p []byte) (int, error) {
		n, err := text.Read(p)
		if length += int64(n); isBomb(length, s.read.Load()) {
			return 0, errBomb
		}
		if err != nil && !errors.Is(err, io.EOF) {
			err = unpackError(err)
		}
		return n, err
	}), packing, nil
}

func unpackError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return model.Messagef("the compressed file is truncated")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return model.Messagef("the file needs more than 8 MB of memory to decompress: compress it with zstd -19 or a " +
			"lower level, without --long")
	}
	return fmt.Errorf("the file cannot be decompressed: %w", err)
}
