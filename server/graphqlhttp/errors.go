package graphqlhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// ErrorCode returns what extensions.code says of a failure: its own code, but that
// GraphQL clients know a stale version as any other conflict.
func ErrorCode(code model.Code) string {
	if code == model.Stale {
		code = model.Conflict
	}
	return string(code)
}

// fieldMessage is what is wrong with one field, as GraphQL clients see it.
type fieldMessage struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// present makes the error of a resolver one for the client: with its code, its
// fields by their names in the schema, and no word of what is inside.
func present(ctx context.Context, err error) *gqlerror.Error {
	out := graphql.DefaultErrorPresenter(ctx, err)
	if out.Extensions["code"] != nil {
		return identify(ctx, out)
	}
	e, ours := errors.AsType[*model.Error](err)
	if !ours {
		if _, fromExecutor := errors.AsType[*gqlerror.Error](err); fromExecutor && out.Err == nil {
			return identify(ctx, withCode(out, model.BadUserInput)) // a value that the schema does not take
		}
		e = model.AsError(err)
	}
	// It is no failure that the request is run again, nor that its client has gone.
	quiet := errors.Is(err, model.ErrSnapshotChanged) || e == model.ErrRetry || errors.Is(ctx.Err(), context.Canceled)
	if e.Code == model.Internal || e.Code == model.Unavailable && !quiet {
		slog.ErrorContext(ctx, "request failed", "error", err, "path", out.Path.String(), "request_id", model.StatsOf(ctx).RequestID)
	}
	out.Message = e.Message
	withCode(out, e.Code)
	if len(e.Fields) > 0 {
		fields := make([]fieldMessage, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = fieldMessage{Field: model.Camel(f.Field), Message: f.Message}
		}
		out.Extensions["fields"] = fields
	}
	return identify(ctx, out)
}

// coded makes an error that no resolver made.
func coded(ctx context.Context, code model.Code, message string) *gqlerror.Error {
	return identify(ctx, withCode(gqlerror.Errorf("%s", message), code))
}

func withCode(err *gqlerror.Error, code model.Code) *gqlerror.Error {
	if err.Extensions == nil {
		err.Extensions = map[string]any{}
	}
	err.Extensions["code"] = ErrorCode(code)
	return err
}

// identify adds the id under which the log knows the request.
func identify(ctx context.Context, err *gqlerror.Error) *gqlerror.Error {
	if err.Extensions == nil {
		err.Extensions = map[string]any{}
	}
	err.Extensions["requestId"] = model.StatsOf(ctx).RequestID
	return err
}

// recovered makes a panic in a resolver an error.
func recovered(ctx context.Context, value any) error {
	model.StatsOf(ctx).AddPanic()
	slog.ErrorContext(ctx, "panic", "value", value, "stack", string(debug.Stack()), "request_id", model.StatsOf(ctx).RequestID)
	return model.AsError(fmt.Errorf("panic: %v", value))
}

// lastName gives the innermost name of a path: the field that a value stood in.
func lastName(path ast.Path) string {
	for i := len(path) - 1; i >= 0; i-- {
		if name, ok := path[i].(ast.PathName); ok {
			return string(name)
		}
	}
	return ""
}

// inputName gives the names within an input on the way to the field that a value
// stood in: genre.create.name, or books.3.name. Those of a patch are as if they
// stood in the input. Outside of an input it is the innermost name.
func inputName(path ast.Path) string {
	input := slices.Index(path, ast.PathElement(ast.PathName("input")))
	if input < 0 {
		return lastName(path)
	}
	isPatch := func(element ast.PathElement) bool { return element == ast.PathName("patch") }
	return joined(slices.DeleteFunc(slices.Clone(path[input+1:]), isPatch))
}

// joined writes a path with dots, as the names of fields are.
func joined(path ast.Path) string {
	names := make([]string, len(path))
	for i, element := range path {
		names[i] = fmt.Sprint(element)
	}
	return strings.Join(names, ".")
}

// words writes publishedAt as "published at".
func words(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
