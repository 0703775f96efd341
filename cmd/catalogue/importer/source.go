package importer

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Source is the file to import, or a pipe.
type Source struct {
	Size  int64 // in bytes; -1 of a pipe
	path  string
	stdin io.Reader   // for "-"
	info  fs.FileInfo // nil where it is no file
	files []*os.File
	read  bool
}

// NewSource finds the file at path; "-" is stdin.
func NewSource(path string, stdin io.Reader) (s *Source, err error) {
	s = &Source{Size: -1, path: path, stdin: stdin}
	if path == "-" {
		if file, ok := stdin.(*os.File); ok {
			s.info, err = file.Stat()
		}
		return s, err
	}
	if s.info, err = os.Stat(path); err != nil {
		return nil, err
	}
	if s.info.Mode().IsRegular() {
		s.Size = s.info.Size()
	}
	return s, nil
}

// Open begins to read from the start, which a pipe can do once.
func (s *Source) Open() (io.Reader, error) {
	if s.read && s.Size < 0 {
		return nil, errors.New("the database gave the import up, and a pipe cannot be read again")
	}
	s.read = true
	if s.path == "-" {
		return s.stdin, nil
	}
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, file)
	return file, nil
}

// Close closes what was opened.
func (s *Source) Close() {
	for _, file := range s.files {
		file.Close()
	}
}
