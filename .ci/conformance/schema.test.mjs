// The style of the schema, and its promise to clients.
import { buildClientSchema, buildSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from "graphql";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { currentSchema, generated, here, promised, serve } from "./catalogue.mjs";
import { changes, describe } from "./changes.mjs";

const current = currentSchema();

test("its style: descriptions, names, Relay", () => {
  const file = join(generated, "schema.graphql");
  mkdirSync(generated, { recursive: true });
  writeFileSync(file, current);
  const rules = [
    "arguments-have-descriptions", "defined-types-are-used", "deprecations-have-a-reason", "descriptions-are-capitalized",
    "enum-values-all-caps", "enum-values-have-descriptions", "fields-are-camel-cased", "fields-have-descriptions",
    "input-object-values-are-camel-cased", "input-object-values-have-descriptions",
    "relay-connection-arguments-spec", "relay-connection-types-spec", "relay-page-info-spec", "types-are-capitalized", "types-have-descriptions",
  ];
  execFileSync(join(here, "node_modules/.bin/graphql-schema-linter"), ["--rules", rules.join(","), file]);
});

test("the schema in /schema.graphql is that of introspection", async () => {
  const server = await serve();
  try {
    const served = await (await fetch(`${server.url}/schema.graphql`)).text();
    const query = getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true, schemaDescription: true, specifiedByUrl: true });
    const response = await fetch(`${server.url}/graphql`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query }),
    });
    const introspected = buildClientSchema((await response.json()).data);
    assert.equal(describe(await changes(served, printSchema(introspected))), "");
    assert.equal(printSchema(lexicographicSortSchema(buildSchema(served))), printSchema(lexicographicSortSchema(introspected)));
    assert.equal(served, current);
  } finally {
    await server.close();
  }
});

test("no promise is broken", async () => {
  const broken = (await changes(readFileSync(promised, "utf8"), current)).filter((change) => change.breaks);
  assert.equal(broken.length, 0, `breaking changes:\n${describe(broken)}\nDeprecate it first with @deprecated(reason), and remove it in a later release.`);
});

test("schema.graphql is the schema of today", () => {
  assert.ok(readFileSync(promised, "utf8") === current, "the schema has grown: run make schema, and commit .ci/conformance/schema.graphql");
});
