// A client of POST /api/imports.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { here, serve } from "./catalogue.mjs";

test("python3 python/import_file.py", async () => {
  const server = await serve();
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const file = join(folder, "books.csv");
  try {
    const send = (text, ...parameters) => {
      writeFileSync(file, `name;pages;published_at;author;price;genre;category\n${text}`);
      const { status, stdout } = spawnSync("python3", [resolve(here, "../../examples/python/import_file.py"), file, ...parameters],
        { encoding: "utf8", env: { ...process.env, CATALOGUE_URL: server.url, TOKEN: server.token() } });
      return [status, stdout.split("\n")[0]];
    };
    const books = "Sent;7;3/4/2005;A;1,50;New;New\nBad;0;3/4/2005;A;1,50;New;New\n";
    const [asked, question] = send(books);
    assert.equal(asked, 1);
    assert.match(question, /can be read in two ways/);
    assert.deepEqual(send(books, "dates=dmy"), [0, "The file is imported. 1 created, 1 rejected"]);
    assert.match(readFileSync(`${file}.rejects.csv`, "utf8"), /^line 3,.*Bad,0,/m);
    const { data } = await (await fetch(`${server.url}/api/books?author=A&name=Sent`)).json();
    assert.deepEqual(data.map(({ name, published_at, price }) => [name, published_at, price]), [["Sent", "2005-04-03", "1.50"]]);
  } finally {
    rmSync(folder, { recursive: true });
    await server.close();
  }
});
