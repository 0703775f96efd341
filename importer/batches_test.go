package importer

import (
	"context"
	"errors"
	"testing"

	"library-catalogue/graph/model"
)

// TestPanickingReader gets the error of a reader that panics in a goroutine of its own.
func TestPanickingReader(t *testing.T) {
	t.Parallel()
	batches, read := readBatches(t.Context(), nil, 1)
	select {
	case b := <-batches:
		t.Errorf("got %+v", b)
	case err := <-read:
		if !model.IsCode(err, model.Internal) {
			t.Errorf("%v, want an Internal error", err)
		}
	}
}

// TestStoppedImportBeginsNoBatch has no catalogue that could take one.
func TestStoppedImportBeginsNoBatch(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&Importer{}).store(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the batch ended with %v", err)
	}
}

// lacking is a catalogue in which each row lacks the category of its genre.
type lacking struct{ Catalogue }

func (lacking) ImportBooks(_ context.Context, forms []model.Form) (*model.ImportResult, error) {
	result := &model.ImportResult{}
	for i := range forms {
		result.Rejected = append(result.Rejected, model.RejectedRow{Index: i, Problems: model.FieldErrors{{Field: category}}})
	}
	return result, nil
}

// TestCategoryQuestion is asked after the first batch, also if that has a duplicate or a bad row.
func TestCategoryQuestion(t *testing.T) {
	t.Parallel()
	const header = "name,author,pages,published_at,price,genre\n"
	for name, rows := range map[string]string{
		"plain":     "A,X,1,2001,1.00,New\n",
		"duplicate": "A,X,1,2001,1.00,New\nA,X,2,2001,1.00,New\n",
		"bad":       "A,X,1,2001,1.00,New\nB,X,1,2001,1.00,New,more\n",
	} {
		file, err := surveyOf(t, []byte(header+rows), Options{Duplicates: DuplicatesFirst})
		if err != nil {
			t.Fatal(name, err)
		}
		im := Importer{Catalogue: lacking{}, Reject: func(*Row) error { return nil }}
		err = im.Import(t.Context(), file)
		if questions, ok := errors.AsType[Questions](err); !ok || questions[0].Option != "map" {
			t.Errorf("%s: %v, want the question about the category", name, err)
		}
	}
}
