package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// mutation is a compiled mutation of one field. The reference executor calls its
// resolver, and so checks the arguments and answers where that fails. What is
// selected of its payload is read and written by the plan.
type mutation struct {
	call *ast.OperationDefinition // the operation, with next to nothing selected
	key  []byte
	load func(r *run, payload any) (values, error)
}

// mutation compiles a mutation. Those of several fields are left to the reference
// executor: each must be answered before the next is called.
func (c *compiler) mutation(operation *ast.OperationDefinition) *mutation {
	fields := c.collect(operation.SelectionSet, "Mutation")
	var load func(*run, any) (values, error)
	if len(fields) == 1 {
		load = c.payload(fields[0])
	}
	if load == nil {
		c.unknown = true
		return nil
	}
	f := fields[0]
	field, call := *f.Field, *operation
	field.Directives, call.Directives = nil, nil // that is decided
	field.SelectionSet = ast.SelectionSet{&ast.Field{Alias: "__typename", Name: "__typename"}}
	call.SelectionSet = ast.SelectionSet{&field}
	return &mutation{&call, keyOf(f.Alias, true), load}
}

func (c *compiler) payload(f graphql.CollectedField) func(*run, any) (values, error) {
	switch f.Name {
	case "createBook", "updateBook", "upsertBook":
		return payload(c, f, "book", c.book)
	case "createGenre", "updateGenre", "upsertGenre":
		return payload(c, f, "genre", c.genre)
	case "createCategory", "updateCategory", "upsertCategory":
		return payload(c, f, "category", c.category)
	}
	return nil
}

// payload compiles what is selected of a payload with a row, which is the field of
// that name.
func payload[T any](c *compiler, f graphql.CollectedField, name string, compileRow func(ast.SelectionSet) *selection[*T]) func(*run, any) (values, error) {
	type answer = *model.Payload[T]
	leaves := map[string]leaf[answer]{
		"clientMutationId": func(dst []byte, p answer) []byte { return model.AppendNullable(dst, p.ClientMutationID) },
		"created":          func(dst []byte, p answer) []byte { return appendBool(dst, p.Created) },
	}
	typename := f.Definition.Type.Name()
	s := compileSelection(c, c.collect(f.Selections, typename), typename, leaves, func(sub graphql.CollectedField) relation[answer] {
		if sub.Name != name {
			return nil
		}
		return &toValue[answer, *T]{value: func(p answer) *T { return p.Row }, selection: compileRow(sub.Selections)}
	})
	return func(r *run, payload any) (values, error) { return s.load(r, []answer{payload.(answer)}) }
}

// mutate answers a mutation. Its resolver is called once, whatever fails after it.
func (s *Schema) mutate(ctx context.Context, p *Plan) *graphql.Response {
	operation := graphql.GetOperationContext(ctx)
	var payload any
	once := func(ctx context.Context, next graphql.Resolver) (any, error) {
		if graphql.GetFieldContext(ctx).Object != "Mutation" {
			return operation.ResolverMiddleware(ctx, next)
		}
		if payload != nil {
			return payload, nil
		}
		result, err := operation.ResolverMiddleware(ctx, next)
		if err == nil {
			payload = result
		}
		return result, err
	}
	called := withOperation(ctx, operation, p.mutation.call, once)
	if response := s.ExecutableSchema.Exec(called)(called); payload == nil {
		s.reference.Add(1)
		return response
	}
	var data []byte
	err := recovered(func() error {
		values, err := p.mutation.load(p.run(ctx, s.source, operation.Variables), payload)
		if err == nil {
			data = append(optionsOf(ctx).buffer, '{')
			data = values.write(append(data, p.mutation.key...), 0)
			data = append(data, '}')
		}
		return err
	})
	if err == nil {
		return s.answer(ctx, data)
	}
	s.notePanic(ctx, err)
	around := graphql.FieldMiddleware(once)
	if databaseFailed(err) {
		around = failingWith(err, once)
	}
	return s.fallBack(withOperation(ctx, operation, operation.Operation, around))
}

// withOperation returns the context of an operation with another definition, and
// another way to call resolvers.
func withOperation(ctx context.Context, from *graphql.OperationContext, definition *ast.OperationDefinition, around graphql.FieldMiddleware) context.Context {
	return graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery: from.RawQuery, Variables: from.Variables, OperationName: from.OperationName, Doc: from.Doc,
		Extensions: from.Extensions, Headers: from.Headers, Operation: definition, DisableIntrospection: from.DisableIntrospection,
		RecoverFunc: from.RecoverFunc, ResolverMiddleware: around, RootResolverMiddleware: from.RootResolverMiddleware, Stats: from.Stats,
	})
}
