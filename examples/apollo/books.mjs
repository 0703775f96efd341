// The catalogue with Apollo Client and its cache.
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { ErrorLink } from "@apollo/client/link/error";
import { relayStylePagination } from "@apollo/client/utilities";
import { defer, switchMap } from "rxjs";

const catalogue = process.env.CATALOGUE_URL ?? "http://localhost:8080";

let login; // a promise of { token, expires_at }, or undefined

// token returns the token for writes. It logs in when there is none, or when it expires within a minute.
async function token() {
  const known = await login;
  if (!known || Date.parse(known.expires_at) < Date.now() + 60_000) {
    login = logIn();
    login.catch(() => { login = undefined; });
  }
  return (await login).token;
}

async function logIn() {
  const response = await fetch(`${catalogue}/api/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: process.env.CATALOGUE_EMAIL, password: process.env.CATALOGUE_PASSWORD }),
  });
  const { message, data } = await response.json();
  if (!response.ok) throw new Error(message);
  return data;
}

// Mutations have the token. Reads need none.
const authorize = new SetContextLink(async (context, { operationType }) => operationType === "mutation"
  ? { ...context, headers: { ...context.headers, Authorization: `Bearer ${await token()}` } }
  : context);

// A token lasts an hour, and less if its session ends. A mutation that the catalogue refuses for it is sent again, once.
const logInAgain = new ErrorLink(({ error, operation, forward }) => {
  const { isRepeated, headers } = operation.getContext();
  if (isRepeated || !CombinedGraphQLErrors.is(error) || error.errors[0].extensions.code !== "UNAUTHENTICATED") return;
  return defer(async () => {
    if (headers?.Authorization === `Bearer ${(await login)?.token}`) login = undefined;
  }).pipe(switchMap(() => {
    operation.setContext({ isRepeated: true });
    return forward(operation);
  }));
});

const client = new ApolloClient({
  link: ApolloLink.from([logInAgain, authorize, new HttpLink({ uri: `${catalogue}/graphql` })]),
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
