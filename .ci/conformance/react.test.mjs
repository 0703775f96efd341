// examples/react, built and used in Chromium on another origin than the server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTCPServer } from "node:net";
import { extname, join, resolve } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { here, serve } from "./catalogue.mjs";

const example = resolve(here, "../../examples/react");

// listen starts a server and returns its address without the scheme, and a function that ends it.
async function listen(server) {
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { host: `127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// files serves the built example.
const files = () => listen(createServer((request, response) => {
  const name = request.url === "/" ? "/index.html" : request.url;
  try {
    const body = readFileSync(join(example, "dist", name));
    response.writeHead(200, { "Content-Type": { ".html": "text/html", ".js": "text/javascript" }[extname(name)] }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}));

// wire passes connections to a server. drop breaks them and those to come, until mend.
async function wire(target) {
  const { hostname: host, port } = new URL(target);
  const open = new Set();
  let broken = false;
  const server = createTCPServer((client) => {
    if (broken) return client.destroy();
    const upstream = connect({ host, port });
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      open.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => open.delete(from) && to.destroy());
    }
  });
  const drop = () => {
    broken = true;
    for (const socket of open) socket.destroy();
  };
  const { host: address, close } = await listen(server);
  return { url: `http://${address}`, drop, mend: () => { broken = false; }, close: () => { drop(); close(); } };
}

test("examples/react lists, creates, follows and resolves a conflict in Chromium", async (t) => {
  const pages = await files();
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
  const { books: { totalCount, nodes }, viewer } = await graphql(
    `{ viewer { subject } books(first: 1, orderBy: [{field: ID, direction: DESC}]) { totalCount nodes { id name author genre { name category { name } } } } }`);
  const change = (id, patch) => graphql(`mutation ($input: UpdateBookInput!) { updateBook(input: $input) { book { version } } }`, { input: { id, patch } });

  assert.ok(process.env.CHROMIUM, "CHROMIUM must be the path of Chromium: run make conformance");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const failures = [];
  page.on("pageerror", (error) => failures.push(error));
  await page.goto(`http://${pages.host}/`);
  const rows = page.locator("tbody tr");
  const count = (shown, all) => page.getByText(`${shown} of ${all}`, { exact: true }).waitFor();

  // The list: each book with its genre and category, and the next page.
  await count(20, totalCount);
  const [{ name, author, genre }] = nodes;
  const cells = await rows.first().locator("th, td").allTextContents();
  assert.deepEqual(cells.slice(0, 3), [name, author, `${genre.name}, ${genre.category.name}`]);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await count(40, totalCount);

  // A new book arrives by the subscription, with the actor, whom only a connection with a token may see.
  await page.getByLabel("Token").fill(token);
  for (const [label, value] of [["Name", "Momo"], ["Author", "Michael Ende"], ["Pages", "304"], ["Price", "9.99"]]) {
    await page.getByPlaceholder(label).fill(value);
  }
  await page.getByLabel("Published").fill("1973-01-01");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await count(41, totalCount + 1);
  await page.getByText(`CREATE Momo by ${viewer.subject}`).waitFor();
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

  // Changes while the connection is lost arrive after it, once.
  line.drop();
  await graphql(`mutation { deleteBook(input: {id: ${nodes[0].id}}) { deletedBookId } }`);
  line.mend();
  await count(40, totalCount);
  line.drop();
  await change(id, { price: "5.55" });
  line.mend();
  await price.getByText("5.55", { exact: true }).waitFor();
  await count(40, totalCount);
  assert.equal(await rows.filter({ hasText: name }).count(), 0);
  assert.deepEqual(failures, []);
});
