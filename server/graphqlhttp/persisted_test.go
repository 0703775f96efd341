package graphqlhttp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// byHash writes the extensions of Apollo's automatic persisted queries.
func byHash(hash string) string {
	return `{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}`
}

// wants demands an answer: its data, or the code of its only error.
func wants(t *testing.T, what string, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	a := servertest.Parse(t, w)
	got := string(a.Data)
	if len(a.Errors) > 0 {
		got = a.Errors[0].Extensions.Code
		if len(a.Errors) > 1 || a.Errors[0].Extensions.RequestID != "test" || a.Data != nil {
			t.Errorf("%s: %+v, data %s", what, a.Errors, a.Data)
		}
	}
	if got != want {
		t.Errorf("%s: %s %+v, want %s", what, got, a.Errors, want)
	}
}

// TestPersistedQueries names documents by their hash, before and after they were
// sent.
func TestPersistedQueries(t *testing.T) {
	c := servertest.Shelved(t)
	const document, data = `{ book(id: 1) { name } }`, `{"book":{"name":"The Hobbit"}}`
	hash := hashOf(document)
	post := func(members string) *httptest.ResponseRecorder { return c.Do("POST", "/graphql", "{"+members+"}") }
	get := func(parameters ...string) *httptest.ResponseRecorder {
		values := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			values.Set(parameters[i], parameters[i+1])
		}
		return c.Do("GET", "/graphql?"+values.Encode(), "")
	}
	withText := func(text, extensions string) *httptest.ResponseRecorder {
		return post(`"query":` + servertest.Encode(t, text) + `,"extensions":` + extensions)
	}
	unknown := get("extensions", byHash(hash))
	if a := servertest.Parse(t, unknown); unknown.Code != 200 || a.Errors[0].Message != "PersistedQueryNotFound" { // Apollo's clients know the text
		t.Errorf("%d %+v", unknown.Code, a.Errors)
	}
	wants(t, "by hash, too early", post(`"extensions":`+byHash(hash)), "PERSISTED_QUERY_NOT_FOUND")
	wants(t, "another hash", withText(document, byHash(hashOf("x"))), "BAD_USER_INPUT")
	wants(t, "no hash", withText(document, byHash("x")), "BAD_USER_INPUT")
	wants(t, "another version", withText(document, strings.Replace(byHash(hash), ":1", ":2", 1)), "BAD_USER_INPUT")
	wants(t, "a text for the extension", withText(document, `{"persistedQuery":"x"}`), "BAD_USER_INPUT")
	wants(t, "still too early", post(`"extensions":`+byHash(hash)), "PERSISTED_QUERY_NOT_FOUND")
	wants(t, "null for the extension", withText(document, `{"persistedQuery":null}`), data)

	wants(t, "with its text", withText(document, byHash(hash)), data)
	wants(t, "by hash", post(`"extensions":`+byHash(hash)), data)
	wants(t, "by hash, in capitals", post(`"query":null,"extensions":`+byHash(strings.ToUpper(hash))), data)
	wants(t, "by hash, GET", get("extensions", byHash(hash)), data)
	wants(t, "by documentId", post(`"documentId":"sha256:`+hash+`"`), data)
	wants(t, "by documentId, GET", get("documentId", hash), data)
	wants(t, "by both", post(`"documentId":"sha256:`+hash+`","extensions":`+byHash(hash)), data)
	wants(t, "by two names", post(`"documentId":"x","extensions":`+byHash(hash)), "BAD_USER_INPUT")
	wants(t, "by nothing", post(`"extensions":{}`), "BAD_USER_INPUT")

	const invalid = "{ isbn }"
	wants(t, "an invalid document", withText(invalid, byHash(hashOf(invalid))), "GRAPHQL_VALIDATION_FAILED")
	wants(t, "which is not kept", post(`"extensions":`+byHash(hashOf(invalid))), "PERSISTED_QUERY_NOT_FOUND")

	mutation := servertest.Mutations["deleteBook"]
	wants(t, "a mutation by GET", get("query", mutation, "extensions", byHash(hashOf(mutation))), "BAD_USER_INPUT")
	if w := get("extensions", byHash(hashOf(mutation))); w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("a mutation by hash and GET: status %d", w.Code)
	}

	// What is kept is bounded.
	for i := range 12 {
		long := fmt.Sprintf("#%d %s\n%s", i, strings.Repeat("x", 900_000), document)
		wants(t, "a long document", withText(long, byHash(hashOf(long))), data)
	}
	kept := 0
	for i := range 12 {
		long := fmt.Sprintf("#%d %s\n%s", i, strings.Repeat("x", 900_000), document)
		if w := get("extensions", byHash(hashOf(long))); strings.Contains(w.Body.String(), "Hobbit") {
			kept++
		}
	}
	if kept > 9 {
		t.Errorf("%d documents of 900 kB are kept", kept)
	}
}

