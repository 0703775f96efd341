package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Write writes a snapshot of the whole catalogue, and returns its manifest.
func Write(ctx context.Context, store *db.Store, w io.Writer) (Manifest, error) {
	// Each further goroutine would need a window of its own.
	packed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	var manifest Manifest
	err = store.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) (err error) {
		manifest, err = writeTar(ctx, snapshot, packed, newHeader())
		return err
	})
	return manifest, errors.Join(err, packed.Close())
}

// writeTar writes an uncompressed archive with the header h.
func writeTar(ctx context.Context, snapshot *db.Snapshot, w io.Writer, h header) (Manifest, error) {
	out := &writer{tar: tar.NewWriter(w)}
	manifest := Manifest{}
	if err := out.json(formatName, h); err != nil {
		return nil, err
	}
	for _, t := range tables {
		content, err := out.table(ctx, snapshot, t, h.Fields[t.name()])
		if err != nil {
			return nil, err
		}
		manifest[t.name()] = content
	}
	if err := out.json(manifestName, manifest); err != nil {
		return nil, err
	}
	return manifest, out.tar.Close()
}

// writer writes the members of an archive.
type writer struct {
	tar  *tar.Writer
	part bytes.Buffer
}

// member writes a member, without a time and an owner in its header.
func (w *writer) member(name string, data []byte) error {
	err := w.tar.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	_, err = w.tar.Write(data)
	return err
}

func (w *writer) json(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.member(name, append(data, '\n'))
}

// partName returns the name of the n-th member of a table, counted from 1.
func partName(table string, n int) string { return fmt.Sprintf("%s/%06d.jsonl", table, n) }

// table writes the rows of a table in parts, because tar needs the length of a member before its content.
func (w *writer) table(ctx context.Context, snapshot *db.Snapshot, t table, keys []string) (Content, error) {
	content, parts, sum := Content{}, 0, sha256.New()
	flush := func() error {
		parts++
		sum.Write(w.part.Bytes())
		err := w.member(partName(t.name(), parts), w.part.Bytes())
		w.part.Reset()
		return err
	}
	err := t.each(ctx, snapshot, keys, func(line []byte) error {
		content.Rows++
		if w.part.Write(line); w.part.Len() >= partSize {
			return flush()
		}
		return nil
	})
	if err == nil && w.part.Len() > 0 {
		err = flush()
	}
	content.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return content, err
}
