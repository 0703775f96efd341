package resolvers_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/server/servertest"
)

const changeBooks = `mutation ($in: UpdateBooksInput!) { updateBooks(input: $in) { count results { index
  before { name author price } book { author price version description } error { code message currentVersion } } } }`

// storePriced stores three books with ids 5 to 7 and returns a filter for them.
func storePriced(t *testing.T, c *servertest.Client) string {
	t.Helper()
	storeBooks(t, c, `{"books":`+manyBooks(3, func(i int, row map[string]any) {
		row["author"] = []string{"Ende, Michael", "M. One; Ende, Michael", "Ann One"}[i]
		row["price"] = []string{"0.05", "10", "99999999"}[i]
		row["description"] = "kept"
	})+`}`)
	return `"filter":{"name":{"startsWith":"n"}},"atMost":3`
}

func TestChangeBooks(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		filter := storePriced(t, c)
		const changed = `{"index":0,"before":{"name":"n0","author":"Ende, Michael","price":"0.05"},` +
			`"book":{"author":"Michael Ende","price":"0.03","version":2,"description":"kept"},"error":null},` +
			`{"index":1,"before":{"name":"n1","author":"M. One; Ende, Michael","price":"10.00"},` +
			`"book":{"author":"M. One; Michael Ende","price":"5.00","version":2,"description":"kept"},"error":null},`
		const last = `{"index":2,"before":{"name":"n2","author":"Ann One","price":"99999999.00"},` +
			`"book":{"author":"Ann One","price":"49999999.50","version":2,"description":"kept"},"error":null}`
		input := `"priceFactor":"0.5","author":{"from":"Michael Ende","to":"Michael Ende"}`
		before := servertest.Revision(t, c.Store)
		preview := strings.ReplaceAll(`{"updateBooks":{"count":3,"results":[`+changed+last+`]}}`, `"version":2`, `"version":1`)
		c.Want(t, changeBooks, `{"in":{`+filter+`,`+input+`,"dryRun":true}}`, preview)
		if after := servertest.Revision(t, c.Store); after != before {
			t.Error("a dry run changed the revision")
		}
		c.Want(t, changeBooks, `{"in":{`+filter+`,`+input+`}}`,
			`{"updateBooks":{"count":3,"results":[`+changed+last+`]}}`)

		// the second time only prices that differ are stored
		c.Want(t, `mutation { updateBooks(input: {filter: {name: {startsWith: "n"}}, atMost: 3, `+
			`author: {from: "Ende, Michael", to: "Michael Ende"}}) { count results { book { version } } } }`, "",
			`{"updateBooks":{"count":0,"results":[{"book":{"version":2}},{"book":{"version":2}},{"book":{"version":2}}]}}`)
	})
}

func TestChangeRows(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		storePriced(t, c)
		before := servertest.Revision(t, c.Store)
		got := c.Get(t, changeBooks, `{"in":{"rows":[{"id":7},{"id":6,"expectedVersion":9},{"id":5,"expectedVersion":1},{"id":99}],`+
			`"atMost":4,"priceFactor":2}}`)
		for _, want := range []string{`"count":0`,
			`"n2","author":"Ann One","price":"99999999.00"},"book":null,"error":{"code":"BAD_USER_INPUT"`,
			`"book":null,"error":{"code":"CONFLICT","message":"Book 6 has version 1. Read it again.","currentVersion":1}`,
			`"n0","author":"Ende, Michael","price":"0.05"},"book":null,"error":null`,
			`"before":null,"book":null,"error":{"code":"NOT_FOUND","message":"Book 99 not found","currentVersion":null}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in %s", want, got)
			}
		}
		if after := servertest.Revision(t, c.Store); after != before {
			t.Error("rows with errors changed the revision")
		}
		got = c.Get(t, changeBooks, `{"in":{"rows":[{"id":6,"expectedVersion":1},{"id":5}],"atMost":2,"patch":{"price":7}}}`)
		if !strings.Contains(got, `"count":2`) || strings.Count(got, `"price":"7.00","version":2`) != 2 ||
			strings.Index(got, "n1") > strings.Index(got, "n0") {
			t.Error(got)
		}
		for input, message := range map[string]string{
			`"patch":{"pages":1}`:                                                     "Give either filter or rows.",
			`"filter":{"id":{"eq":5}},"rows":[{"id":5}]`:                              "Give either filter or rows.",
			`"filter":null,"rows":null`:                                               "Give either filter or rows.",
			`"rows":[{"id":5},{"id":5}],"atMost":2`:                                   "The rows field must name each book once.",
			`"rows":[{"id":5},{"id":6}]`:                                              "The filter matches 2 books, and atMost is 1.",
			`"rows":[{"id":5}],"priceFactor":"-1"`:                                    "The price factor field must not be negative",
			`"rows":[{"id":5}],"priceFactor":"1.000000000000000000000000000000001"`:   "or longer than 30 characters.",
			`"rows":[{"id":5}],"priceFactor":"x"`:                                     "must be a number.",
			`"rows":[{"id":5}],"priceFactor":2,"patch":{"price":1}`:                   "The price factor field must not be given with a price.",
			`"rows":[{"id":5}],"author":{"from":"A","to":"B"},"patch":{"author":"C"}`: "The author field must not be given with an author in the patch.",
			`"rows":[{"id":5}],"author":{"from":"Ann One, Bob Two","to":"B"}`:         "The from field must name one person in each text.",
			`"rows":[{"id":5}],"author":{"from":"Ann One","to":" "}`:                  "The to field must name one person.",
		} {
			c.WantError(t, changeBooks, `{"in":{`+input+`}}`, "BAD_USER_INPUT", message)
		}
	})
}

// TestPatchShowsBefore selects the old books of a patch, also by fragments.
func TestPatchShowsBefore(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		storePriced(t, c)
		c.Want(t, `mutation { updateBooks(input: {filter: {id: {eq: 5}}, patch: {price: 1}}) { ... on UpdateBooksPayload {
  count results { ...old book { price version } } } } } fragment old on BookResult { before { price version } }`, "",
			`{"updateBooks":{"count":1,"results":[{"before":{"price":"0.05","version":1},"book":{"price":"1.00","version":2}}]}}`)
	})
}

// TestDryRunNeedsScope sends a dry run with a token that only reads.
func TestDryRunNeedsScope(t *testing.T) {
	c := servertest.ServeScoped(t)
	c.Token = servertest.TokenFor(t, "catalogue:read")
	document := `mutation { updateBooks(input: {filter: {id: {eq: 1}}, patch: {pages: 7}, dryRun: true}) { count } }`
	c.WantError(t, document, "", "FORBIDDEN", "books:update")
}

// TestDryRunKeepsKey sends a dry run and then the write with one Idempotency-Key.
func TestDryRunKeepsKey(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := servertest.Revision(t, c.Store)
		send := func(dryRun string) string {
			return c.Do(http.MethodPost, "/graphql", `{"query":"mutation { updateBooks(input: {rows: [{id: 1}], patch: {pages: 77}, dryRun: `+
				dryRun+`}) { count results { book { pages version } } } }"}`, "Idempotency-Key: k").Body.String()
		}
		if got := send("true"); !strings.Contains(got, `"count":1,"results":[{"book":{"pages":77,"version":1}}]`) {
			t.Error(got)
		}
		if after := servertest.Revision(t, c.Store); after != before {
			t.Error("a dry run changed the revision")
		}
		for range 2 { // the second is a repetition
			if got := send("false"); !strings.Contains(got, `"pages":77,"version":2`) {
				t.Error(got)
			}
		}
	})
}