// TestTrustedDocuments has servers that answer the documents of a manifest, as
// each of the tools writes it, and no others.
func TestTrustedDocuments(t *testing.T) {
	c := servertest.Shelved(t)
	const document, data = `query Book($id: ID!) { book(id: $id) { name } }`, `{"book":{"name":"The Hobbit"}}`
	for name, manifest := range map[string]string{
		"Relay":   `{"5c1b0a": ` + servertest.Encode(t, document) + `, "other": "{ __typename }"}`,
		"codegen": "{\n  \"sha256:5c1b0a\": " + servertest.Encode(t, document) + "\n}",
		"Apollo": `{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"5c1b0a","name":"Book","type":"query","body":` + servertest.Encode(t, document) + `},
			{"id":"other","name":"Other","type":"query","body":"query Other { __typename }"}]}`,
	} {
		trusted, err := graphqlhttp.ParseTrustedDocuments([]byte(manifest))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{Trusted: trusted}})
		post := func(members string) *httptest.ResponseRecorder {
			return c.Do("POST", "/graphql", `{"variables":{"id":1},`+members+"}")
		}
		wants(t, name+" by documentId", post(`"documentId":"5c1b0a"`), data)
		wants(t, name+" by documentId with its prefix", post(`"documentId":"sha256:5c1b0a"`), data)
		wants(t, name+" by extension", post(`"extensions":`+byHash("5c1b0a")), data)
		wants(t, name+" by GET", c.Do("GET", "/graphql?documentId=5c1b0a&variables="+url.QueryEscape(`{"id":1}`), ""), data)
		wants(t, name+" in full", post(`"query":`+servertest.Encode(t, document)), data)
		wants(t, name+" in full, with its hash", post(`"query":`+servertest.Encode(t, document)+`,"extensions":`+byHash(hashOf(document))), data)
		wants(t, name+" by no id", post(`"documentId":"6"`), "PERSISTED_QUERY_NOT_FOUND")
		wants(t, name+" by nothing", post(`"extensions":null`), "BAD_USER_INPUT")
		for _, other := range []string{"{ __type(name: \"Book\") { name } }", document + " ", "{ book(id: 1) { name } }", "nonsense", servertest.Mutations["deleteBook"]} {
			wants(t, name+": "+other, post(`"query":`+servertest.Encode(t, other)), "FORBIDDEN")
			wants(t, name+": "+other, post(`"query":`+servertest.Encode(t, other)+`,"documentId":"5c1b0a"`), "FORBIDDEN")
			wants(t, name+": "+other, post(`"query":`+servertest.Encode(t, other)+`,"extensions":`+byHash(hashOf(other))), "FORBIDDEN")
			wants(t, name+": "+other, c.Do("GET", "/graphql?query="+url.QueryEscape(other), ""), "FORBIDDEN")
			wants(t, name+": "+other, post(`"extensions":`+byHash(hashOf(other))), "PERSISTED_QUERY_NOT_FOUND")
		}
	}
	if w := c.Do("POST", "/graphql", `{"query":"{ genres { totalCount } }"}`, "Accept: application/graphql-response+json"); w.Code != http.StatusForbidden {
		t.Errorf("another document: status %d", w.Code)
	}
	// What does not fit the schema is logged when the server starts.
	c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{Trusted: graphqlhttp.TrustedDocuments{"old": "{ isbn }"}}})
	if !c.Log.Has("trusted document is invalid") {
		t.Error("the log says nothing of a document that is not of the schema")
	}
	wants(t, "a document that is not of the schema", c.Do("POST", "/graphql", `{"documentId":"old"}`), "GRAPHQL_VALIDATION_FAILED")

	for _, manifest := range []string{
		"", "x", "null", "[]", `"x"`, "{}", `{"a":1}`, `{"a":""}`, `{"":"{ __typename }"}`, `{"a":"{ __typename }"}x`, `{"a":"{ __typename }","a":"{ x }"}`,
		`{"a":{"body":"{ __typename }"}}`, `{"a":"{ a }","sha256:a":"{ b }"}`, `{"sha256:":"{ a }"}`, `{"format":"apollo-persisted-query-manifest","version":1}`, `{"format":"apollo-persisted-query-manifest","operations":[]}`,
		`{"format":"apollo-persisted-query-manifest","operations":[{"id":"a"}]}`, `{"format":"apollo-persisted-query-manifest","operations":[{"body":"{ a }"}]}`,
		`{"format":"apollo-persisted-query-manifest","operations":[{"id":"a","body":"{ a }"},{"id":"a","body":"{ b }"}]}`,
		"{\"a\":\"\xff\"}",
	} {
		if trusted, err := graphqlhttp.ParseTrustedDocuments([]byte(manifest)); err == nil {
			t.Errorf("%s is taken: %v", manifest, trusted)
		}
	}
}

