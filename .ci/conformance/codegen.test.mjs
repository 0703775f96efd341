// A client in TypeScript, with types for an operation of each root field.
import { generate } from "@graphql-codegen/cli";
import { buildSchema, getNamedType, isAbstractType, isLeafType, isRequiredArgument } from "graphql";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answersOnly, generated, here, scalars, servedSchema } from "./catalogue.mjs";

const text = await servedSchema();
const schema = buildSchema(text);

// selection writes the fields of a type that need no argument, to a depth. The last level has leaves only.
function selection(type, levels) {
  const parts = ["__typename"];
  for (const field of Object.values(type.getFields?.() ?? {})) {
    const inner = getNamedType(field.type);
    if (field.args.some(isRequiredArgument)) continue;
    if (isLeafType(inner)) parts.push(field.name);
    else if (levels > 1) parts.push(field.name + selection(inner, levels - 1));
  }
  if (isAbstractType(type)) {
    for (const of of schema.getPossibleTypes(type)) parts.push(`... on ${of.name} ${selection(of, 1)}`);
  }
  return ` { ${parts.join(" ")} }`;
}

// operation writes the operation of one root field, with a variable for each argument.
function operation(kind, field) {
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(", ");
  const given = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(", ");
  const type = getNamedType(field.type);
  return `${kind} ${kind}_${field.name}${declared && `(${declared})`} { ${field.name}${given && `(${given})`}${isLeafType(type) ? "" : selection(type, 3)} }`;
}

test("the client preset types an operation of each root field, tsc --strict accepts them, and the server accepts their manifest", async () => {
  const folder = join(generated, "codegen");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const lines = [`import type { ResultOf, VariablesOf } from "@graphql-typed-document-node/core";`, `import { graphql } from "./gql";`];
  for (const [kind, root] of [["query", schema.getQueryType()], ["mutation", schema.getMutationType()], ["subscription", schema.getSubscriptionType()]]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      lines.push(`export const ${kind}_${field.name} = graphql(\`${operation(kind, field)}\`);`,
        `export const of_${kind}_${field.name} = (ask: (document: typeof ${kind}_${field.name}, variables: VariablesOf<typeof ${kind}_${field.name}>) => ResultOf<typeof ${kind}_${field.name}>, variables: VariablesOf<typeof ${kind}_${field.name}>) => ask(${kind}_${field.name}, variables).${field.name};`);
    }
  }
  lines.push(`export const price = (found: ResultOf<typeof query_book>): string | undefined => found.book?.price;`);
  writeFileSync(join(folder, "operations.ts"), lines.join("\n"));
  writeFileSync(join(folder, "schema.graphql"), text);
  await generate({
    cwd: folder,
    silent: true,
    schema: "schema.graphql",
    documents: "operations.ts",
    generates: {
      "gql/": {
        preset: "client",
        presetConfig: { fragmentMasking: false, persistedDocuments: true },
        config: { strictScalars: true, scalars: scalars({ input: "string | number", output: "string" }) },
      },
    },
  }, true);
  execFileSync(join(here, "node_modules/.bin/tsc"),
    ["--strict", "--noEmit", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022", "--skipLibCheck", "false", join(folder, "operations.ts")],
    { stdio: "pipe" });
  const manifest = join(folder, "gql/persisted-documents.json");
  await answersOnly(manifest, JSON.parse(readFileSync(manifest, "utf8")));
});
