package rest

import "library-catalogue/graph/model"

// The shapes of /api, field by field in the documented order. Each function
// appends an object to dst.

func appendBook(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
	dst = b.ID.AppendNumber(append(dst, `{"id":`...))
	dst = model.AppendString(append(dst, `,"name":`...), b.Name)
	dst = model.AppendNullable(append(dst, `,"description":`...), b.Description)
	dst = model.ID(b.Pages).AppendNumber(append(dst, `,"pages":`...))
	dst = b.PublishedAt.AppendJSON(append(dst, `,"published_at":`...))
	dst = model.AppendString(append(dst, `,"author":`...), b.Author)
	dst = b.Price.AppendJSON(append(dst, `,"price":`...))
	dst = b.GenreID.AppendNumber(append(dst, `,"genre_id":`...))
	dst = appendTimes(dst, b.CreatedAt, b.UpdatedAt)
	dst = append(dst, `,"genre":`...)
	if text, ok := g.Memo.Text(c); ok {
		dst = append(dst, text...)
	} else {
		from := len(dst)
		dst = appendGenreOfBook(dst, g, c)
		g.Memo.Keep(c, dst[from:])
	}
	return append(dst, '}')
}

func appendGenreOfBook(dst []byte, g *model.Genre, c *model.Category) []byte {
	dst = g.ID.AppendNumber(append(dst, `{"id":`...))
	dst = model.AppendString(append(dst, `,"name":`...), g.Name)
	dst = model.AppendNullable(append(dst, `,"description":`...), g.Description)
	dst = g.CategoryID.AppendNumber(append(dst, `,"category_id":`...))
	dst = appendTimes(dst, g.CreatedAt, g.UpdatedAt)
	dst = appendCategory(append(dst, `,"category":`...), c)
	return append(dst, '}')
}

// appendGenre writes a genre's genre_id too, which is its own id.
func appendGenre(dst []byte, g *model.Genre, c *model.Category) []byte {
	dst = g.ID.AppendNumber(append(dst, `{"id":`...))
	dst = model.AppendString(append(dst, `,"name":`...), g.Name)
	dst = model.AppendNullable(append(dst, `,"description":`...), g.Description)
	dst = g.ID.AppendNumber(append(dst, `,"genre_id":`...))
	dst = g.CategoryID.AppendNumber(append(dst, `,"category_id":`...))
	dst = appendTimes(dst, g.CreatedAt, g.UpdatedAt)
	dst = appendNamed(append(dst, `,"category":`...), c)
	return append(dst, `}}`...)
}

func appendCategory(dst []byte, c *model.Category) []byte {
	return append(appendTimes(appendNamed(dst, c), c.CreatedAt, c.UpdatedAt), '}')
}

// appendNamed begins a category with the fields that it has in a genre.
func appendNamed(dst []byte, c *model.Category) []byte {
	dst = c.ID.AppendNumber(append(dst, `{"id":`...))
	dst = model.AppendString(append(dst, `,"name":`...), c.Name)
	return model.AppendNullable(append(dst, `,"description":`...), c.Description)
}

func appendTimes(dst []byte, created, updated model.Timestamp) []byte {
	dst = created.AppendJSON(append(dst, `,"created_at":`...))
	return updated.AppendJSON(append(dst, `,"updated_at":`...))
}
