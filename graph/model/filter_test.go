package model_test

import (
	"math"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// TestIDFilter gives each operand to a page and compares the range of ids.
func TestIDFilter(t *testing.T) {
	id := func(n int64) graphql.Omittable[*model.ID] {
		v := model.ID(n)
		return graphql.OmittableOf(&v)
	}
	tests := []struct {
		name   string
		filter *model.Filter
		want   model.Range
		refuse bool
	}{
		{name: "none"},
		{name: "empty", filter: &model.Filter{}},
		{name: "no operand", filter: &model.Filter{ID: &model.IDFilter{}}},
		{name: "eq", filter: &model.Filter{ID: &model.IDFilter{Eq: id(5)}}, want: model.Range{Above: 4, Below: 6}},
		{name: "eq no row", filter: &model.Filter{ID: &model.IDFilter{Eq: id(0)}}, want: model.Range{Below: 1}},
		{name: "gt", filter: &model.Filter{ID: &model.IDFilter{Gt: id(5)}}, want: model.Range{Above: 5}},
		{name: "gt all", filter: &model.Filter{ID: &model.IDFilter{Gt: id(0)}}},
		{name: "gte", filter: &model.Filter{ID: &model.IDFilter{Gte: id(5)}}, want: model.Range{Above: 4}},
		{name: "lt", filter: &model.Filter{ID: &model.IDFilter{Lt: id(5)}}, want: model.Range{Below: 5}},
		{name: "lt none", filter: &model.Filter{ID: &model.IDFilter{Lt: id(0)}}, want: model.Range{Below: 1}},
		{name: "lte", filter: &model.Filter{ID: &model.IDFilter{Lte: id(5)}}, want: model.Range{Below: 6}},
		{name: "lte none", filter: &model.Filter{ID: &model.IDFilter{Lte: id(0)}}, want: model.Range{Below: 1}},
		{name: "lte all", filter: &model.Filter{ID: &model.IDFilter{Lte: id(math.MaxInt64)}}},
		{name: "both ends", filter: &model.Filter{ID: &model.IDFilter{Gt: id(2), Gte: id(9), Lt: id(20), Lte: id(11)}}, want: model.Range{Above: 8, Below: 12}},
		{name: "null", filter: &model.Filter{ID: &model.IDFilter{Gt: graphql.OmittableOf[*model.ID](nil)}}, refuse: true},
		{name: "no id", filter: &model.Filter{ID: &model.IDFilter{Gt: id(int64(model.ParseID("x")))}}, refuse: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := model.PageArgs{Filter: tt.filter}.Page("Book")
			if model.IsCode(err, model.BadUserInput) != tt.refuse || !tt.refuse && err != nil {
				t.Fatalf("error %v", err)
			}
			if page.Range != tt.want {
				t.Errorf("got %+v, want %+v", page.Range, tt.want)
			}
		})
	}
}
