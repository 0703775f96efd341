// The catalogue with urql and its normalized cache.
import { Client, fetchExchange, gql } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";

const service = {
  url: `${process.env.CATALOGUE_URL ?? "http://localhost:8080"}/graphql`,
  fetchOptions: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } }, // writes need one
};

const client = new Client({
  ...service,
  exchanges: [
    cacheExchange({
      resolvers: { Query: { books: relayPagination() } },
      // Shown until the answer comes, and taken back if it is an error.
      optimistic: {
        updateBook: ({ input }) => ({ __typename: "UpdateBookPayload", book: { __typename: "Book", id: input.id, ...input.patch } }),
      },
    }),
    fetchExchange,
  ],
});

// Books with their genres and categories, in one request.
const SHELF = gql`query Shelf { books(first: 3) { edges { node { id name genre { id name category { id name } } } } } }`;

// A list that grows by a page.
const LIST = gql`
  query List($after: String) {
    books(first: 200, after: $after, orderBy: [{ field: NAME }]) {
      edges { node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }`;

const BOOK = gql`query Book($id: ID!) { book(id: $id) { id version name pages price } }`;
const CHANGE = gql`
  mutation Change($input: UpdateBookInput!) {
    updateBook(input: $input) { book { id version name pages price } }
  }`;

// Changes a book that was read before. The cache shows the change at once. Where
// somebody else has changed the book meanwhile, both changes are kept; one of the
// same field is theirs until a person decides.
async function changeBook(book, patch) {
  const { error } = await client.mutation(CHANGE, { input: { id: book.id, expectedVersion: book.version, patch } });
  if (!error) return;
  const { data } = await client.query(BOOK, { id: book.id }, { requestPolicy: "network-only" });
  const conflict = error.graphQLErrors[0]?.extensions.code === "CONFLICT";
  if (!conflict || Object.keys(patch).some((field) => data.book[field] !== book[field])) throw error;
  console.log(`changed concurrently: trying again with version ${data.book.version}`);
  await changeBook(data.book, patch);
}

const { data } = await client.query(SHELF, {});
for (const { node } of data.books.edges) console.log(`${node.name}: ${node.genre.name}, ${node.genre.category.name}`);

let list = await client.query(LIST, {});
while (list.data.books.pageInfo.hasNextPage) {
  list = await client.query(LIST, { after: list.data.books.pageInfo.endCursor });
}
console.log(`${list.data.books.edges.length} books`);

const { data: { book } } = await client.query(BOOK, { id: "1" });
const watched = client.query(BOOK, { id: "1" }).subscribe(({ data }) => {
  console.log(`price ${data.book.price}, ${data.book.pages} pages`);
});
const others = new Client({ ...service, exchanges: [fetchExchange] }); // somebody else
await others.mutation(CHANGE, { input: { id: book.id, patch: { pages: book.pages + 1 } } });
await changeBook(book, { price: "4.50" });
watched.unsubscribe();
