package archive

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"library-catalogue/db"
)

// Restore stores an archive in an empty catalogue, or returns db.ErrNotEmpty. It runs in one transaction, and
// before the commit it compares the stored rows with the archive. An error means that nothing is stored.
func Restore(ctx context.Context, store *db.Store, r io.Reader) (Manifest, error) {
	packed, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	return restoreTar(ctx, store, packed)
}

// Check reads an archive to its end and returns its manifest. It stores nothing.
func Check(ctx context.Context, r io.Reader) (Manifest, error) {
	packed, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	_, manifest, err := readTar(ctx, nil, packed)
	return manifest, err
}

func unpack(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
}

func restoreTar(ctx context.Context, store *db.Store, r io.Reader) (manifest Manifest, err error) {
	err = store.Restore(ctx, func(ctx context.Context) error {
		var h header
		if h, manifest, err = readTar(ctx, store, r); err != nil {
			return err
		}
		stored, err := writeTar(ctx, store.Unchecked(ctx), io.Discard, h)
		if err != nil {
			return err
		}
		if err := manifest.compare(stored); err != nil {
			return fmt.Errorf("the stored rows differ from the archive: there are %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return manifest, nil
}

// readTar reads an archive and stores its rows, unless store is nil.
func readTar(ctx context.Context, store *db.Store, r io.Reader) (h header, m Manifest, err error) {
	in := &reader{tar: tar.NewReader(r), store: store}
	if err := in.header(&h); err != nil {
		return h, nil, err
	}
	name, err := in.next()
	found := Manifest{}
	for _, t := range tables {
		if err != nil {
			return h, nil, err
		}
		found[t.name()], name, err = in.table(ctx, t, h.Fields[t.name()], name)
	}
	switch {
	case err != nil:
		return h, nil, err
	case name != manifestName:
		return h, nil, fmt.Errorf("the archive is damaged: the member %q is out of order", name)
	}
	if err := in.json(&m); err != nil {
		return h, nil, err
	}
	if err := m.compare(found); err != nil {
		return h, nil, fmt.Errorf("the archive is damaged: it has %w", err)
	}
	if _, err = in.tar.Next(); errors.Is(err, io.EOF) {
		_, err = io.CopyN(io.Discard, r, maxEnd) // through the checksum of the compressed data
	}
	switch {
	case errors.Is(err, io.EOF):
		return h, m, nil
	case err == nil:
		err = errors.New("data follows the manifest")
	}
	return h, nil, damaged(err)
}

// reader reads the members of an archive.
type reader struct {
	tar   *tar.Reader
	store *db.Store
	lines *bufio.Reader
}

// damaged wraps a read error.
func damaged(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the archive is incomplete: %w", err)
	}
	return fmt.Errorf("the archive is damaged: %w", err)
}

// next advances to the next member.
func (r *reader) next() (name string, err error) {
	member, err := r.tar.Next()
	if err != nil {
		return "", damaged(err)
	}
	if member.Typeflag != tar.TypeReg {
		return "", fmt.Errorf("the archive is damaged: the member %q is not a file", member.Name)
	}
	return member.Name, nil
}

// json reads a member with one JSON value.
func (r *reader) json(into any) error {
	data, err := io.ReadAll(io.LimitReader(r.tar, maxLine))
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return damaged(err)
}

var errNoArchive = errors.New("this is not a catalogue archive")

// header reads the first member.
func (r *reader) header(h *header) error {
	member, err := r.tar.Next()
	if err == nil && member.Name == formatName {
		err = r.json(h)
	}
	switch {
	case h.Archive == kind && h.Format > Format: // checked before err, because newer formats may have other members
		return fmt.Errorf("the archive has format %d, and this program reads up to %d: use a newer program", h.Format,
			Format)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damaged(err)
	case err != nil:
		return fmt.Errorf("%w: %w", errNoArchive, err)
	case h.Archive != kind || h.Format < 1:
		return errNoArchive
	}
	return nil
}

// table reads the members of a table, starting at the member name. It returns their content and the name of the
// member after them.
func (r *reader) table(
	ctx context.Context, t table, keys []string, name string,
) (content Content, next string, err error) {
	rows, err := t.restorer(r.store, keys)
	if err != nil {
		return content, "", err
	}
	sum := sha256.New()
	for n := 1; name == partName(t.name(), n); n++ {
		if err := r.part(ctx, name, rows, &content, sum); err != nil {
			return content, "", err
		}
		if name, err = r.next(); err != nil {
			return content, "", err
		}
	}
	content.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return content, name, nil
}

// part reads the rows of a member.
func (r *reader) part(ctx context.Context, name string, rows restorer, content *Content, sum hash.Hash) error {
	if r.lines == nil {
		r.lines = bufio.NewReaderSize(nil, maxLine)
	}
	r.lines.Reset(r.tar)
	for n := 1; ; n++ {
		line, err := r.lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return rows.flush(ctx)
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("%s, line %d: longer than %d bytes", name, n, maxLine)
		case err == nil:
			sum.Write(line)
			content.Rows++
			if err := rows.add(ctx, line); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n, err)
			}
			continue
		}
		return damaged(err)
	}
}
