package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxWindow is the memory for unpacking zstd. Its levels to 19 need 8 MB.
	maxWindow = 8 << 20

	// maxRatio is how many times longer than its packed bytes a text may be, once it
	// is longer than freeText: lists of books come to 20.
	maxRatio = 100
	freeText = 32 << 20
)

var errBomb = fmt.Errorf("the file expands to more than %d times its size, or to more than 2 GiB, and was refused", maxRatio)

// isBomb reports whether a file of so many packed bytes may not have, or take on disk, so
// many unpacked ones.
func isBomb(unpacked, packed int64) bool { return unpacked > max(freeText, maxRatio*packed) }

// The first bytes of files.
var (
	gzipMagic = []byte{0x1F, 0x8B}
	zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}
	zipMagic  = []byte("PK\x03\x04")
	oleMagic  = []byte{0xD0, 0xCF, 0x11, 0xE0}
)

// unpack returns a reader of what is packed with gzip or zstd; of anything else, of
// its bytes. packing names how it is packed.
func (s *Source) unpack() (_ io.Reader, packing string, err error) {
	var text io.Reader
	magic := make([]byte, 4)
	n, err := s.bytes.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	magic = magic[:n]
	packed := s.reader()
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		text, err = gzip.NewReader(packed)
		packing = "gzip"
	case bytes.HasPrefix(magic, zstdMagic):
		text, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
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
		return errors.New("the packed file ends too early: the rest of it is missing")
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return errors.New("the file needs more than 8 MB of memory to unpack: pack it by zstd -19 or a lower level, without --long")
	}
	return fmt.Errorf("the file cannot be unpacked: %w", err)
}
