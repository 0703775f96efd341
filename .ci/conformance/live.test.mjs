// Live queries with the clients of docs/app.md, whose code is run, and with the clients of each protocol.
import { gql } from "@apollo/client";
import { QueryClient, QueryObserver } from "@tanstack/query-core";
import { EventSource } from "eventsource";
import { createClient as createSSEClient } from "graphql-sse";
import { createClient as createWSClient } from "graphql-ws";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { fetchQuery } from "relay-runtime";
import ts from "typescript";
import WebSocket from "ws";
import { generated, here, serve, servedSchema, wire } from "./catalogue.mjs";

// errors emits the payload of each error message on a WebSocket.
const errors = new EventEmitter();
globalThis.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({ data }) => {
      const { type, payload } = JSON.parse(data);
      if (type === "error") errors.emit("message", payload);
    });
  }
};

const guide = readFileSync(join(here, "../../docs/app.md"), "utf8");
const section = (heading) => guide.split(/^##+ /m).find((text) => text.startsWith(heading));
const code = (heading, language) => section(heading).match(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s"))[1];

const operation = code("Show lists", "graphql");
const refused = operation.replace("@live", "@live(throttle: 1)");
const folder = join(generated, "live");

const compile = (text) => ts.transpileModule(text, { compilerOptions: { target: "es2022", module: "esnext" } }).outputText;

// documented returns the exports of a module of the guide, for a server.
async function documented(heading, url) {
  const { host, port } = new URL(url);
  const file = join(folder, `client-${port}.mjs`);
  writeFileSync(file, compile(code(heading, "ts")).replace('"./live"', '"./live.mjs"').replaceAll("localhost:8080", host));
  return import(file);
}

// compiled are Relay's artifacts of live queries, by their documents.
const compiled = {};
before(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "live.mjs"), compile(readFileSync(join(here, "../../examples/react/src/live.ts"), "utf8")));
  const documents = [operation, refused];
  writeFileSync(join(folder, "schema.graphql"), await servedSchema());
  writeFileSync(join(folder, "relay.config.json"), code("With Relay", "json"));
  writeFileSync(join(folder, "src/live.ts"), documents.map((text, i) => `graphql\`${text.replace("Books(", `live${i}Query(`)}\`;`).join("\n"));
  execFileSync(join(here, "node_modules/.bin/relay-compiler"), [], { cwd: folder, stdio: "pipe" });
  for (const [i, text] of documents.entries()) {
    const artifact = join(folder, `src/__generated__/live${i}Query.graphql`);
    writeFileSync(`${artifact}.mjs`, compile(readFileSync(`${artifact}.ts`, "utf8")));
    compiled[text] = (await import(`${artifact}.mjs`)).default;
    compiled[text].params.metadata.live = {};
  }
});

