package graphqlhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// refusal is the reason why a request is not executed.
type refusal struct {
	status statuses
	allow  string // allowed methods, for status 405
	errors gqlerror.List
}

// statuses are the HTTP statuses of a response by its media type.
type statuses struct {
	graphQL int // graphQLResponse
	others  int // plainJSON and eventStream, whose clients expect 200 for all that reaches GraphQL
}

// The statuses by kind of failure (GraphQL over HTTP, September 2026, section "Status Codes"). Those of HTTP, such as
// 405, and of package envelope are the same for each media type.
var (
	malformed   = anyMedia(400)      // JSON or an address that cannot be read
	illFormed   = statuses{422, 400} // JSON that is not a GraphQL request
	unparsable  = statuses{400, 200} // syntax error of the document
	unexecuted  = statuses{422, 200} // invalid document, operation or variables, or over a limit
	untrusted   = statuses{403, 200} // not a trusted document
	partialData = statuses{294, 200} // errors with data, also with null
)

// anyMedia returns a status for every media type.
func anyMedia(status int) statuses { return statuses{status, status} }

// executed returns the statuses of the response to an operation. Without data the first error decides.
func executed(response *graphql.Response) statuses {
	switch {
	case len(response.Errors) == 0:
		return anyMedia(http.StatusOK)
	case response.Data != nil:
		return partialData
	}
	return statuses{envelope.StatusOf(response.Errors[0]), http.StatusOK}
}

// in returns the status for a media type.
func (s statuses) in(mediaType string) int {
	if mediaType == graphQLResponse {
		return s.graphQL
	}
	return s.others
}

func (r *refusal) Error() string { return r.errors.Error() }

func refusalOf(err error) *refusal {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	return refuseError(err)
}

func refuse(status statuses, code model.Code, message string) *refusal {
	return &refusal{status: status, errors: gqlerror.List{newError(code, message)}}
}

// refuseMethod returns the refusal of a method. allowed are the methods for the request.
func refuseMethod(message, allowed string) *refusal {
	refused := refuse(anyMedia(http.StatusMethodNotAllowed), model.BadUserInput, message)
	refused.allow = allowed
	return refused
}

func badRequest(message string) *refusal { return refuse(malformed, model.BadUserInput, message) }

// notRequest returns the refusal of JSON that is not a GraphQL request.
func notRequest(message string) *refusal { return refuse(illFormed, model.BadUserInput, message) }

// badJSON returns the refusal of a text that is not a valid JSON object.
func badJSON(err error, text, with string) *refusal {
	if tooLarge, ok := errors.AsType[tooLargeError](err); ok {
		return refuse(illFormed, model.TooLarge, string(tooLarge))
	}
	object := text + " must be a JSON object" + with
	switch {
	case errors.Is(err, errNotJSON):
		return badRequest(object)
	case errors.Is(err, errNotObject):
		return notRequest(object)
	}
	return badRequest(text + " must be well-formed JSON: " + err.Error() + ".")
}

var (
	errNotJSON   = errors.New("not JSON")
	errNotObject = errors.New("not a JSON object")
)

// tooLargeError reports that a value exceeds a limit.
type tooLargeError string

func (e tooLargeError) Error() string { return string(e) }

// invalid returns the refusal of a document or its variables.
func invalid(errs ...*gqlerror.Error) *refusal { return &refusal{status: unexecuted, errors: errs} }

// refuseError returns the refusal for an error from outside GraphQL.
func refuseError(err error) *refusal {
	e := model.AsError(err)
	return &refusal{status: anyMedia(envelope.StatusOf(e)), errors: gqlerror.List{errorOf(e)}}
}

// newError returns an error that does not come from a resolver.
func newError(code model.Code, message string) *gqlerror.Error {
	return errorOf(&model.Error{Code: code, Message: message})
}

func errorOf(e *model.Error) *gqlerror.Error {
	return withCode(&gqlerror.Error{Err: e, Message: e.Message}, e.Code)
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
	_, expected := errors.AsType[*model.RetryError](err)
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
