package serve

import (
	"context"
	_ "embed"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/resolvers"
)

// sampleCSV holds facts about real books; the prices are made up.
//
//go:embed sample.csv
var sampleCSV string

// seedSample puts the sample into a catalogue in which nothing was ever written.
func seedSample(ctx context.Context, store *db.Store, catalogue *resolvers.Resolver) error {
	revision, err := store.Revision(ctx)
	if err != nil || revision != (model.Revision{}) {
		return err
	}
	return importSample(ctx, catalogue)
}

// importSample puts the sample into a catalogue, all books or none.
func importSample(ctx context.Context, catalogue *resolvers.Resolver) error {
	file, err := importer.Survey(ctx, source.FromText(sampleCSV), importer.Options{})
	if err != nil {
		return err
	}
	im := &importer.Importer{Catalogue: catalogue}
	return im.ImportStrict(ctx, file)
}
