// The clients in examples/, run by the commands of their README.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { here, serve } from "./catalogue.mjs";

const run = promisify(execFile);
const examples = resolve(here, "../../examples");

// observe starts a proxy of the server that records GraphQL documents and the tokens of logins. It ends the session of
// the last login before the mutation number ends.
async function observe(server, ends) {
  const documents = [];
  const logins = [];
  const proxy = createServer(async (request, response) => {
    const { method, url, headers: { accept, authorization } } = request;
    const body = method === "POST" ? Buffer.concat(await request.toArray()).toString() : undefined;
    const headers = { "Content-Type": "application/json", Accept: accept ?? "*/*", ...(authorization && { Authorization: authorization }) };
    if (url.startsWith("/graphql")) {
      documents.push(body ? JSON.parse(body).query : new URL(url, server.url).searchParams.get("query"));
      const mutations = documents.filter((document) => document.includes("mutation")).length;
      if (mutations === ends && documents.at(-1).includes("mutation")) {
        assert.equal((await fetch(`${server.url}/api/logout`, { method: "POST", headers })).status, 200);
      }
    }
    const answer = await fetch(server.url + url, { method, headers, body });
    const text = await answer.text();
    if (url === "/api/login") logins.push(JSON.parse(text).data.token);
    response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") });
    response.end(text);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { documents, logins, url: `http://127.0.0.1:${proxy.address().port}`, close };
}

// withLogin are the clients that log in, again after the end of their session. The others have a token.
const withLogin = ["npm run --silent fetch", "npm run --silent apollo"];

for (const command of [...withLogin, "npm run --silent urql", "npm run --silent typescript", "python3 python/books.py", "go run ./go"]) {
  test(command, async () => {
    const server = await serve();
    const logsIn = withLogin.includes(command);
    const proxy = await observe(server, logsIn ? 3 : undefined);
    try {
      const credentials = logsIn ? { CATALOGUE_EMAIL: "ada", CATALOGUE_PASSWORD: await server.account("ada") } : { TOKEN: server.token() };
      const rest = async (path) => (await fetch(`${server.url}/api/${path}`)).json();
      const { data: books } = await rest("books");
      const [first] = books;
      const [program, ...args] = command.split(" ");
      const { stdout } = await run(program, args, { cwd: examples, env: { ...process.env, CATALOGUE_URL: proxy.url, ...credentials } });
      const lines = stdout.trim().split("\n");
      const price = (price, pages) => `price ${price}, ${pages} pages`;

      assert.deepEqual(lines.slice(0, 4), [
        ...books.slice(0, 3).map(({ name, genre }) => `${name}: ${genre.name}, ${genre.category.name}`),
        `${books.length} books`,
      ]);
      const [conflict] = lines.flatMap((line, i) => (line === "changed concurrently: trying again with version 2" ? i : []));
      assert.ok(lines.slice(4, conflict).includes(price("4.50", first.pages)), `not shown at once:\n${stdout}`);
      assert.equal(lines.at(-1), price("4.50", first.pages + 1));
      const { data: now } = await rest(`books/${first.id}`);
      assert.deepEqual([now.price, now.pages], ["4.50", first.pages + 1]);

      const asked = proxy.documents.filter((document) => !document.includes("__schema"));
      assert.deepEqual(asked.map((document) => /category|pageInfo|mutation|book/.exec(document.replace(/\bbooks\b/g, ""))[0]),
        ["category", "pageInfo", "pageInfo", "book", "mutation", "mutation", "book", ...(logsIn ? ["mutation"] : []), "mutation"]);
      assert.equal(new Set(proxy.logins).size, logsIn ? 2 : 0, "logins");
    } finally {
      proxy.close();
      await server.close();
    }
  });
}
