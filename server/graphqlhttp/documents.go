package graphqlhttp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

const (
	// documentBytes is the maximum size of the document cache in bytes. A token counts
	// tokenBytes, with its share of plan and price.
	documentBytes = 8 << 20
	tokenBytes    = 512
	// maxCachedDocument is the maximum length in bytes of a cached document. Documents written
	// by hand are shorter, and few of the longest would fill the cache.
	maxCachedDocument = 8 << 10
)

// bytesPerPrice is the number of bytes of an uncached document that cost one unit, because
// parsing and validating 500 bytes takes about as long as a plain query.
const bytesPerPrice = 5

// documents parses and validates documents and caches them by their text.
type documents struct {
	schema        *ast.Schema
	limits        Limits
	introspection Introspection
	cached        lru.Cache[string, *document]
	admission     *admission.Controller

	rules, quietRules *rules.Rules // with and without suggestions
}

// document is a valid document with its compiled operations.
type document struct {
	*ast.QueryDocument
	schema *ast.Field // first introspection field; nil if there is none
	// compiled holds compiled operations by definition, except those that depend on variables.
	compiled sync.Map
}

func newDocuments(
	schema *ast.Schema, limits Limits, introspection Introspection, admission *admission.Controller,
) *documents {
	cached := lru.New(documentBytes, func(text string, _ *document) int {
		return len(text) + (1+tokensOf(text))*tokenBytes
	})
	return &documents{
		schema: schema, limits: limits, introspection: introspection,
		cached: cached, admission: admission,
		rules: documentRules(true), quietRules: documentRules(false),
	}
}

// tokensOf counts the tokens of a document.
func tokensOf(text string) (n int) {
	for tokens := lexer.New(&ast.Source{Input: text}); ; n++ {
		if token, err := tokens.ReadToken(); err != nil || token.Kind == lexer.EOF {
			return n
		}
	}
}

// textPrice returns the price of parsing and validating a document.
func textPrice(text string) int64 { return int64(len(text) / bytesPerPrice) }

func (d *documents) has(text string) bool {
	_, cached := d.cached.Get(text)
	return cached
}

// get returns the document of a text. Parsing waits for a permit, so that expensive texts do
// not delay requests with cached documents.
func (d *documents) get(ctx context.Context, text string) (*document, *refusal) {
	if document, ok := d.cached.Get(text); ok {
		return document, d.introspection.check(ctx, document.schema)
	}
	release, err := d.admission.Acquire(ctx, cost.Estimate{Total: textPrice(text)})
	if err != nil {
		return nil, refuseError(err)
	}
	defer release()
	if document, ok := d.cached.Get(text); ok { // another request parsed it during the wait
		return document, d.introspection.check(ctx, document.schema)
	}
	parsed, schema, refused := d.parse(text)
	if refused != nil {
		return nil, refused
	}
	if refused := d.introspection.check(ctx, schema); refused != nil {
		return nil, refused
	}
	if errs := d.validate(ctx, parsed, text); len(errs) > 0 {
		return nil, invalid(errs...)
	}
	document := &document{QueryDocument: parsed, schema: schema}
	if len(text) <= maxCachedDocument {
		d.cached.Set(text, document)
	}
	return document, nil
}

// parse parses a text and checks its limits. schema is the first introspection field, nil if
// there is none.
func (d *documents) parse(text string) (document *ast.QueryDocument, schema *ast.Field, _ *refusal) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err == nil {
		err = checkSurrogates(text)
	}
	if err != nil {
		failure := gqlerror.Wrap(err)
		if syntax, ok := errors.AsType[*gqlerror.Error](err); ok {
			failure = syntax
		}
		if strings.HasPrefix(failure.Message, "exceeded token limit") {
			return nil, nil, refuse(unexecuted, model.TooLarge,
				fmt.Sprintf("The document has too many tokens: at most %d are allowed.", maxTokens))
		}
		failure.Message = telemetry.Truncate(failure.Message)
		return nil, nil, &refusal{status: unparsable, errors: gqlerror.List{withCode(failure, model.ParseFailed)}}
	}
	if len(document.Operations) == 0 {
		return nil, nil, invalid(validationError(gqlerror.Errorf("The document has no operation.")))
	}
	schema, failure := d.limits.check(document)
	if failure != nil {
		return nil, nil, invalid(failure)
	}
	return document, schema, nil
}

// validate checks a document against the rules of GraphQL. Long documents get no suggestions of
// names, because these take time and are for documents written by hand.
func (d *documents) validate(ctx context.Context, document *ast.QueryDocument, text string) gqlerror.List {
	checks := d.rules
	if !d.introspection.Allows(ctx) || len(text) > maxCachedDocument {
		checks = d.quietRules
	}
	errs := validator.ValidateWithRules(d.schema, document, checks)
	errs = errs[:min(len(errs), maxErrors)]
	for _, err := range errs {
		validationError(err)
	}
	return errs
}

// checkSurrogates refuses an escaped half of a surrogate pair (GraphQL September 2025, section
// 2.9.4), because the lexer replaces it by another character.
func checkSurrogates(text string) error {
	if !strings.Contains(text, `\u`) {
		return nil
	}
	characters := []rune(text) // positions count characters
	for tokens := lexer.New(&ast.Source{Input: text}); ; {
		token, err := tokens.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return err
		}
		if token.Kind == lexer.String &&
			model.CheckJSON([]byte(string(characters[token.Pos.Start:token.Pos.End]))) != nil {
			return gqlerror.ErrorPosf(&token.Pos, "The string has an escape of half a surrogate pair.")
		}
	}
}
