// Package reads finds the rows that a response depends on, for live queries.
package reads

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// Rows are the rows that a response depends on. The zero value has none.
type Rows struct {
	all   bool
	types map[model.CatalogueType][]*model.Condition // a row of the type that meets one of these
}

// Add adds the rows of a type that meet a condition, which does not depend on other rows; nil means all rows.
func (r *Rows) Add(typ model.CatalogueType, where *model.Condition) {
	if r.types == nil {
		r.types = map[model.CatalogueType][]*model.Condition{}
	}
	r.types[typ] = append(r.types[typ], where)
}

// AddRow adds the row of a type with an id.
func (r *Rows) AddRow(typename string, id model.ID) {
	r.Add(typeOf(typename), &model.Condition{Op: model.Eq, Field: "id", Operand: int64(id)})
}

// AddList adds the rows that pass the filter of a list, but not those that its rows refer to.
func (r *Rows) AddList(typename string, args model.PageArgs) {
	selection, err := model.ParseSelection(typename, args.Filter, nil)
	byParent := slices.ContainsFunc(args.OrderBy, func(by *model.OrderBy) bool {
		return slices.ContainsFunc(model.Entities[typename].Orders, func(o model.ComputedOrder) bool {
			return o.Name == by.Field && o.Name != model.Relevance
		})
	})
	if err != nil || byParent || selection.Where.HasRelation() {
		r.AddAll()
		return
	}
	if args.Search != nil { // the relevance of a row depends on all rows
		selection.Where = nil
	}
	r.Add(typeOf(typename), selection.Where)
}

// typeOf returns the type of the rows of an object type: BOOK for Book.
func typeOf(typename string) model.CatalogueType {
	return model.CatalogueType(strings.ToUpper(typename))
}

// AddAll adds all rows of all types.
func (r *Rows) AddAll() { r.all = true }

// AffectedBy reports whether the response may differ after changes.
func (r *Rows) AffectedBy(changes []*model.Change) bool {
	for _, c := range changes {
		if r.all {
			return true
		}
		for _, where := range r.types[c.Type] {
			if c.MayAffect(where) {
				return true
			}
		}
	}
	return false
}
