package rest

import (
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// AppendChange appends a change as a JSON object. data has the fields of the row, without the rows that it refers
// to; it is null if the row was deleted.
func AppendChange(dst []byte, c *model.Change) []byte {
	dst = model.AppendString(append(dst, `{"position":`...), c.Position)
	dst = model.AppendString(append(dst, `,"type":`...), strings.ToLower(string(c.Type)))
	dst = c.RowID.AppendNumber(append(dst, `,"id":`...))
	dst = model.AppendString(append(dst, `,"operation":`...), string(c.Operation))
	dst = strconv.AppendInt(append(dst, `,"version":`...), c.Version, 10)
	dst = c.At.AppendJSON(append(dst, `,"at":`...))
	dst = append(dst, `,"actor":`...)
	if c.Actor == "" {
		dst = append(dst, "null"...)
	} else {
		dst = model.AppendString(dst, c.Actor)
	}
	dst = append(dst, `,"data":`...)
	switch {
	case c.Book != nil:
		dst = append(appendFields(dst, bookFields, c.Book), '}')
	case c.Genre != nil:
		dst = append(appendFields(dst, topGenreFields, c.Genre), '}')
	case c.Category != nil:
		dst = appendCategory(dst, c.Category)
	default:
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}
