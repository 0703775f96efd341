// Makes the schema of today the one that clients are promised (make schema).
// A change that breaks clients is refused, unless it is meant: --break.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { currentSchema, promised } from "./catalogue.mjs";
import { changes, describe } from "./changes.mjs";

const current = currentSchema();
const list = existsSync(promised) ? await changes(readFileSync(promised, "utf8"), current) : [];
console.log(describe(list) || "nothing has changed");
if (list.some((change) => change.breaks) && !process.argv.includes("--break")) {
  console.error("\nDeprecate it first, with @deprecated(reason). Where clients are to break, make schema ARGS=--break.");
  process.exit(1);
}
writeFileSync(promised, current);
