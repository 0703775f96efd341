package loader

import (
	"context"

	"library-catalogue/graph/model"
)

// PageBy is Page, with another way to read.
func (l *Rows[T]) PageBy(ctx context.Context, p *model.Page, read func(context.Context, *model.Page) ([]*T, error)) ([]*T, error) {
	near, done, err := l.near(ctx, p)
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
