package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

type exportCmd struct {
	databaseFlags
	formatFlags

	File string `arg:"" optional:"" default:"-" help:"File to write; - is standard output (default: ${default})."`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, std stdio) error {
	if path, ok := c.sqliteFile(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no catalogue at %s", path)
		}
	}
	store, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	export := func(out io.Writer) error {
		buffered := bufio.NewWriterSize(out, 64<<10)
		format := csvFormat
		if c.jsonLines(c.File) {
			format = jsonFormat
		}
		if err := exportBooks(ctx, resolvers.New(store), format(buffered)); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if c.File == "-" {
		return export(std.out)
	}
	return replaceFile(c.File, export)
}

// replaceFile writes a file beside path and then gives it that name, so that
// after a failure there is what was there before.
func replaceFile(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	part, mode := path+".part-"+rand.Text(), fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode()
	}
	if !mode.IsRegular() { // a pipe or a device, which cannot be replaced
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
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// exported is a book in a file, in the order of model.ImportFields.
type exported struct {
	Name        string      `json:"name"`
	Description *string     `json:"description"`
	Pages       int         `json:"pages"`
	PublishedAt model.Date  `json:"published_at"`
	Author      string      `json:"author"`
	Price       model.Cents `json:"price"`
	Genre       string      `json:"genre"`
	Category    string      `json:"category"`
}

// exportBooks writes all books in order of id, as they are at one moment.
func exportBooks(ctx context.Context, catalogue *resolvers.Resolver, write func(*exported) error) error {
	return catalogue.View(ctx, func(ctx context.Context, _ int64) error {
		size := model.MaxPageSize
		var after *string
		for {
			page, err := catalogue.Query().Books(ctx, &size, after, nil, nil, nil, nil, nil, nil)
			if err != nil {
				return err
			}
			books, err := page.Nodes(ctx)
			if err != nil {
				return err
			}
			for _, book := range books {
				genre, err := catalogue.Book().Genre(ctx, book)
				if err != nil {
					return err
				}
				category, err := catalogue.Genre().Category(ctx, genre)
				if err != nil {
					return err
				}
				err = write(&exported{
					Name: book.Name, Description: book.Description, Pages: book.Pages, PublishedAt: book.PublishedAt,
					Author: book.Author, Price: book.Price, Genre: genre.Name, Category: category.Name,
				})
				if err != nil {
					return err
				}
			}
			info, err := page.PageInfo(ctx)
			if err != nil {
				return err
			}
			if more, err := info.HasNextPage(ctx); err != nil || !more {
				return err
			}
			after = info.EndCursor
		}
	})
}

// csvFormat writes RFC 4180 with a header. Records end with \n, and line ends in
// a cell stay what they are.
func csvFormat(out *bufio.Writer) func(*exported) error {
	w := csv.NewWriter(out)         // which buffers nothing beyond out
	_ = w.Write(model.ImportFields) // out keeps an error for its Flush
	return func(b *exported) error {
		description := ""
		if b.Description != nil {
			description = *b.Description
		}
		return w.Write([]string{
			b.Name, description, strconv.Itoa(b.Pages), b.PublishedAt.String(), b.Author, b.Price.String(), b.Genre, b.Category,
		})
	}
}

// jsonFormat writes JSON Lines.
func jsonFormat(out *bufio.Writer) func(*exported) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return func(b *exported) error { return encoder.Encode(b) }
}
