package graph

// The parser declares @defer, but no transport here sends a response in parts. GraphQL (September 2025) has no @defer.
func init() { delete(parsedSchema.Directives, "defer") }
