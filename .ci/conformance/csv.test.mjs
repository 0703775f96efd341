// Books as CSV, read by a common parser of Node programs.
import { parse } from "csv-parse/sync";
import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "./catalogue.mjs";

test("csv-parse", async () => {
  const server = await serve();
  try {
    const books = (query, accept) => fetch(`${server.url}/api/books?sort=-price,id${query}`, { headers: { Accept: accept } });
    const { data } = await (await books("", "application/json")).json();
    const expected = data.map(({ name, description, pages, published_at, author, price, genre }) => ({
      name, description: description ?? "", pages: String(pages), published_at, author, price, genre: genre.name, category: genre.category.name,
      isbn: "", publisher: "", language: "", shelf_mark: "", subtitle: "", series: "", series_number: "",
    }));
    assert.ok(expected.length > 100);
    assert.deepEqual(parse(await (await books("", "text/csv")).text(), { columns: true }), expected);
    const page = await books("&format=spreadsheet&per_page=2", "*/*");
    const columns = Object.keys(expected[0]); // whose order is that of the labels
    assert.deepEqual(parse(Buffer.from(await page.arrayBuffer()), { columns: () => columns, bom: true }), expected.slice(0, 2));
  } finally {
    await server.close();
  }
});
