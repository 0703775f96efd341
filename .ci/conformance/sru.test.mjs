// SRU, asked by yaz-client, by zoomsh and by the client of the National Library of Finland.
import sru from "@natlibfi/sru-client"; // CommonJS
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { serve } from "./catalogue.mjs";

// run feeds commands to a program, and returns what it prints.
function run(program, ...commands) {
  const { stdout, stderr, error } = spawnSync(program, { input: `${commands.join("\n")}\nquit\n`, encoding: "utf8", timeout: 60_000 });
  assert.ifError(error);
  return stdout + stderr;
}

test("SRU", async (t) => {
  const server = await serve("--empty", "--sru");
  const address = `${server.url}/sru`;
  const headers = { Authorization: `Bearer ${server.token()}`, "Content-Type": "application/json" };
  try {
    for (const [path, body] of [
      ["categories", { name: "Novels" }], ["genres", { name: "Tales", category_id: 1 }],
      ...["The Blue Hat", "A Blue & Green <Cat>", "Start"].map((name, i) => ["books", {
        name, author: "Ann Lee", pages: 7, price: "1", genre_id: 1, published_at: `199${i}-01-01`, isbn: ["9783161484100", "9780306406157"][i],
      }]),
    ]) {
      const response = await fetch(`${server.url}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(response.status, 201, await response.text());
    }
    await t.test("yaz-client finds a book by ISBN and by two words of its title", () => {
      const said = run("yaz-client", "sru get 1.2", `open ${address}`, "find bath.isbn=978-0-306-40615-7", "show 1", 'find dc.title="hat blue"', "show 1", "find lccn=1");
      assert.deepEqual([...said.matchAll(/Number of hits: (\d+)/g)].map(([, n]) => n), ["1", "1", "1", "1", "0"], said);
      assert.match(said, /A Blue &amp; Green &lt;Cat&gt;/);
      assert.match(said, /The Blue Hat/);
      assert.match(said, /info:srw\/diagnostic\/1\/16/);
    });
    await t.test("zoomsh gets Dublin Core", () => {
      const said = run("zoomsh", "set sru get", "set schema dc", `connect ${address}`, "search cql:blue", "show 0 2");
      assert.match(said, /2 hits/);
      assert.match(said, /<dc:title>The Blue Hat<\/dc:title>/);
    });
    await t.test("sru-client gets all records, page by page", async () => {
      const client = sru.default({ url: address, recordSchema: "marcxml", version: "1.2", maxRecordsPerRequest: 2 });
      const records = [];
      const search = client.searchRetrieve("cql.allRecords=1").on("record", (record) => records.push(record));
      await once(search, "end");
      assert.deepEqual(records.map((record) => record.match(/tag="001">(\d+)/)[1]), ["1", "2", "3"]);
    });
  } finally {
    await server.close();
  }
});
