// Apollo Client with persisted queries, and a manifest from Apollo's tool.
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generated, here, serve } from "./catalogue.mjs";

const shelf = gql(readFileSync(join(here, "apollo/shelf.graphql"), "utf8"));

// client returns a client and the list of requests that it sends.
function client(server, options) {
  const sent = [];
  const send = (url, init) => {
    sent.push(init.method === "GET" ? "GET" : Object.keys(JSON.parse(init.body)).includes("query") ? "POST with the query" : "POST");
    return fetch(url, init);
  };
  const link = ApolloLink.from([new PersistedQueryLink(options), new HttpLink({ uri: `${server.url}/graphql`, fetch: send })]);
  return { sent, ask: (query) => new ApolloClient({ link, cache: new InMemoryCache() }).query({ query, fetchPolicy: "network-only" }) };
}

test("Apollo Client's automatic persisted queries, by POST and GET", async () => {
  const server = await serve();
  try {
    const sha256 = (text) => createHash("sha256").update(text).digest("hex");
    const first = client(server, { sha256 });
    assert.equal((await first.ask(shelf)).data.books.nodes.length, 2);
    assert.deepEqual(first.sent, ["POST", "POST with the query"]);
    const later = client(server, { sha256, useGETForHashedQueries: true });
    assert.equal((await later.ask(shelf)).data.books.nodes.length, 2);
    assert.deepEqual(later.sent, ["GET"]);
  } finally {
    await server.close();
  }
});

test("the server accepts a manifest of generate-persisted-query-manifest", async () => {
  const folder = join(generated, "apollo");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "manifest.json");
  writeFileSync(join(folder, "config.json"), JSON.stringify({ documents: [join(here, "apollo/*.graphql")], output: manifest }));
  execFileSync(join(here, "node_modules/.bin/generate-persisted-query-manifest"), ["--config", join(folder, "config.json")], { cwd: here, stdio: "pipe" });
  const server = await serve(`--trusted-documents=${manifest}`);
  try {
    const { sent, ask } = client(server, generatePersistedQueryIdsFromManifest({ loadManifest: async () => JSON.parse(readFileSync(manifest, "utf8")) }));
    assert.equal((await ask(shelf)).data.books.nodes.length, 2);
    assert.deepEqual(sent, ["POST"]);
    await assert.rejects(client(server, { sha256: () => "x" }).ask(gql`query Other { __typename }`), /runs only trusted documents/);
  } finally {
    await server.close();
  }
});
