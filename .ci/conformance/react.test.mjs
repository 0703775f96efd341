// examples/react and examples/eventsource, used in Chromium on another origin than the server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, resolve } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { here, listen, serve, wire } from "./catalogue.mjs";

const examples = resolve(here, "../../examples");
const example = join(examples, "react");

// files serves a folder.
const files = (folder) => listen(createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const name = pathname === "/" ? "/index.html" : pathname;
  try {
    const body = readFileSync(join(folder, name));
    response.writeHead(200, { "Content-Type": { ".html": "text/html", ".js": "text/javascript" }[extname(name)] }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}));

// visit opens a page in Chromium. The test fails if its script does.
async function visit(t, url) {
  assert.ok(process.env.CHROMIUM, "CHROMIUM must be the path of Chromium: run make conformance");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const failures = [];
  t.after(async () => {
    await browser.close();
    assert.deepEqual(failures, []);
  });
  const page = await browser.newPage();
  page.on("pageerror", (error) => failures.push(error));
  await page.goto(url);
  return page;
}

test("examples/react shows a live list, creates, and resolves a conflict in Chromium", async (t) => {
  const pages = await files(join(example, "dist"));
  t.after(pages.close);
  const server = await serve(`--cors-origins=http://${pages.host}`);
  t.after(server.close);
  const line = await wire(server.url);
  t.after(line.close);
  execFileSync("npm", ["run", "--silent", "build"], {
    cwd: example, stdio: "pipe", env: { ...process.env, CATALOGUE_URL: server.url, VITE_CATALOGUE_URL: line.url },
  });

  const token = server.token();
  const graphql = async (query, variables) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
    const response = await fetch(`${server.url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
    const { data, errors } = await response.json();
    assert.ok(!errors, JSON.stringify(errors));
    return data;
  };
  const { books: { totalCount, nodes } } = await graphql(
    `{ books(first: 1, orderBy: [{field: ID, direction: DESC}]) { totalCount nodes { id name author genre { id name category { name } } } } }`);
  const inGenre = async () => (await graphql(`{ books(filter: {genreId: {eq: ${nodes[0].genre.id}}}) { totalCount } }`)).books.totalCount;
  const change = (id, patch) => graphql(`mutation ($input: UpdateBookInput!) { updateBook(input: $input) { book { version } } }`, { input: { id, patch } });

  const page = await visit(t, `http://${pages.host}/`);
  const rows = page.locator("tbody tr");
  const count = (first, last, all) => page.getByText(`${first} to ${last} of ${all}`, { exact: true }).waitFor();

  // The list: each book with its genre and category, the next page, a filter, an order and a search.
  await count(1, 20, totalCount);
  const [{ name, author, genre }] = nodes;
  const cells = await rows.first().locator("th, td").allTextContents();
  assert.deepEqual(cells.slice(0, 3), [name, author, `${genre.name}, ${genre.category.name}`]);
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await count(21, 40, totalCount);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.getByLabel("Filter").selectOption(genre.name);
  const few = await inGenre();
  await count(1, Math.min(20, few), few);
  await page.getByPlaceholder("Search").fill("momo");
  await count(0, 0, 0);

  // A new book arrives in the list that it belongs to.
  await page.getByLabel("Token").fill(token);
  for (const [label, value] of [["Name", "Momo"], ["Author", "Michael Ende"], ["Pages", "304"], ["Price", "9.99"]]) {
    await page.getByPlaceholder(label).fill(value);
  }
  await page.getByLabel("Published").fill("1973-01-01");
  await page.getByLabel("Genre", { exact: true }).selectOption(genre.name);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await count(1, 1, 1);
  assert.equal(await rows.first().getByRole("rowheader").textContent(), "Momo");
  await page.getByPlaceholder("Search").fill("");
  await count(1, Math.min(20, few + 1), few + 1);
  await page.getByLabel("Filter").selectOption("All genres");
  await page.getByLabel("Order").selectOption("Newest");
  await count(1, 20, totalCount + 1);
  assert.equal(await rows.first().getByRole("rowheader").textContent(), "Momo");
  const { books: { nodes: [{ id }] } } = await graphql(`{ books(first: 1, filter: {name: {eq: "Momo"}}) { nodes { id } } }`);

  // A conflict: the row shows the change of the other, and the user's change is saved for the version of the error.
  const price = page.getByRole("button", { name: /^Change the price of Momo/ });
  await price.click();
  await page.getByLabel("Price", { exact: true }).fill("4.50");
  await change(id, { price: "7.77", pages: 99 });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Book was changed by someone else.").waitFor();
  await page.getByRole("button", { name: "Keep 7.77" }).waitFor();
  await page.getByRole("button", { name: "Save mine" }).click();
  await price.getByText("4.50", { exact: true }).waitFor();
  const { book } = await graphql(`{ book(id: ${id}) { price pages version } }`);
  assert.deepEqual(book, { price: "4.50", pages: 99, version: 3 });

  // Changes while the connection is lost are in the next state.
  line.drop();
  await graphql(`mutation { deleteBook(input: {id: ${nodes[0].id}}) { deletedBookId } }`);
  line.mend();
  await count(1, 20, totalCount);
  line.drop();
  await change(id, { price: "5.55" });
  line.mend();
  await price.getByText("5.55", { exact: true }).waitFor();

  // The list goes on without a token that is refused. An order by price moves a book when its price changes.
  await page.getByLabel("Token").fill("refused");
  await page.getByLabel("Token").blur();
  await page.getByLabel("Order").selectOption("Cheapest");
  await change(id, { price: "0" });
  await price.getByText("0.00", { exact: true }).waitFor();
  await rows.first().getByRole("rowheader").filter({ hasText: "Momo" }).waitFor();
  assert.equal(await rows.filter({ hasText: name }).count(), 0);
});

test("examples/eventsource shows a live list in Chromium", async (t) => {
  const pages = await files(join(examples, "eventsource"));
  t.after(pages.close);
  const server = await serve(`--cors-origins=http://${pages.host}`);
  t.after(server.close);
  const line = await wire(server.url);
  t.after(line.close);
  const page = await visit(t, `http://${pages.host}/?catalogue=${line.url}`);
  await page.getByPlaceholder("Search").fill("Momo");
  await page.getByText("0 books").waitFor();
  const momo = { name: "Momo", pages: 304, published_at: "1973-01-01", author: "Michael Ende", price: 9.99, genre_id: 1 };
  const create = async () => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${server.token()}` };
    const response = await fetch(`${server.url}/api/books`, { method: "POST", headers, body: JSON.stringify(momo) });
    assert.equal(response.status, 201);
  };
  await create();
  await page.getByText("1 books").waitFor();
  await page.getByText("Momo, Michael Ende: 9.99").waitFor();
  line.drop();
  await create();
  line.mend();
  await page.getByText("2 books").waitFor();
});
