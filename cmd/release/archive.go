package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
	"time"
)

// file is a file on this machine, its name in an archive, and its mode there.
type file struct {
	source, name string
	mode         fs.FileMode
}

// writeTar writes an archive of files in a folder, all of one date and of no owner.
func writeTar(target, folder string, files []file, date time.Time) error {
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Join(folder, f.name), Mode: int64(f.mode), Size: int64(len(content)), ModTime: date, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, packed.Bytes(), 0o644)
}

// writeZip is writeTar for Windows.
func writeZip(target, folder string, files []file, date time.Time) error {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: date}
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, packed.Bytes(), 0o644)
}
