// A Relay client, compiled against the schema.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answersOnly, generated, here, scalars, servedSchema } from "./catalogue.mjs";

test("relay-compiler takes a connection, a refetch by global id and a mutation, and writes trusted documents", async () => {
  const folder = join(generated, "relay");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, "relay"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "schema.graphql"), await servedSchema());
  const [, documented] = readFileSync(join(here, "../../docs/app.md"), "utf8").match(/`relay\.config\.json`:\n\n```json\n(.*?)```/s);
  const config = { ...JSON.parse(documented), customScalarTypes: scalars("string"), persistConfig: { file: "documents.json" } };
  writeFileSync(join(folder, "relay.config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "documents.json"), "{}");
  execFileSync(join(here, "node_modules/.bin/relay-compiler"), [], { cwd: folder, stdio: "pipe" });
  for (const name of ["booksPageQuery", "booksMoreQuery", "booksLineQuery", "booksCreateMutation"]) {
    assert.ok(existsSync(join(folder, "src/__generated__", `${name}.graphql.ts`)), name);
  }
  const manifest = join(folder, "documents.json");
  const documents = JSON.parse(readFileSync(manifest, "utf8"));
  // A refetch sets the variable that its query has.
  assert.match(readFileSync(join(folder, "src/__generated__/books_line.graphql.ts"), "utf8"), /"identifierQueryVariableName": "nodeId"/);
  assert.ok(Object.values(documents).some((text) => text.includes("node(nodeId: $nodeId)")));
  await answersOnly(manifest, documents);
});
