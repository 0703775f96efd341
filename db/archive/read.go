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

// Restore stores all that an archive holds in an empty catalogue (else db.ErrNotEmpty),
// or, where it fails, nothing: in one transaction, before whose end the catalogue is
// read and compared with the archive.
func Restore(ctx context.Context, store *db.Store, r io.Reader) (Manifest, error) {
	packed, err := unpack(r)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	return restoreTar(ctx, store, packed)
}

// Check reads an archive to its end and returns what it holds. It stores nothing.
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
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

func restoreTar(ctx context.Context, store *db.Store, r io.Reader) (manifest Manifest, err error) {
	err = store.Restore(ctx, func(ctx context.Context) error {
		var h header
		if h, manifest, err = readTar(ctx, store, r); err != nil {
			return err
		}
		stored, err := writeTar(ctx, store.Now(ctx), io.Discard, h)
		if err != nil {
			return err
		}
		if err := manifest.compare(stored); err != nil {
			return fmt.Errorf("the database has not stored what was to be: there are %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return manifest, nil
}

// readTar reads an archive and stores its rows, where there is a store.
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
		return h, nil, fmt.Errorf("the archive is damaged: the member %q has no place where it stands", name)
	}
	if err := in.json(&m); err != nil {
		return h, nil, err
	}
	if err := m.compare(found); err != nil {
		return h, nil, fmt.Errorf("the archive is damaged: it has %w", err)
	}
	if _, err = in.tar.Next(); errors.Is(err, io.EOF) {
		_, err = io.CopyN(io.Discard, r, maxEnd) // to the checksum of the compressed data
	}
	switch {
	case errors.Is(err, io.EOF):
		return h, m, nil
	case err == nil:
		err = errors.New("something follows its manifest")
	}
	return h, nil, damaged(err)
}

// reader reads the members of an archive.
type reader struct {
	tar   *tar.Reader
	store *db.Store
	lines *bufio.Reader
}

// damaged is the error of what could not be read.
func damaged(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the archive is not complete, its end is missing: %w", err)
	}
	return fmt.Errorf("the archive is damaged: %w", err)
}

// next goes to the next member.
func (r *reader) next() (name string, err error) {
	member, err := r.tar.Next()
	if err != nil {
		return "", damaged(err)
	}
	if member.Typeflag != tar.TypeReg {
		return "", fmt.Errorf("the archive is damaged: the member %q is no file", member.Name)
	}
	return member.Name, nil
}

// json reads a member that is one value.
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
	case h.Archive == kind && h.Format > Format: // whatever else is in it
		return fmt.Errorf("the archive has the format %d, and this program knows %d: use the program that wrote it, or a newer one", h.Format, Format)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return damaged(err)
	case err != nil:
		return fmt.Errorf("%w: %w", errNoArchive, err)
	case h.Archive != kind || h.Format < 1:
		return errNoArchive
	}
	return nil
}

// table reads the members of a table, of which name is the first if there is any, and
// returns what they hold and the name of the member that follows them.
func (r *reader) table(ctx context.Context, t table, keys []string, name string) (content Content, next string, err error) {
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
