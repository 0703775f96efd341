// Promises the current schema to clients (make schema). Refuses a breaking change without --break.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { currentSchema, promised } from "./catalogue.mjs";
import { changes, describe } from "./changes.mjs";

const current = currentSchema();
const list = existsSync(promised) ? await changes(readFileSync(promised, "utf8"), current) : [];
console.log(describe(list) || "no changes");
if (list.some((change) => change.breaks) && !process.argv.includes("--break")) {
  console.error("\nDeprecate it first with @deprecated(reason), or break clients by make schema ARGS=--break.");
  process.exit(1);
}
writeFileSync(promised, current);
