package db

import (
	"context"
	"testing"
	"testing/synctest"

	"library-catalogue/graph/model"
)

// TestRevisionReadsAreShared wants a caller who comes while a read is under way
// to get the next one, since that one may have begun before a commit that the
// caller knows of; and all who wait to get the same.
func TestRevisionReadsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads revisionReads
		begun, finish := 0, make(chan struct{})
		read := func(context.Context) (model.Revision, error) {
			begun++
			r := model.Revision{Catalogue: int64(begun)}
			<-finish
			return r, nil
		}
		first := reads.join(read)
		synctest.Wait() // the first read is under way
		second, third := reads.join(read), reads.join(read)
		if first == second || second != third {
			t.Error("a caller joined a read that had begun, or those who wait do not share one")
		}
		finish <- struct{}{}
		finish <- struct{}{}
		<-first.done
		<-second.done
		if first.revision.Catalogue != 1 || second.revision.Catalogue != 2 || begun != 2 {
			t.Errorf("%d reads; the callers got %v and %v", begun, first.revision, second.revision)
		}
	})
}
