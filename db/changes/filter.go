package changes

import (
	"encoding/json"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// Filter selects changes. A reset passes it whatever the ids and the condition are.
type Filter struct {
	types []model.CatalogueType
	ids   []model.ID
	where *model.Condition // nil unless there is one type
	key   string           // identifies the filter; empty for none
	olds  bool             // also read the rows before the changes
}

// NewFilter checks the arguments.
func NewFilter(args model.ChangeArgs) (f Filter, err error) {
	f.types, f.ids = args.Types, args.IDs
	if f.types == nil {
		f.types = model.CatalogueTypes
	}
	if len(f.types) != 1 && args.IDs != nil {
		return f, model.BadArgument("ids", "The ids argument needs exactly one type in types.")
	}
	if len(f.types) != 1 && len(args.Filter) > 0 {
		return f, model.BadArgument("filter", "The filter argument needs exactly one type in types.")
	}
	for _, t := range f.types {
		if _, known := types[t]; !known {
			return f, model.BadArgument("types", "The types argument must contain BOOK, GENRE or CATEGORY.")
		}
	}
	if len(args.Filter) > 0 {
		selection, err := model.ParseSelection(types[f.types[0]].name, args.Filter, nil)
		if err != nil {
			return f, err
		}
		f.where = selection.Where
	}
	if args.Types != nil || args.IDs != nil || args.Filter != nil {
		key, _ := json.Marshal([]any{args.Types, args.IDs, args.Filter}) // accepted above, so they have a JSON text
		f.key = string(key)
	}
	return f, nil
}

// matchSQL returns the condition that a change c passes a filter with its row before or after it.
func (f Filter) matchSQL(b *query.Builder) string {
	codes := make([]string, len(f.types))
	for i, t := range f.types {
		codes[i] = "'" + types[t].code + "'"
	}
	match := "(1 = 0)"
	if len(codes) > 0 {
		match = "c.type IN (" + strings.Join(codes, ", ") + ")"
	}
	row := ""
	if f.ids != nil {
		row += " AND " + b.Dialect.In("c.row_id", b.Arg(b.Dialect.Array(f.ids)))
	}
	if f.where != nil {
		t := types[f.types[0]].table
		row += ` AND (c.old IS NOT NULL AND ` + b.FilterImage(f.where, t, "c.row_id", "c.old") +
			` OR EXISTS (SELECT 1 FROM changes n WHERE n.row_id = c.row_id AND n.seq = c.next AND n.old IS NOT NULL
AND ` + b.FilterImage(f.where, t, "c.row_id", "n.old") + `)` +
			` OR c.next IS NULL AND c.operation <> 'd' AND EXISTS (SELECT 1 FROM ` + t.Name +
			` r WHERE r.id = c.row_id AND ` + b.Filter(f.where, t, "r") + `))`
	}
	if row == "" {
		return "(" + match + ")"
	}
	return "(" + match + " AND (c.operation = 'r' OR (1 = 1" + row + ")))"
}
