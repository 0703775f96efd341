package plan_test

import (
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
)

// BenchmarkPlan runs operations by a plan and by the reference executor, over the
// 57 books of the shelf.
func BenchmarkPlan(b *testing.B) {
	operations := []struct{ name, query string }{
		{"book", `{book(id: 1) {id name genre {name category {name}}}}`},
		{"names", `{books(first: 50) {nodes {id name}}}`},
		{"nested", `{books(first: 50) {nodes {id name description pages publishedAt author price createdAt updatedAt
			genre {id name description createdAt updatedAt category {id name description createdAt updatedAt}}}}}`},
		{"children", `{genres(first: 9) {nodes {name books(first: 5) {totalCount nodes {id name} pageInfo {hasNextPage endCursor}}}}}`},
	}
	for _, engine := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", catalogtest.SQLite}, {"postgres", catalogtest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			catalogue := shelf(b, engine.url(b))
			p := newPair(catalogue, catalogue.WithSnapshot)
			for _, o := range operations {
				for _, way := range []string{"plan", "reference"} {
					b.Run(o.name+"/"+way, func(b *testing.B) {
						b.ReportAllocs()
						ctx, stats := stats.With(b.Context())
						n, size := 0, 0
						for b.Loop() {
							data, errs := p.answerIn(b, ctx, way == "plan", o.query, nil)
							if errs != "null" {
								b.Fatal(errs)
							}
							n, size = n+1, len(data)
						}
						b.SetBytes(int64(size))
						b.ReportMetric(float64(stats.Statements())/float64(n), "stmts/op")
					})
				}
			}
		})
	}
}
