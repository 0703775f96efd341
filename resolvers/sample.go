package resolvers

import (
	"context"
	_ "embed"
	"encoding/csv"
	"strings"

	"library-catalogue/graph/model"
)

// sampleCSV contains facts about real books, with invented prices.
//
//go:embed sample.csv
var sampleCSV string

func (r *mutationResolver) LoadSample(
	ctx context.Context, input model.LoadSampleInput,
) (*model.LoadSamplePayload, error) {
	if err := authorise(ctx); err != nil {
		return nil, err
	}
	payload := &model.LoadSamplePayload{ClientMutationID: input.ClientMutationID}
	err := r.Atomically(ctx, func(ctx context.Context) error {
		books, err := r.store.Unchecked(ctx).Books.Count(ctx, model.Selection{})
		if err == nil && books > 0 {
			err = model.Errorf(model.Conflict, "The catalogue already has books.")
		}
		if err == nil {
			payload.Count, err = r.ImportSample(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return payload, nil
}

// ImportSample imports the sample and returns how many books it created.
func (r *Resolver) ImportSample(ctx context.Context) (int, error) {
	records, err := csv.NewReader(strings.NewReader(sampleCSV)).ReadAll()
	if err != nil {
		return 0, err
	}
	rows := make([]model.Form, len(records)-1)
	for i, record := range records[1:] {
		rows[i] = model.Form{}
		for column, name := range records[0] {
			rows[i][name] = model.Text(record[column])
		}
	}
	result, err := r.ImportBooks(ctx, rows)
	if err != nil {
		return 0, err
	}
	return result.Created, nil
}
