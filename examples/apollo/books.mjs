// The catalogue with Apollo Client and its cache.
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";

const client = new ApolloClient({
  link: new HttpLink({
    uri: `${process.env.CATALOGUE_URL ?? "http://localhost:8080"}/graphql`,
    headers: { Authorization: `Bearer ${process.env.TOKEN}` }, // writes need one
  }),
  cache: new InMemoryCache({
    typePolicies: { Query: { fields: { books: relayStylePagination(["filter", "orderBy", "search"]) } } },
  }),
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

// Changes a book that was read before. The cache shows the change at once, and
// takes it back if it fails. Where somebody else has changed the book meanwhile,
// both changes are kept; one of the same field is theirs until a person decides.
async function changeBook(book, patch) {
  try {
    await client.mutate({
      mutation: CHANGE,
      variables: { input: { id: book.id, expectedVersion: book.version, patch } },
      optimisticResponse: { updateBook: { __typename: "UpdateBookPayload", book: { ...book, ...patch } } },
    });
  } catch (error) {
    const conflict = CombinedGraphQLErrors.is(error) && error.errors[0].extensions.code === "CONFLICT";
    const { data } = await client.query({ query: BOOK, variables: { id: book.id }, fetchPolicy: "network-only" });
    if (!conflict || Object.keys(patch).some((field) => data.book[field] !== book[field])) throw error;
    console.log(`changed concurrently: trying again with version ${data.book.version}`);
    await changeBook(data.book, patch);
  }
}

const { data } = await client.query({ query: SHELF });
for (const { node } of data.books.edges) console.log(`${node.name}: ${node.genre.name}, ${node.genre.category.name}`);

let page = await client.query({ query: LIST });
const list = client.watchQuery({ query: LIST });
const watchedList = list.subscribe(() => {}); // a component would show the books
while (page.data.books.pageInfo.hasNextPage) {
  page = await list.fetchMore({ variables: { after: page.data.books.pageInfo.endCursor } });
}
console.log(`${client.readQuery({ query: LIST }).books.edges.length} books`);
watchedList.unsubscribe();

const { data: { book } } = await client.query({ query: BOOK, variables: { id: 1 } });
const watchedBook = client.watchQuery({ query: BOOK, variables: { id: 1 } }).subscribe(({ data }) => {
  if (data?.book) console.log(`price ${data.book.price}, ${data.book.pages} pages`);
});
const others = { id: book.id, patch: { pages: book.pages + 1 } }; // somebody else, past this cache
await client.mutate({ mutation: CHANGE, variables: { input: others }, fetchPolicy: "no-cache" });
await changeBook(book, { price: "4.50" });
watchedBook.unsubscribe();
client.stop();
