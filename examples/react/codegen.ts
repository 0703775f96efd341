import type { CodegenConfig } from "@graphql-codegen/cli";

// The running service is asked for its schema.
const url = `${process.env.CATALOGUE_URL ?? "http://localhost:8080"}/graphql`;

const config: CodegenConfig = {
  schema: { [url]: { headers: { "accept-encoding": "gzip" } } }, // the generator offers zstd, which Node reads from 22.15
  documents: "src/**/*.{ts,tsx}",
  generates: {
    "src/graphql/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true, // for verbatimModuleSyntax
        defaultScalarType: "string", // what Date, DateTime and Decimal are in JSON
        nonOptionalTypename: true, // Apollo Client requests __typename
      },
    },
  },
};

export default config;
