package graphqlhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// refusal is the reason why a request is not executed.
type refusal struct {
	status int    // 0 for an invalid document or variables: the media type decides
	allow  string // allowed methods, for status 405
	errors gqlerror.List
}

func (r *refusal) Error() string { return r.errors.Error() }

func refusalOf(err error) *refusal {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	return refuseError(err)
}

func refuse(status int, code model.Code, message string) *refusal {
	return &refusal{status: status, errors: gqlerror.List{newError(code, message)}}
}

func badRequest(message string) *refusal {
	return refuse(http.StatusBadRequest, model.BadUserInput, message)
}

// badJSON returns the refusal of a text that is not a valid JSON object.
func badJSON(err error, text, with string) *refusal {
	if tooLarge, ok := errors.AsType[tooLargeError](err); ok {
		return refuse(http.StatusBadRequest, model.TooLarge, string(tooLarge))
	}
	if errors.Is(err, errNotObject) {
		return badRequest(text + " must be a JSON object" + with)
	}
	return badRequest(text + " must be well-formed JSON: " + err.Error() + ".")
}

// errNotObject reports that a text is not a JSON object.
var errNotObject = errors.New("not a JSON object")

// tooLargeError reports that a value exceeds a limit.
type tooLargeError string

func (e tooLargeError) Error() string { return string(e) }

// invalid returns the refusal of a document or its variables.
func invalid(errs ...*gqlerror.Error) *refusal { return &refusal{errors: errs} }

// refuseError returns the refusal for an error from outside GraphQL.
func refuseError(err error) *refusal {
	e := model.AsError(err)
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	return refuse(status, e.Code, e.Message)
}

var statuses = map[model.Code]int{
	model.Unauthenticated: http.StatusUnauthorized,
	model.Forbidden:       http.StatusForbidden,
	model.RateLimited:     http.StatusTooManyRequests,
	model.Unavailable:     http.StatusServiceUnavailable,
}

// newError returns an error that does not come from a resolver.
func newError(code model.Code, message string) *gqlerror.Error {
	return withCode(gqlerror.Errorf("%s", message), code)
}

// withCode sets the extensions.code of an error.
func withCode(err *gqlerror.Error, code model.Code) *gqlerror.Error {
	errcode.Set(err, string(code.InGraphQL()))
	return err
}

func validationError(err *gqlerror.Error) *gqlerror.Error {
	err.Message = telemetry.Truncate(err.Message)
	return withCode(err, model.ValidationFailed)
}

// presenter turns errors of resolvers into errors of responses.
type presenter struct{ logger *slog.Logger }

// presentError returns an error for the client, with its code and the names of its fields in the
// schema, and without internal details.
func (p presenter) presentError(ctx context.Context, err error) *gqlerror.Error {
	out := graphql.DefaultErrorPresenter(ctx, err)
	if out.Extensions["code"] != nil {
		return out
	}
	e, ours := errors.AsType[*model.Error](err)
	if !ours {
		if _, fromExecutor := errors.AsType[*gqlerror.Error](err); fromExecutor && out.Err == nil {
			return withCode(out, model.BadUserInput) // a value that does not fit the schema
		}
		e = model.AsError(err)
	}
	// A retry, an expected refusal and a disconnected client are not failures.
	_, expected := model.RetryAfter(err)
	quiet := expected || model.RunsAgain(err) || errors.Is(ctx.Err(), context.Canceled)
	if e.Code == model.Internal || e.Code == model.Unavailable && !quiet {
		p.logger.ErrorContext(ctx, "request failed", "error", err, "path", out.Path.String(), "request_id",
			telemetry.RequestOf(ctx).ID)
	}
	out.Message = e.Message
	withCode(out, e.Code)
	if e.InDoubt {
		out.Extensions["outcome"] = "UNKNOWN"
	}
	if e.Version != 0 {
		out.Extensions["currentVersion"] = e.Version
	}
	if len(e.Fields) > 0 {
		out.Extensions["fields"] = e.Fields.InGraphQL()
	}
	return out
}
