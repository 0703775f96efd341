// Package source reads the records of a file of any supported format:
//
//  1. Source holds the bytes (source.go).
//  2. Text is the decompressed and decoded text (packing.go, spreadsheet.go, encoding.go, text.go).
//  3. RecordReader splits the text into records (format.go, csv.go, json.go, library.go).
package source

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"library-catalogue/task"
)

// pipeMemory is the maximum length of a pipe in memory; a longer one goes to a temporary file.
const pipeMemory = 4 << 20

// Source holds the bytes of a file to import. It copies pipes, because a file is read several times.
type Source struct {
	bytes io.ReaderAt
	size  int64
	read  atomic.Int64 // bytes read by the last reader
	info  fs.FileInfo  // nil if the bytes are not a file
	close []func() error
}

// Open opens the file at path; "-" is stdin.
func Open(ctx context.Context, path string, stdin io.Reader) (_ *Source, err error) {
	s := &Source{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, file.Close)
		in = file
	}
	file, isFile := in.(*os.File)
	if isFile {
		if s.info, err = file.Stat(); err != nil {
			return nil, err
		}
	}
	if path != "-" && s.info.Mode().IsRegular() {
		s.bytes, s.size = file, s.info.Size()
		return s, nil
	}
	return s, s.copy(ctx, in)
}

// copy reads a pipe. It returns when ctx ends, even if the pipe does not.
func (s *Source) copy(ctx context.Context, pipe io.Reader) error {
	done := task.Go(ctx, func() error {
		start, err := io.ReadAll(io.LimitReader(pipe, pipeMemory))
		if err != nil || len(start) < pipeMemory {
			s.bytes, s.size = bytes.NewReader(start), int64(len(start))
			return err
		}
		file, err := s.tempFile()
		if err != nil {
			return err
		}
		s.bytes = file
		s.size, err = io.Copy(file, io.MultiReader(bytes.NewReader(start), pipe))
		return err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tempFile creates an unlinked temporary file. The system deletes it on Close, and if the process is killed.
func (s *Source) tempFile() (*os.File, error) {
	file, err := os.CreateTemp("", "catalogue-import-")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file (TMPDIR sets the folder): %w", err)
	}
	s.close = append(s.close, file.Close)
	return file, os.Remove(file.Name())
}

// Size returns the number of bytes.
func (s *Source) Size() int64 { return s.size }

// Read returns the number of bytes that the last reader has read.
func (s *Source) Read() int64 { return s.read.Load() }

// IsFile reports whether the source is the file at path.
func (s *Source) IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && s.info != nil && os.SameFile(info, s.info)
}

func (s *Source) reader() io.Reader {
	s.read.Store(0)
	in := io.NewSectionReader(s.bytes, 0, s.size)
	return readerFunc(func(p []byte) (int, error) {
		n, err := in.Read(p)
		s.read.Add(int64(n))
		return n, err
	})
}

// Close closes the file and removes temporary files.
func (s *Source) Close() {
	for _, close := range s.close {
		_ = close()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type readerAtFunc func([]byte, int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, at int64) (int, error) { return f(p, at) }

// withContext returns a reader that fails when ctx ends.
func withContext(ctx context.Context, in io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return in.Read(p)
	})
}
