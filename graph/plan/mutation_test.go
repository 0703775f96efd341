package plan_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// replay lets a mutation be run by both executors: the second time the resolver
// is not called, and the first result is given again.
type replay struct {
	calls  int
	result any
	err    error
}

func (r *replay) around(ctx context.Context, next graphql.Resolver) (any, error) {
	if graphql.GetFieldContext(ctx).Object != "Mutation" {
		return next(ctx)
	}
	if r.calls == 0 {
		r.result, r.err = next(ctx)
	}
	r.calls++
	return r.result, r.err
}

// mutate makes a random mutation of a field, which selects what is given, or
// anything.
func mutate(p *pair, field, body string, cursors map[string][]string, r *rand.Rand) (query string, variables map[string]any) {
	def := p.schema.Schema().Mutation.Fields.ForName(field)
	g := newGenerator(p.schema.Schema(), cursors, r, 20)
	if body == "" {
		body = g.directives() + g.selections(g.schema.Types[def.Type.Name()], 4)
	}
	declared := []string{"$input: " + def.Arguments.ForName("input").Type.String()}
	for _, name := range g.order {
		declared = append(declared, fmt.Sprintf("$%s: %s", name, g.types[name]))
	}
	verb, noun, parents := field[:6], field[6:], []string{"1", "2", "3", "99"}
	input := map[string]any{"name": fmt.Sprintf("Name %d \"x\" 🐉", r.IntN(50)), "description": []any{nil, "a\nb"}[r.IntN(2)]}
	switch noun {
	case "Book":
		maps.Copy(input, map[string]any{"pages": 1 + r.IntN(900), "publishedAt": "1999-02-28", "author": fmt.Sprint("Author ", r.IntN(9)), "price": "12.30", "genreId": parents[r.IntN(4)]})
	case "Genre":
		input["categoryId"] = parents[r.IntN(4)]
	}
	if verb == "update" {
		input = map[string]any{"id": fmt.Sprint(1 + r.IntN(6)), "patch": input}
	}
	if r.IntN(2) == 0 {
		input["clientMutationId"] = fmt.Sprint("m", r.IntN(100))
	}
	variables = g.variables()
	variables["input"] = input
	return fmt.Sprintf("mutation M(%s) {%s%s(input: $input)%s}%s", strings.Join(declared, ", "), []string{"", "m: "}[r.IntN(2)], field, body, strings.Join(g.fragments, "")), variables
}

// planned are the mutations whose payloads are written by a plan. Those of deleted
// rows and of the sample have nothing to look up, and those of many rows are few.
var planned = []string{
	"createBook", "updateBook", "upsertBook", "createGenre", "updateGenre", "upsertGenre", "createCategory", "updateCategory", "upsertCategory",
}

// TestFieldsOfMutations wants every field of a payload to be known to the plan,
// but those of the mutations that are left to the reference executor.
func TestFieldsOfMutations(t *testing.T) {
	t.Parallel()
	r := shelf(t, catalogtest.SQLite(t))
	p := newPair(r, func(ctx context.Context) context.Context {
		return r.WithSnapshot(model.WithPrincipal(ctx, model.Principal{}))
	})
	random := rand.New(rand.NewPCG(4, 4))
	for _, field := range p.schema.Schema().Mutation.Fields {
		payload := p.schema.Schema().Types[field.Type.Name()]
		if strings.HasPrefix(field.Name, "delete") || field.Name == "loadSample" || payload.Fields.ForName("results") != nil {
			continue
		}
		if !slices.Contains(planned, field.Name) {
			t.Errorf("%s is neither planned nor left", field.Name)
			continue
		}
		for _, selected := range payload.Fields {
			body := "{" + selected.Name + "}"
			if !p.schema.Schema().Types[selected.Type.Name()].IsLeafType() {
				body = "{" + selected.Name + "{__typename}}"
			}
			for { // until it is one that succeeds
				before, _ := p.schema.Counts()
				query, variables := mutate(p, field.Name, body, nil, random)
				_, errs := p.answer(t, p.planned, query, variables)
				if after, _ := p.schema.Counts(); errs == "null" && after == before {
					t.Errorf("no plan for %s", query)
				}
				if errs == "null" {
					break
				}
			}
		}
	}
}

// TestReferenceOfMutations compares random mutations with the reference executor,
// also where look-ups fail after the write: the answers must be the same to the
// byte, and the resolver must be called once.
func TestReferenceOfMutations(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]model.ID{"all is well": 0, "look-ups fail": 2} {
		t.Run(name, func(t *testing.T) {
			r := shelf(t, catalogtest.SQLite(t))
			p := newPair(failing{r, missing}, func(ctx context.Context) context.Context {
				return r.WithSnapshot(model.WithPrincipal(ctx, model.Principal{}))
			})
			cursors := p.cursors(t)
			played := &replay{}
			for _, e := range []*executor.Executor{p.planned, p.reference} {
				e.AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) { return played.around(ctx, next) })
			}
			random := rand.New(rand.NewPCG(3, uint64(missing)))
			each := operations / 100
			failed := 0
			for range each {
				for _, field := range planned {
					*played = replay{}
					query, variables := mutate(p, field, "", cursors, random)
					gotData, gotErrs := p.answer(t, p.planned, query, variables)
					if played.calls > 1 {
						t.Fatalf("%s\nthe resolver was called %d times", query, played.calls)
					}
					wantData, wantErrs := p.answer(t, p.reference, query, variables)
					if gotData != wantData {
						t.Fatalf("%s\nvariables %v\nplanned   %s\nreference %s", query, variables, gotData, wantData)
					}
					if diff := cmp.Diff(sortedErrors(t, wantErrs), sortedErrors(t, gotErrs)); diff != "" {
						t.Fatalf("%s\nvariables %v\nerrors (-reference +planned):\n%s", query, variables, diff)
					}
					if wantErrs != "null" {
						failed++
					}
				}
			}
			byPlan, _ := p.schema.Counts()
			if all := each * len(planned); int(byPlan) < all/2 || failed < all/20 {
				t.Errorf("of %d mutations %d took the plan and %d failed: the check says little", all, byPlan, failed)
			}
		})
	}
}
