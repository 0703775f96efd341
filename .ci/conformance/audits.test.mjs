// GraphQL over HTTP, checked by the audits of graphql-http, and by audits of the edition of September 2026.
import { serverAudits } from "graphql-http";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serve } from "./catalogue.mjs";

let server;
before(async () => { server = await serve(); });
after(() => server.close());

const audits = serverAudits({ url: () => `${server.url}/graphql`, fetchFn: fetch });

test("there are 61 audits", () => assert.equal(audits.length, 61));

// Audits for older drafts, by the sentence of the edition, section "Status Codes", that they contradict.
const older = {
  "423L": "If the request is not a well-formed GraphQL-over-HTTP request, status code 422 SHOULD be used.",
  "86EE": "If the variable values cannot be coerced […], status code 422 SHOULD be used.",
};

for (const audit of audits) {
  test(`${audit.id} ${audit.name}`, async () => {
    const result = await audit.fn();
    if (older[audit.id]) assert.notEqual(result.status, "ok", "it contradicts nothing");
    else assert.equal(result.status, "ok", result.reason);
  });
}

const own = "application/graphql-response+json";
const mutation = "mutation { deleteBook(input: {id: 1}) { deletedBookId } }";

// ask sends a request and checks its response, which has data if and only if its status is 2xx.
async function ask(method, body, status, { headers, address = "", accept = own, type = accept } = {}) {
  const response = await fetch(`${server.url}/graphql${address}`, {
    method, headers: { "Content-Type": "application/json", Accept: accept, ...headers },
    body: typeof body === "object" && body ? JSON.stringify(body) : body,
  });
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.equal(response.headers.get("Content-Type"), `${type}; charset=utf-8`);
  const answer = JSON.parse(text);
  if (accept === own) assert.equal("data" in answer, response.ok, text);
  assert.ok(Object.keys(answer).every((key) => ["data", "errors", "extensions"].includes(key)), text);
  return { response, ...answer };
}
const post = (body, status, options) => ask("POST", body, status, options);
const get = (parameters, status, options) => ask("GET", undefined, status, { ...options, address: `?${new URLSearchParams(parameters)}` });
const typename = { query: "{ __typename }" };

// rules has an audit for each MUST of a server, and for each SHOULD that docs/graphql.md does not list, by section.
const rules = {
  "URL: MUST enable GraphQL requests by a URL": () => post(typename, 200),
  "URL: a forbidden request SHOULD have a 4xx": () => post(typename, 403, { headers: { "Sec-Fetch-Site": "cross-site" }, type: own }),
  "Serialization Format: MUST support JSON": () => post(typename, 200, { accept: "application/json" }),
  "Media Types: MUST assume UTF-8": async () => {
    const { errors } = await post({ ...typename, operationName: "ü" }, 422);
    assert.match(errors[0].message, /"ü"/);
  },
  "Request: MUST accept POST": () => post(typename, 200),
  "GET: an empty optional parameter equals none": () => get({ ...typename, operationName: "", variables: "", extensions: "" }, 200),
  "GET: variables are JSON": () => get({ query: "query ($id: ID!) { book(id: $id) { id } }", variables: '{"id":1}' }, 200),
  "GET: operationName=null names an operation": () => get({ query: "query null { __typename } query b { __typename }", operationName: "null" }, 200),
  "GET: MUST refuse a mutation by 4xx, and halt": async () => {
    const { response } = await get({ query: mutation }, 405);
    assert.equal(response.headers.get("Allow"), "POST");
    const { data } = await post({ query: "{ book(id: 1) { id } }" }, 200);
    assert.equal(data.book.id, "1");
  },
  "POST: MUST support application/json in UTF-8": () => post(typename, 200, { headers: { "Content-Type": "application/json; charset=utf-8" } }),
  "JSON Encoding: MUST ignore additional properties": () => post({ ...typename, more: 1 }, 200),
  "JSON Encoding: null equals none": () => post({ ...typename, operationName: null, variables: null, extensions: null }, 200),
  "Body: MUST be a GraphQL response, with its media type": () => post({ query: "{ isbn }" }, 422),
  "Body: MUST support application/graphql-response+json": () => post(typename, 200),
  "Body: MUST respect Accept, by priority": async () => {
    await post(typename, 200, { accept: `${own};q=0.5, application/json`, type: "application/json" });
    await post(typename, 200, { accept: `application/json;q=0.5, ${own}`, type: own });
  },
  "Body: MUST NOT go on for no acceptable media type, SHOULD use 406": () => post(typename, 406, { accept: "text/html", type: "application/json" }),
  "Validation: SHOULD apply all rules": () => post({ query: "query ($unused: Int) { __typename }" }, 422),
  "Status Codes: data MUST have 2xx, alone SHOULD have 200": () => post({ query: "{ book(id: 1) { id } }" }, 200),
  "Status Codes: data with errors SHOULD have 294": async () => {
    const { data } = await post({ query: '{ book(id: 1) { id } late: book(id: 1, asOf: "2999-01-01T00:00:00Z") { id } }' }, 294);
    assert.deepEqual(data, { book: { id: "1" }, late: null });
  },
  "Status Codes: null with errors SHOULD have 294": async () => {
    const { data } = await post({ query: "{ books(first: -1) { totalCount } }" }, 294);
    assert.equal(data, null);
  },
  "Status Codes: no data MUST have 4xx or 5xx": () => post({ query: mutation }, 422, { headers: { "Idempotency-Key": "x".repeat(300) } }),
  "Status Codes: another method SHOULD have 405, MUST have Allow": async () => {
    const { response } = await ask("DELETE", undefined, 405);
    assert.match(response.headers.get("Allow"), /GET, HEAD, POST/);
  },
  "Status Codes: another Content-Type SHOULD have 415": () => post("{ __typename }", 415, { headers: { "Content-Type": "application/graphql" } }),
  "Status Codes: a long body SHOULD have 413": () => post("x".repeat(2 << 20), 413),
  "Status Codes: long headers SHOULD have 431": async () => {
    const response = await fetch(`${server.url}/graphql`, { headers: { "X-Long": "x".repeat(15 << 10), "X-Longer": "x".repeat(15 << 10) } });
    assert.equal(response.status, 431);
    assert.ok(!response.headers.get("Content-Type").startsWith(own), "MUST NOT use the media type for another response");
  },
  "Status Codes: malformed JSON SHOULD have 400": () => post("NONSENSE", 400),
  "Status Codes: an ill-formed request SHOULD have 422": async () => {
    await post({ qeury: "{ __typename }" }, 422);
    await post({ ...typename, variables: [7] }, 422);
  },
  "Status Codes: a document that does not parse SHOULD have 400": () => post({ query: "{" }, 400),
  "Status Codes: an invalid document SHOULD have 422": () => post({ query: "{ isbn }" }, 422),
  "Status Codes: an undetermined operation SHOULD have 422, and not run": async () => {
    await post({ query: "query a { __typename } query b { __typename }" }, 422);
    await post({ query: "query a { __typename }", operationName: "b" }, 422);
  },
  "Status Codes: variables that are not coerced SHOULD have 422, and not run": () => post({ query: "query ($id: ID!) { book(id: $id) { id } }" }, 422),
  "Status Codes: a refused caller SHOULD have 401": async () => {
    const strict = await serve("--require-valid-token");
    try {
      const response = await fetch(`${strict.url}/graphql?query={__typename}`, { headers: { Accept: own, Authorization: "Bearer x" } });
      assert.equal(response.status, 401);
    } finally {
      await strict.close();
    }
  },
};

for (const [name, audit] of Object.entries(rules)) test(name, audit);
