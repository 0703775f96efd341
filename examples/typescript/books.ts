// The catalogue with types for every query and every answer, made by GraphQL Code
// Generator from the service's schema.
import { graphql } from "./graphql/index.js";
import type { BookQuery, TypedDocumentString } from "./graphql/graphql.js";

const url = `${process.env.CATALOGUE_URL ?? "http://localhost:8080"}/graphql`;
const headers = {
  "Content-Type": "application/json",
  Authorization: `Bearer ${process.env.TOKEN}`, // writes need one
};

class GraphQLError extends Error {
  constructor(message: string, readonly code: string) {
    super(message);
  }
}

async function ask<Data, Variables>(query: TypedDocumentString<Data, Variables>, variables: Variables): Promise<Data> {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new GraphQLError(errors[0].message, errors[0].extensions.code);
  return data;
}

// Books with their genres and categories, in one request.
const SHELF = graphql(`
  query Shelf {
    books(first: 3) { nodes { name genre { name category { name } } } }
  }`);

const LIST = graphql(`
  query List($after: String) {
    books(first: 200, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } }
  }`);

const BOOK = graphql(`
  query Book($id: ID!) {
    book(id: $id) { id version name pages price }
  }`);

const CHANGE = graphql(`
  mutation Change($input: UpdateBookInput!) {
    updateBook(input: $input) { book { id version name pages price } }
  }`);

type Book = NonNullable<BookQuery["book"]>;

// Every book, page by page.
async function* allBooks() {
  for (let after: string | null | undefined; ;) {
    const { books } = await ask(LIST, { after });
    yield* books.nodes;
    if (!books.pageInfo.hasNextPage) return;
    after = books.pageInfo.endCursor;
  }
}

async function readBook(id: string): Promise<Book> {
  const { book } = await ask(BOOK, { id });
  if (!book) throw new Error(`there is no book ${id}`);
  return book;
}

// Changes a book that was read before, and shows the change at once. Where
// somebody else has changed the book meanwhile, both changes are kept; one of the
// same field is theirs until a person decides.
async function changeBook(book: Book, patch: Partial<Pick<Book, "name" | "pages" | "price">>, show: (book: Book) => void): Promise<void> {
  show({ ...book, ...patch });
  try {
    show((await ask(CHANGE, { input: { id: book.id, expectedVersion: book.version, patch } })).updateBook!.book);
  } catch (error) {
    const now = await readBook(book.id);
    show(now);
    const fields = Object.keys(patch) as (keyof typeof patch)[];
    if (!(error instanceof GraphQLError && error.code === "CONFLICT") || fields.some((field) => now[field] !== book[field])) throw error;
    console.log(`changed concurrently: trying again with version ${now.version}`);
    await changeBook(now, patch, show);
  }
}

for (const book of (await ask(SHELF, {})).books.nodes) console.log(`${book.name}: ${book.genre.name}, ${book.genre.category.name}`);

let count = 0;
for await (const _ of allBooks()) count++;
console.log(`${count} books`);

const show = (book: Book) => console.log(`price ${book.price}, ${book.pages} pages`);
const book = await readBook("1");
await changeBook(book, { pages: book.pages + 1 }, () => {}); // somebody else
await changeBook(book, { price: "4.50" }, show);