// TestPersistedQueriesOfOthers has one caller send more documents with their hashes
// than are cached: what others have sent is mostly still there.
func TestPersistedQueriesOfOthers(t *testing.T) {
	t.Parallel()
	const callers, rounds = 32, 1_200
	c := servertest.Serve(t, catalogtest.SQLite(t))
	send := func(subject, text string) {
		t.Helper()
		body := `{"query":` + servertest.Encode(t, text) + `,"extensions":` + byHash(hashOf(text)) + `}`
		wants(t, subject, c.Do("POST", "/graphql", body, "Authorization: Bearer "+servertest.TokenOf(t, subject)), `{"__typename":"Query"}`)
	}
	documents := make([]string, callers)
	for i := range documents {
		documents[i] = fmt.Sprintf("{ __typename } # of %d", i)
		send(fmt.Sprint("honest ", i), documents[i])
	}
	for i := range rounds {
		send("greedy", fmt.Sprintf("{ __typename } # %d %s", i, strings.Repeat("x", 10<<10)))
	}
	there := 0
	for _, document := range documents {
		if a := servertest.Parse(t, c.Do("POST", "/graphql", `{"extensions":`+byHash(hashOf(document))+`}`)); len(a.Errors) == 0 {
			there++
		}
	}
	if there < callers/2 {
		t.Errorf("%d of %d documents are there", there, callers)
	}
}

// TestExtensionLive reads extensions.live of a query that is not live.
func TestExtensionLive(t *testing.T) {
	c := servertest.Shelved(t)
	for extension, want := range map[string]string{
		`{"patch":true}`: `{"book":{"name":"The Hobbit"}}`, `{"patch":false}`: `{"book":{"name":"The Hobbit"}}`, `null`: `{"book":{"name":"The Hobbit"}}`,
		`true`: "BAD_USER_INPUT", `{}`: "BAD_USER_INPUT", `{"patch":1}`: "BAD_USER_INPUT", `{"patch":true,"diff":1}`: "BAD_USER_INPUT",
	} {
		wants(t, extension, c.Do("POST", "/graphql", `{"query":"{ book(id: 1) { name } }","extensions":{"live":`+extension+`}}`), want)
	}
}
