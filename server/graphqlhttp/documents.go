package graphqlhttp

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/maypok86/otter/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
)

const (
	// documentBytes is how much memory the documents may take that are kept, parsed
	// and validated, and tokenBytes what each token takes of it, with its share of
	// plan and price.
	documentBytes = 8 << 20
	tokenBytes    = 512
	// maxCachedDocument is how many bytes of text a document may have to be kept.
	maxCachedDocument = 8 << 10
	// maxMessage is how many bytes of what is wrong with a document are said.
	maxMessage = 500
)

// documents makes documents of texts: parsed, within the limits, and valid.
// What it finds is kept with the text.
type documents struct {
	schema        *ast.Schema
	limits        Limits
	introspection bool // with it, errors suggest names of the schema
	kept          *otter.Cache[string, *document]
	admit         func(context.Context) (release func(), _ error)

	rules, quietRules *rules.Rules // with and without suggestions
}

// document is a valid document, and what has been found out about it.
type document struct {
	*ast.QueryDocument
	plans plan.Kept
	costs cost.Kept
}

func newDocuments(schema *ast.Schema, limits Limits, introspection bool, admit func(context.Context) (func(), error)) (*documents, error) {
	kept, err := otter.New(&otter.Options[string, *document]{
		MaximumWeight: documentBytes,
		Weigher:       func(text string, _ *document) uint32 { return uint32(len(text) + (1+tokensOf(text))*tokenBytes) },
	})
	if err != nil {
		return nil, err
	}
	return &documents{
		schema: schema, limits: limits, introspection: introspection,
		kept: kept, admit: admit,
		rules: documentRules(true), quietRules: documentRules(false),
	}, nil
}

// tokensOf counts the tokens of a document.
func tokensOf(text string) (n int) {
	for tokens := lexer.New(&ast.Source{Input: text}); ; n++ {
		if token, err := tokens.ReadToken(); err != nil || token.Kind == lexer.EOF {
			return n
		}
	}
}

// knows tells whether the document of a text is there already.
func (d *documents) knows(text string) bool {
	_, known := d.kept.GetIfPresent(text)
	return known
}

// get gives the document of a text, or what is wrong with it. One that is not
// known waits for its turn, so that texts made to be long to read hold up nobody
// whose document is known.
func (d *documents) get(ctx context.Context, text string) (*document, gqlerror.List) {
	if document, ok := d.kept.GetIfPresent(text); ok {
		return document, nil
	}
	release, err := d.admit(ctx)
	if err != nil {
		return nil, gqlerror.List{coded(ctx, model.AsError(err).Code, model.AsError(err).Message)}
	}
	defer release()
	if document, ok := d.kept.GetIfPresent(text); ok { // by now
		return document, nil
	}
	return d.read(text)
}

// read makes the document of a text, and keeps it. Very long texts are not kept:
// few of them would fill the memory. Nor does anyone write them by hand, so names
// are not suggested, which takes time in their length.
func (d *documents) read(text string) (*document, gqlerror.List) {
	parsed, err := d.parse(text)
	if err != nil {
		return nil, gqlerror.List{short(err)}
	}
	checks := d.rules
	if !d.introspection || len(text) > maxCachedDocument {
		checks = d.quietRules
	}
	errs := validator.ValidateWithRules(d.schema, parsed, checks)
	errs = errs[:min(len(errs), d.limits.Errors)]
	for _, err := range errs {
		errcode.Set(short(err), errcode.ValidationFailed)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	document := &document{QueryDocument: parsed}
	if len(text) <= maxCachedDocument {
		d.kept.Set(text, document)
	}
	return document, nil
}

// parse reads a text and holds it to the limits.
func (d *documents) parse(text string) (*ast.QueryDocument, *gqlerror.Error) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, d.limits.Tokens)
	if err == nil {
		err = wholeCharacters(text)
	}
	if err != nil {
		failure := gqlerror.Wrap(err)
		if wrong, ok := err.(*gqlerror.Error); ok {
			failure = wrong
		}
		if strings.HasPrefix(failure.Message, "exceeded token limit") {
			return nil, withCode(gqlerror.Errorf("The document is too long: %d tokens are allowed.", d.limits.Tokens), model.TooLarge)
		}
		errcode.Set(failure, errcode.ParseFailed)
		return nil, failure
	}
	if len(document.Operations) == 0 {
		failure := gqlerror.Errorf("The document has no operation.")
		errcode.Set(failure, errcode.ValidationFailed)
		return nil, failure
	}
	if failure := d.limits.check(document); failure != nil {
		return nil, failure
	}
	if !d.introspection {
		if field := introspected(document); field != nil {
			failure := gqlerror.ErrorPosf(field.Position, "This server does not tell its schema: %s is off.", field.Name)
			errcode.Set(failure, errcode.ValidationFailed)
			return nil, failure
		}
	}
	return document, nil
}

// wholeCharacters finds an escape in a string that is one half of a surrogate
// pair (GraphQL September 2025, section 2.9.4), where the lexer, which has
// accepted the text, would put another character.
func wholeCharacters(text string) error {
	if !strings.Contains(text, `\u`) {
		return nil
	}
	characters := []rune(text) // positions count them
	for tokens := lexer.New(&ast.Source{Input: text}); ; {
		token, err := tokens.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return err
		}
		if token.Kind == lexer.String && model.CheckJSON([]byte(string(characters[token.Pos.Start:token.Pos.End]))) != nil {
			return gqlerror.ErrorPosf(&token.Pos, "The string has an escape that is one half of a surrogate pair.")
		}
	}
}

// introspected finds a field that asks for the schema.
func introspected(document *ast.QueryDocument) *ast.Field {
	var find func(ast.SelectionSet) *ast.Field
	find = func(set ast.SelectionSet) (found *ast.Field) {
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				if s.Name == "__schema" || s.Name == "__type" {
					return s
				}
				found = find(s.SelectionSet)
			case *ast.InlineFragment:
				found = find(s.SelectionSet)
			}
			if found != nil {
				return found
			}
		}
		return nil
	}
	for _, operation := range document.Operations {
		if found := find(operation.SelectionSet); found != nil {
			return found
		}
	}
	for _, fragment := range document.Fragments {
		if found := find(fragment.SelectionSet); found != nil {
			return found
		}
	}
	return nil
}

// short cuts a message that repeats a long text of the client.
func short(err *gqlerror.Error) *gqlerror.Error {
	err.Message = truncate(err.Message)
	return err
}

// truncate cuts a text of the client that may be long.
func truncate(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
}

type documentKey struct{}

// withDocument gives a context in which the executor finds the document of an
// operation.
func withDocument(ctx context.Context, document *document) context.Context {
	return context.WithValue(ctx, documentKey{}, document.QueryDocument)
}

// fromContext stands where the executor has its cache, so that it neither parses
// nor validates by itself.
type fromContext struct{}

// Get implements graphql.Cache.
func (fromContext) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	document, ok := ctx.Value(documentKey{}).(*ast.QueryDocument)
	return document, ok
}

// Add implements graphql.Cache.
func (fromContext) Add(context.Context, string, *ast.QueryDocument) {}
