package loader

import (
	"context"

	"library-catalogue/graph/model"
)

// PageBy is Page, with another way to read.
func (l *Rows[T]) PageBy(ctx context.Context, p *model.Page, read func(context.Context, *model.Page) ([]*T, error)) ([]*T, error) {
	return l.page(ctx, p, read)
}

// Settle waits until nobody reads the reference data.
func (c *Cache) Settle() {
	c.reading.Lock()
	defer c.reading.Unlock()
}