// ask sends an operation by POST, and returns its data.
async function ask(server, query, variables) {
  const response = await fetch(`${server.url}/graphql`, {
    method: "POST", body: JSON.stringify({ query, variables }),
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${server.token()}` },
  });
  const { data, errors } = await response.json();
  assert.ok(data && !errors, JSON.stringify(errors));
  return data;
}

// without removes what caches add.
const without = (value) => JSON.parse(JSON.stringify(value, (key, part) => (key === "__typename" || key === "nodeId" ? undefined : part)));

// The page of a filtered, sorted and searched list.
const variables = {
  filter: { genreId: { eq: "1" }, price: { gte: "3" } }, orderBy: [{ field: "PRICE", direction: "DESC" }, { field: "NAME" }],
  search: "live", offset: 1,
};

// guided start a live query by the code of the guide, and return a function that ends it. next gets each state.
const guided = {
  "Apollo Client": async (url, query, next, fail) => {
    const { client } = await documented("Apollo Client", url);
    const watched = client.watchQuery({ query: gql(query), variables, fetchPolicy: "cache-and-network" }).subscribe(
      ({ data, error, dataState }) => (error ? fail(error) : dataState === "complete" && next(data)));
    return () => watched.unsubscribe();
  },
  urql: async (url, query, next, fail) => {
    const { client } = await documented("urql", url);
    return client.query(query, variables).subscribe(({ data, error }) => (error ? fail(error) : next(data))).unsubscribe;
  },
  Relay: async (url, query, next, fail) => {
    const { environment } = await documented("Relay", url);
    return fetchQuery(environment, compiled[query], variables).subscribe({ next, error: fail }).unsubscribe;
  },
  "TanStack Query": async (url, query, next, fail) => {
    const { liveQuery } = await documented("TanStack Query", url);
    const observer = new QueryObserver(new QueryClient(), liveQuery(query, variables));
    return observer.subscribe(({ data, error }) => (error ? fail(error) : data && next(data)));
  },
};

// sink is an observer of GraphQL results.
const sink = (next, fail) => ({ next: ({ data, errors }) => (data ? next(data) : fail(errors)), error: fail, complete: () => {} });

// direct are the clients of each protocol.
const direct = {
  "graphql-ws": (url, query, next, fail) => {
    const client = createWSClient({ url: `${url.replace("http", "ws")}/graphql`, retryAttempts: Infinity, shouldRetry: () => true });
    return client.subscribe({ query, variables }, sink(next, fail));
  },
  "graphql-sse": (url, query, next, fail) => {
    const client = createSSEClient({ url: `${url}/graphql`, retryAttempts: Infinity });
    return client.subscribe({ query, variables }, sink(next, fail));
  },
  "EventSource by GET": (url, query, next, fail) => {
    const source = new EventSource(`${url}/graphql?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`);
    source.addEventListener("next", ({ data }) => sink(next, fail).next(JSON.parse(data)));
    return () => source.close();
  },
};

// inbox has functions that take states and errors, and functions that wait for them.
function inbox() {
  let newest, failure, wake = () => {};
  const changed = () => new Promise((done) => { wake = done; });
  return {
    next: (data) => { newest = without(data); wake(); },
    fail: (error) => { failure = error; wake(); },
    state: async (want) => {
      for (;;) {
        if (failure) throw failure;
        const wanted = await want();
        if (isDeepStrictEqual(newest, wanted)) return;
        await changed();
      }
    },
    failure: async () => {
      while (!failure) await changed();
      return failure;
    },
  };
}

let books = 0; // created
const input = (patch) => ({ name: `Live ${books++}`, pages: 1, publishedAt: "2000-01-01", author: "A", price: "5", genreId: "1", ...patch });
const write = (server, field, type, input) => ask(server, `mutation ($input: ${type}!) { ${field}(input: $input) { clientMutationId } }`, { input });

const page = (server) => ask(server, operation.replace("@live", ""), variables);

// follows checks that a client shows the page of now after each write and after a restart of the server, and ends.
async function follows(t, follow, page) {
  let server = await serve();
  t.after(() => server.close());
  const line = await wire(server.url);
  t.after(line.close);
  const { next, fail, state } = inbox();
  const current = () => state(() => page(server));
  const end = await follow(line.url, operation, next, fail);
  await current();
  // Book 1 and genre 1 are two objects for every cache.
  await write(server, "updateBook", "UpdateBookInput", { id: 1, patch: { name: "Live", price: "6.50", genreId: 1 } });
  for (const price of ["9", "7", "8"]) await write(server, "createBook", "CreateBookInput", input({ price }));
  await current();
  const { books: { totalCount, nodes: [second] } } = await ask(server, operation.replace("@live", ""), variables);
  assert.deepEqual([totalCount, second.price], [4, "8.00"]);
  await write(server, "updateBook", "UpdateBookInput", { id: second.id, patch: { price: "6" } }); // moves
  await current();
  await write(server, "updateGenre", "UpdateGenreInput", { id: 1, patch: { name: "Renamed" } });
  await current();
  await write(server, "updateBook", "UpdateBookInput", { id: second.id, patch: { price: "1" } }); // leaves the list
  await current();

  await server.close();
  line.drop();
  server = await serve();
  for (const price of ["4", "3"]) await write(server, "createBook", "CreateBookInput", input({ price }));
  line.mend(server.url);
  await current();
  await write(server, "createBook", "CreateBookInput", input({ price: "3.50" }));
  await current();
  end();
  await line.idle();
}

// fill starts a server without a free place for a stream, and returns a function that frees it.
async function fill(t) {
  const server = await serve("--max-streams=1");
  t.after(server.close);
  const other = new AbortController();
  const stream = await fetch(`${server.url}/api/changes`, { headers: { Accept: "text/event-stream" }, signal: other.signal });
  assert.equal(stream.status, 200);
  return { server, free: () => other.abort() };
}

for (const [name, follow] of Object.entries({ ...guided, ...direct })) {
  test(`${name} shows a filtered, sorted page that follows writes and a restart`, (t) => follows(t, follow, page));

  test(`${name} gets an error that no repetition mends`, async (t) => {
    const server = await serve();
    t.after(server.close);
    const { next, fail, failure } = inbox();
    const end = await follow(server.url, refused, next, fail);
    assert.match(JSON.stringify(await failure()), /throttle/);
    end();
  });
}

for (const [name, follow] of Object.entries(guided)) {
  test(`${name} waits for retryAfter, and then shows the page`, async (t) => {
    const { server, free } = await fill(t);
    const { next, fail, state } = inbox();
    const refusal = once(errors, "message");
    const end = await follow(server.url, operation, next, fail);
    const [[{ extensions: { code, retryAfter } }]] = await refusal;
    assert.equal(code, "UNAVAILABLE");
    assert.ok(retryAfter > 0);
    free();
    await state(() => page(server));
    end();
  });
}

test("connect leaves a connection that is silent for longer than the server", async (t) => {
  const server = await serve();
  t.after(server.close);
  const line = await wire(server.url);
  t.after(line.close);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { next, fail, state } = inbox();
  const end = await guided.urql(line.url, operation, next, fail);
  await state(() => page(server));
  line.mute();
  await write(server, "updateBook", "UpdateBookInput", { id: 1, patch: { name: "Live", price: "6.50", genreId: 1 } });
  await write(server, "createBook", "CreateBookInput", input());
  t.mock.timers.tick(20_000);
  await new Promise(setImmediate); // connect has begun to wait
  t.mock.timers.tick(500);
  await state(() => page(server));
  end();
});

for (const [name, follow] of Object.entries(direct)) {
  test(`${name} gets UNAVAILABLE with retryAfter when another caller takes the place`, async (t) => {
    const server = await serve("--max-streams=2");
    t.after(server.close);
    const { next, fail, state, failure } = inbox();
    const ends = [1, 2].map(() => follow(server.url, operation, next, fail));
    await state(() => page(server));
    const other = new AbortController();
    const headers = { Accept: "text/event-stream", Authorization: `Bearer ${server.token()}` };
    assert.equal((await fetch(`${server.url}/api/changes`, { headers, signal: other.signal })).status, 200);
    const [{ extensions: { code, retryAfter } }] = await failure();
    assert.equal(code, "UNAVAILABLE");
    assert.ok(retryAfter > 0);
    for (const end of ends) end();
    other.abort();
  });
}

test("EventSource shows a page of /api that follows writes and a restart", async (t) => {
  const path = "/api/books?genre_id=1&price_min=3&q=live&sort=-price,name&per_page=2";
  await follows(t, (url, _, next) => {
    const source = new EventSource(url + path);
    let about;
    source.addEventListener("page", ({ data }) => { about = JSON.parse(data); });
    source.addEventListener("message", ({ data }) => next({ ...about, ...JSON.parse(data) }));
    return () => source.close();
  }, async (server) => {
    const response = await fetch(server.url + path);
    return { total: Number(response.headers.get("X-Total-Count")), link: response.headers.get("Link"), ...await response.json() };
  });
});
