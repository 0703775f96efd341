package loader

import (
	"context"

	"library-catalogue/graph/model"
)

// PageOfBooks is Page of books, with another way to read.
func (l *Loaders) PageOfBooks(ctx context.Context, p *model.Page, read func(context.Context, *model.Page) ([]*model.Book, error)) ([]*model.Book, error) {
	near, done, err := l.Books.(*rowLoader[model.Book]).near(ctx, p)
	if err != nil {
		return nil, err
	}
	defer done()
	return read(ctx, near)
}

// Settle waits until nobody reads the reference data.
func (c *Cache) Settle() {
	c.reading.Lock()
	defer c.reading.Unlock()
}
