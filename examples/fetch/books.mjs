// The catalogue with fetch alone, in Node or in a browser.
const catalogue = process.env.CATALOGUE_URL ?? "http://localhost:8080";

let login; // a promise of { token, expires_at }, or undefined

// token returns the token for writes. It logs in when there is none, when it expires within a minute, or when the
// catalogue has refused it: a token lasts an hour, and less if its session ends.
async function token(refused) {
  const known = await login;
  if (!known || known.token === refused || Date.parse(known.expires_at) < Date.now() + 60_000) {
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

async function graphql(query, variables, headers) {
  const response = await fetch(`${catalogue}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw Object.assign(new Error(errors[0].message), errors[0].extensions);
  return data;
}

// write sends a mutation. Reads need no token.
async function write(mutation, variables) {
  const known = await token();
  try {
    return await graphql(mutation, variables, { Authorization: `Bearer ${known}` });
  } catch (error) {
    if (error.code !== "UNAUTHENTICATED") throw error;
    return graphql(mutation, variables, { Authorization: `Bearer ${await token(known)}` });
  }
}

// Books with their genres and categories, in one request.
async function firstBooks() {
  const { books } = await graphql(`{ books(first: 3) { nodes { name genre { name category { name } } } } }`);
  return books.nodes;
}

// Every book, page by page.
async function* allBooks() {
  for (let after; ;) {
    const { books } = await graphql(
      `query ($after: String) { books(first: 200, after: $after) { nodes { id name } pageInfo { hasNextPage endCursor } } }`,
      { after },
    );
    yield* books.nodes;
    if (!books.pageInfo.hasNextPage) return;
    after = books.pageInfo.endCursor;
  }
}

async function readBook(id) {
  const { book } = await graphql(`query ($id: ID!) { book(id: $id) { id version name pages price } }`, { id });
  return book;
}

// Changes a book that was read before, and shows the change at once. Where
// somebody else has changed the book meanwhile, both changes are kept; one of the
// same field is theirs until a person decides.
async function changeBook(book, patch, show) {
  show({ ...book, ...patch });
  try {
    const { updateBook } = await write(
      `mutation ($input: UpdateBookInput!) { updateBook(input: $input) { book { id version name pages price } } }`,
      { input: { id: book.id, expectedVersion: book.version, patch } },
    );
    show(updateBook.book);
  } catch (error) {
    const now = await readBook(book.id);
    show(now);
    if (error.code !== "CONFLICT" || Object.keys(patch).some((field) => now[field] !== book[field])) throw error;
    console.log(`changed concurrently: trying again with version ${now.version}`);
    await changeBook(now, patch, show);
  }
}

for (const book of await firstBooks()) console.log(`${book.name}: ${book.genre.name}, ${book.genre.category.name}`);

let count = 0;
for await (const _ of allBooks()) count++;
console.log(`${count} books`);

const show = (book) => console.log(`price ${book.price}, ${book.pages} pages`);
const book = await readBook(1);
await changeBook(book, { pages: book.pages + 1 }, () => {}); // somebody else
await changeBook(book, { price: "4.50" }, show);
