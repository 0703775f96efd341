// The description of /api, checked by the two most common linters.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConfig, lint } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";
import { here } from "./catalogue.mjs";

const file = join(here, "../../rest/openapi.yaml");

test("Redocly, recommended-strict", async () => {
  const problems = await lint({ ref: file, config: await createConfig({ extends: ["recommended-strict"] }) });
  assert.deepEqual(problems.map((p) => `${p.location[0]?.pointer}: ${p.message}`), []);
});

test("Spectral, the rules of OpenAPI", async () => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [rulesets.oas], rules: {} });
  const problems = await linter.run(new spectral.Document(readFileSync(file, "utf8"), parsers.Yaml, file));
  assert.deepEqual(problems.map((p) => `${p.path.join(".")}: ${p.message}`), []);
});
