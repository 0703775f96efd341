// GraphQL Code Generator asks the running service for its schema.
const url = `${process.env.CATALOGUE_URL ?? "http://localhost:8080"}/graphql`;

export default {
  // Its own fetch asks for zstd, which Node cannot read before 22.15.
  schema: { [url]: { headers: { "accept-encoding": "gzip" } } },
  importExtension: ".js",
  documents: "typescript/books.ts",
  generates: {
    "typescript/graphql/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: "string",
        useTypeImports: true,
        defaultScalarType: "string", // what Date, DateTime and Decimal are in JSON
      },
    },
  },
};
