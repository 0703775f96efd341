// The changes of the catalogue, followed by the clients of each protocol.
import { applyLiveQueryJSONPatch } from "@n1ru4l/graphql-live-query-patch-json-patch";
import { ApolloClient, gql, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { EventSource } from "eventsource";
import { createClient as createSSEClient } from "graphql-sse";
import { CloseCode, createClient as createWSClient } from "graphql-ws";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import WebSocket from "ws";
import { serve } from "./catalogue.mjs";

const query = "subscription Follow($after: String) { changes(after: $after) { position type operation book { name } } }";

let server, token, address;
before(async () => {
  server = await serve();
  token = server.token();
  address = `${server.url}/graphql`;
});
after(() => server.close());

// ask sends an operation with a token.
async function ask(query) {
  const response = await fetch(address, {
    method: "POST", body: JSON.stringify({ query }), headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
  });
  const { data, errors } = await response.json();
  assert.ok(data && !errors, JSON.stringify(errors));
  return data;
}

let books = 0;

// createBooks creates two books, and returns their names.
async function createBooks() {
  const { genres } = await ask("{ genres(first: 1) { nodes { id } } }");
  const names = [];
  for (let i = 0; i < 2; i++) {
    const name = `Followed ${books++}`;
    await ask(`mutation { createBook(input: {name: "${name}", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: ${genres.nodes[0].id}}) { book { id } } }`);
    names.push(name);
  }
  return names;
}

// newest is the position after all changes.
async function newest() {
  let position = null;
  for (;;) {
    const { changes } = await ask(`{ changes(first: 1000, after: ${JSON.stringify(position)}) { position hasMore } }`);
    position = changes.position;
    if (!changes.hasMore) return position;
  }
}

// follows checks that a client gets two new changes in order, and after the first position the second again.
// subscribe calls next with each change, and returns a function that ends the subscription.
async function follows(subscribe) {
  const from = async (position, names) => {
    const got = [];
    let end;
    await new Promise((done, fail) => {
      const next = (change) => {
        got.push(change);
        if (got.length === names.length) done();
      };
      end = subscribe({ after: position }, next, (reason) => fail(reason instanceof Error ? reason : new Error(JSON.stringify(reason))));
    });
    end();
    assert.deepEqual(got.map(({ type, operation, book }) => [type, operation, book.name]), names.map((name) => ["BOOK", "CREATE", name]));
    return got;
  };
  const position = await newest();
  const names = await createBooks();
  const [first] = await from(position, names);
  await from(first.position, names.slice(1));
}

const sockets = () => createWSClient({ url: address.replace("http", "ws"), webSocketImpl: WebSocket, connectionParams: () => ({ Authorization: `Bearer ${token}` }) });

// sink makes an observer of GraphQL results.
const sink = (next, fail) => ({
  next: ({ data, errors }) => (errors ? fail(errors) : next(data.changes)), error: fail, complete: () => {},
});

test("graphql-ws", async () => {
  const client = sockets();
  await follows((variables, next, fail) => client.subscribe({ query, variables }, sink(next, fail)));
  for await (const { data } of client.iterate({ query: "{ viewer { subject } }" })) assert.ok(data.viewer.subject);
  await client.dispose();
});

test("graphql-ws is refused with a bad token", async () => {
  const closed = await new Promise((done) => createWSClient({
    url: address.replace("http", "ws"), webSocketImpl: WebSocket, lazy: false, retryAttempts: 0, onNonLazyError: done,
    connectionParams: { headers: { Authorization: "Bearer x" } },
  }));
  assert.equal(closed.code, CloseCode.Forbidden);
});

test("graphql-sse", async () => {
  const client = createSSEClient({ url: address, headers: () => ({ Authorization: `Bearer ${token}` }) });
  await follows((variables, next, fail) => client.subscribe({ query, variables }, sink(next, fail)));
  client.dispose();
});

test("Apollo Client over WebSocket", async () => {
  const socket = sockets();
  const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
  await follows((variables, next, fail) => {
    const subscription = client.subscribe({ query: gql(query), variables, fetchPolicy: "no-cache" }).subscribe({
      next: ({ data, error }) => (error ? fail(error) : next(data.changes)), error: fail,
    });
    return () => subscription.unsubscribe();
  });
  client.stop();
  await socket.dispose();
});

test("urql by fetch, and its queries stay JSON", async () => {
  const types = [];
  const client = new Client({
    url: address, preferGetMethod: false, exchanges: [fetchExchange], fetchSubscriptions: true,
    fetchOptions: () => ({ headers: { Authorization: `Bearer ${token}` } }),
    fetch: async (...request) => {
      const response = await fetch(...request);
      types.push(response.headers.get("content-type").split(";")[0]);
      return response;
    },
  });
  await follows((variables, next, fail) => client.subscription(query, variables).subscribe(({ data, error }) => (error ? fail(error) : next(data.changes))).unsubscribe);
  const { data } = await client.query("{ books { totalCount } }", {}).toPromise();
  assert.ok(data.books.totalCount > 0);
  assert.deepEqual(types, ["text/event-stream", "text/event-stream", "application/graphql-response+json"]);
});

test("urql over WebSocket", async () => {
  const socket = sockets();
  const forward = ({ query, variables }) => ({ subscribe: (observer) => ({ unsubscribe: socket.subscribe({ query, variables }, observer) }) });
  const client = new Client({ url: address, preferGetMethod: false, exchanges: [subscriptionExchange({ forwardSubscription: forward })] });
  await follows((variables, next, fail) => client.subscription(query, variables).subscribe(({ data, error }) => (error ? fail(error) : next(data.changes))).unsubscribe);
  await socket.dispose();
});

test("eventsource follows GraphQL by GET", async () => {
  await follows((variables, next, fail) => {
    const source = new EventSource(`${address}?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(variables))}`);
    source.addEventListener("next", ({ data }) => sink(next, fail).next(JSON.parse(data)));
    source.addEventListener("error", fail);
    return () => source.close();
  });
});

test("eventsource follows /api/changes, and resumes with Last-Event-ID", async () => {
  const position = await newest();
  const names = await createBooks();
  const got = [];
  let requests = 0;
  const source = new EventSource(`${server.url}/api/changes?after=${encodeURIComponent(position)}`, {
    // The first response ends after the first change, like a lost connection.
    fetch: async (url, init) => {
      requests++;
      const response = await fetch(url, init);
      if (requests > 1) return response;
      let text = "";
      const cut = new TransformStream({
        transform(chunk, controller) {
          text += new TextDecoder().decode(chunk);
          const end = text.indexOf("\n\n", text.indexOf(names[0]));
          if (!text.includes(names[0]) || end < 0) return;
          controller.enqueue(new TextEncoder().encode(text.slice(0, end + 2)));
          controller.terminate();
        },
      });
      return new Response(response.body.pipeThrough(cut), response);
    },
  });
  await new Promise((done) => source.addEventListener("message", ({ data }) => {
    got.push(JSON.parse(data).data.name);
    if (got.length === 2) done();
  }));
  source.close();
  assert.deepEqual(got, names);
  assert.equal(requests, 2);
});

test("live patches are applied by @n1ru4l/graphql-live-query-patch-json-patch", async () => {
  const list = "books(first: 20, orderBy: [{field: PRICE}, {field: NAME}]) { totalCount nodes { id name author price genre { name category { name } } } pageInfo { endCursor } }";
  const { books: { nodes: [{ id }] }, genres: { nodes: [genre] } } = await ask("{ books(first: 1) { nodes { id } } genres(first: 1) { nodes { id } } }");
  const writes = [
    `updateBook(input: {id: ${id}, patch: {price: 0.01}}) { clientMutationId }`,
    `createBook(input: {name: "On Patches", pages: 1, publishedAt: "2000-01-01", author: "A", price: 0, genreId: ${genre.id}}) { clientMutationId }`,
    `updateGenre(input: {id: ${genre.id}, patch: {name: "Patched"}}) { clientMutationId }`,
    `updateBook(input: {id: ${id}, patch: {price: 0.02, name: "Moved ~ / \\" é"}}) { clientMutationId }`,
    `deleteBook(input: {id: ${id}}) { clientMutationId }`,
  ];
  const clients = [sockets(), createSSEClient({ url: address, headers: () => ({ Authorization: `Bearer ${token}` }) })];
  const streams = clients.map((client) => {
    const messages = [];
    const received = (async function* () {
      for await (const message of client.iterate({ query: `query @live { ${list} }`, extensions: { live: { patch: true } } })) {
        messages.push(message);
        yield message;
      }
    })();
    return { messages, results: applyLiveQueryJSONPatch(received) };
  });
  for (const write of [null, ...writes]) {
    if (write) await ask(`mutation { ${write} }`);
    const whole = await ask(`{ ${list} }`);
    for (const { results } of streams) assert.deepEqual((await results.next()).value.data, whole, write);
  }
  for (const { messages } of streams) {
    assert.deepEqual(messages.map(({ revision }) => revision), [1, 2, 3, 4, 5, 6]);
    assert.ok(messages.slice(1).every(({ patch, data }) => patch && !data));
  }
  for (const client of clients) client.dispose();
});
