// Normalised caches: each change keeps its place, and the row of a deletion goes.
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { cacheExchange } from "@urql/exchange-graphcache";
import { Client, fetchExchange } from "@urql/core";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import relay from "relay-runtime";
import { currentSchema, generated, here, scalars, serve } from "./catalogue.mjs";

const count = 100;
const { commitMutation, createOperationDescriptor, Environment, fetchQuery, Network, RecordSource, Store } = relay;
const query = `{ changes(types: [BOOK], ids: [1], first: 1000) { nodes { id rowId rowNodeId version name } } }`;

let server, address, headers;
before(async () => {
  server = await serve();
  address = `${server.url}/graphql`;
  headers = { "Content-Type": "application/json", Authorization: `Bearer ${server.token()}` };
  for (let version = 2; version <= count; version++) {
    const patch = `mutation { updateBook(input: { id: 1, patch: { name: "Name ${version}" } }) { clientMutationId } }`;
    const { errors } = await (await fetch(address, { method: "POST", headers, body: JSON.stringify({ query: patch }) })).json();
    assert.equal(errors, undefined);
  }
});
after(() => server.close());

// check compares the changes that a cache has with those that were made.
function check(nodes) {
  assert.equal(nodes.length, count);
  nodes.forEach(({ rowId, version, name }, i) => {
    assert.equal(rowId, "1");
    assert.equal(version, i + 1);
    if (version > 1) assert.equal(name, `Name ${version}`);
  });
  assert.equal(new Set(nodes.map(({ id }) => id)).size, count);
}

test("Apollo Client keeps 100 changes of one book", async () => {
  const client = new ApolloClient({ link: new HttpLink({ uri: address }), cache: new InMemoryCache() });
  await client.query({ query: gql(query) });
  check(client.readQuery({ query: gql(query) }).changes.nodes);
});

test("urql's Graphcache keeps 100 changes of one book", async () => {
  const client = new Client({ url: address, exchanges: [cacheExchange({ keys: { ChangePage: () => null } }), fetchExchange], preferGetMethod: false });
  await client.query(query, {}).toPromise();
  const { data } = await client.query(query, {}, { requestPolicy: "cache-only" }).toPromise();
  check(data.changes.nodes);
});

test("Relay keeps 100 changes of one book, and @deleteRecord deletes it", async () => {
  const folder = join(generated, "caches");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, "caches"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "schema.graphql"), currentSchema());
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "relay.config.json"), JSON.stringify({
    src: "src", schema: "schema.graphql", language: "javascript", customScalarTypes: scalars("string"),
    schemaConfig: { nodeInterfaceIdField: "nodeId", nodeInterfaceIdVariableName: "nodeId" },
  }));
  execFileSync(join(here, "node_modules/.bin/relay-compiler"), [], { cwd: folder, stdio: "pipe" });
  const artifact = async (name) => (await import(join(folder, `src/__generated__/${name}.graphql.js`))).default;
  const environment = new Environment({
    store: new Store(new RecordSource()),
    getDataID: (fields) => fields.nodeId ?? fields.id,
    network: Network.create(async ({ text }, variables) => (
      await fetch(address, { method: "POST", headers, body: JSON.stringify({ query: text, variables }) })).json()),
  });
  const changes = await artifact("changesQuery");
  await fetchQuery(environment, changes, {}).toPromise();
  const read = () => environment.lookup(createOperationDescriptor(changes, {}).fragment).data;
  check(read().changes.nodes);
  assert.equal(read().book.name, `Name ${count}`);
  const mutation = await artifact("changesDeleteMutation");
  await new Promise((done, failed) => commitMutation(environment, {
    mutation, variables: {}, onCompleted: done, onError: failed,
  }));
  assert.equal(read().book, null);
});
