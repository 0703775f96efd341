package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/importer"
)

const archiveExtension = ".tar.zst"

func isArchive(path string) bool { return strings.HasSuffix(strings.ToLower(path), archiveExtension) }

// formats are the values of --format by the extension of a file.
var formats = map[string]string{".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xlsx": "xlsx",
	".marcxml": "marcxml", ".xml": "marcxml"}

// splitName returns the extensions of a file of books and its compression, in lower case.
func splitName(path string) (extension, compression string) {
	path = strings.ToLower(path)
	if compression = filepath.Ext(path); compression != ".gz" && compression != ".zst" {
		return compression, ""
	}
	return filepath.Ext(strings.TrimSuffix(path, compression)), compression
}

func compress(out io.Writer, compression string) (io.WriteCloser, error) {
	switch compression {
	case ".gz":
		return gzip.NewWriter(out), nil
	case ".zst":
		return zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	}
	return uncompressed{out}, nil
}

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }

// writeOutput writes to the file at path, or to standard output for "-".
func writeOutput(std cli.Stdio, path string, force bool, write func(*bufio.Writer) error) error {
	buffered := func(out io.Writer) error {
		buffer := bufio.NewWriterSize(out, 64<<10)
		return errors.Join(write(buffer), buffer.Flush())
	}
	switch {
	case path != "-":
		return writeFile(path, force, buffered)
	case force:
		return errors.New("--force applies to a file, and this command writes to standard output")
	}
	return buffered(std.Out)
}

// refuseExisting returns an error if path is a regular file, unless force is set.
func refuseExisting(path string, force bool) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !force {
		return fmt.Errorf("%s exists: choose another name, or replace the file with --force", importer.Printable(path))
	}
	return nil
}

// writeFile writes a temporary file and renames it to path, so that a failure leaves the old file. It
// replaces a file only with force. It writes to pipes and devices directly.
func writeFile(path string, force bool, write func(io.Writer) error) error {
	if err := refuseExisting(path, force); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	part, mode := path+".part-"+rand.Text(), fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	if !mode.IsRegular() { // a pipe or a device cannot be replaced
		part = path
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, mode.Perm())
	if err != nil {
		return err
	}
	if part == path {
		return errors.Join(write(file), file.Close())
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = refuseExisting(path, force) // another program may have created it
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}
