// Citations, read by citation-js and by bibutils.
import { Cite } from "@citation-js/core";
import "@citation-js/plugin-bibtex";
import "@citation-js/plugin-csl";
import "@citation-js/plugin-ris";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { program, serve } from "./catalogue.mjs";

const types = { ".bib": "@bibtex/text", ".ris": "@ris/file", ".csl.json": "@else/json" }; // of citation-js
const suffixes = Object.keys(types);

// items reads citations with citation-js. Its RIS reader leaves particles in family names.
const items = (text, suffix) => new Cite(text, { forceType: types[suffix], generateGraph: false }).data.map(({ id, type, title, author, issued }) => ({
  id, type, title, issued: issued["date-parts"][0],
  author: author.map(({ family, given, suffix, literal, "non-dropping-particle": particle }) =>
    ({ family: literal ?? [particle, family].filter(Boolean).join(" "), given, suffix })),
}));

// mods reads citations with a program of bibutils, which writes MODS.
function mods(program, text) {
  const { stdout, stderr, status } = spawnSync(program, { input: text, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const plain = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&amp;", "&");
  const all = (record, pattern) => [...record.matchAll(pattern)].map(([, text]) => plain(text));
  return [...stdout.matchAll(/<mods ID="(.*?)">(.*?)<\/mods>/gs)].map(([, id, record]) => ({
    id, title: all(record, /<title>(.*?)<\/title>/g)[0], date: all(record, /<dateIssued>(.*?)<\/dateIssued>/g)[0],
    authors: all(record, /<namePart(?: type="family")?>(.*?)<\/namePart>/g), suffixes: all(record, /<namePart type="suffix">(.*?)<\/namePart>/g),
  }));
}

const hard = String.raw`{A} } "quoted" $5 & 50% #1 a_b ~x^y \z \textit{i} é 日本 -- it's '' <i>`;
const people = "Ludwig van Beethoven, Ursula K. Le Guin, Kurt Vonnegut Jr., Martin Luther King, Jr., Disney Book Group, Plato, 村上 春樹";
const names = [
  { family: "van Beethoven", given: "Ludwig" }, { family: "Le Guin", given: "Ursula K." }, { family: "Vonnegut", given: "Kurt", suffix: "Jr." },
  { family: "King", given: "Martin Luther", suffix: "Jr." }, { family: "Disney Book Group" }, { family: "Plato" }, { family: "村上 春樹" },
].map((name) => ({ given: undefined, suffix: undefined, ...name }));

test("hard books", async () => {
  const server = await serve("--empty");
  try {
    const headers = { Authorization: `Bearer ${server.token()}`, "Content-Type": "application/json" };
    const create = async (path, body) => {
      const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      assert.equal(response.status, 201, await response.text());
    };
    await create("/api/categories", { name: "C" });
    await create("/api/genres", { name: "R&D {", category_id: 1 });
    const book = { pages: 7, price: "1", genre_id: 1 };
    await create("/api/books", { ...book, name: hard, author: people, published_at: "1937-09-21", description: "One }\r\nER  - \n@book{x,\n\\" });
    await create("/api/books", { ...book, name: "50% of {$5} & #1, a_b", author: "Museum of Arts and Crafts", published_at: "0800-02-29" });
    const citations = async (path) => (await fetch(server.url + path)).text();
    for (const suffix of suffixes) {
      const [first, second, ...more] = items(await citations(`/api/books${suffix}`), suffix);
      assert.deepEqual(first, { id: "book1", type: "book", title: hard, author: names, issued: [1937, 9, 21] });
      assert.equal(second.title, "50% of {$5} & #1, a_b");
      assert.deepEqual(second.author.map(({ family }) => family), ["Museum of Arts and Crafts"]);
      assert.equal(second.issued[0], 800);
      assert.equal(more.length, 0);
      assert.deepEqual(items(await citations(`/books/2${suffix}`), suffix), [second]);
      assert.deepEqual(items(await citations(`/api/books${suffix}?ids=1`), suffix), [first]);
      assert.deepEqual(items(await citations(`/api/books${suffix}?q=quoted`), suffix), [first]);
    }
    const families = ["van Beethoven", "Le Guin", "Vonnegut", "King", "Disney Book Group", "Plato", "村上 春樹"];
    const [, inBibTeX] = mods("bib2xml", await citations("/api/books.bib"));
    assert.deepEqual(inBibTeX, { id: "book2", title: "50% of {$5} & #1, a_b", date: "800-02-29", authors: ["Museum of Arts and Crafts"], suffixes: [] });
    assert.deepEqual(mods("bib2xml", await citations("/api/books/1.bib"))[0].authors, families);
    const [inRIS] = mods("ris2xml", await citations("/api/books/1.ris"));
    assert.equal(inRIS.title, hard);
    assert.equal(inRIS.date, "1937-09-21");
    assert.deepEqual(inRIS.suffixes, ["Jr.", "Jr."]);
    assert.deepEqual(inRIS.authors.slice(0, 4), families.slice(0, 4)); // it takes all names as those of people
  } finally {
    await server.close();
  }
});

test("all books", async () => {
  const server = await serve();
  try {
    const { data } = await (await fetch(`${server.url}/api/books`)).json();
    const titles = Object.fromEntries(data.map(({ id, name }) => [`book${id}`, name.split(/\s+/).join(" ")]));
    assert.ok(data.length > 100);
    for (const suffix of suffixes) {
      const text = await (await fetch(`${server.url}/api/books${suffix}`)).text();
      assert.deepEqual(Object.fromEntries(items(text, suffix).map(({ id, title }) => [id, title])), titles);
      const program = { ".bib": "bib2xml", ".ris": "ris2xml" }[suffix];
      if (program) assert.deepEqual(mods(program, text).map(({ id }) => id).sort(), Object.keys(titles).sort());
    }
  } finally {
    await server.close();
  }
});

// What citation-js and bibutils write of our citations is imported as the same book, without the fields that they leave out.
test("books come back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const server = await serve("--empty");
  try {
    const headers = { Authorization: `Bearer ${server.token()}`, "Content-Type": "application/json" };
    const post = (path, body) => fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const book = {
      name: "The {Red} river & 50% é", author: "Ludwig van Beethoven, Kurt Vonnegut Jr.", pages: 320, published_at: "1937-09-21", price: "0.00",
      isbn: "9783161484100", publisher: "R & D", language: "de", shelf_mark: "QA 76", series: "Tall & short", series_number: "1.5",
    };
    await post("/api/categories", { name: "C" });
    await post("/api/genres", { name: "R&D", category_id: 1 });
    assert.equal((await post("/api/books", { ...book, genre_id: 1 })).status, 201);
    const ours = Object.fromEntries(await Promise.all(suffixes.map(async (suffix) => [suffix, await (await fetch(`${server.url}/api/books${suffix}`)).text()])));
    const cite = (suffix) => new Cite(ours[suffix], { forceType: types[suffix], generateGraph: false });
    const utils = (text, ...programs) => programs.reduce((input, of) => spawnSync(of, { input, encoding: "utf8" }).stdout, text);
    for (const [file, text, lost] of [
      ["ours.bib", ours[".bib"], []], ["ours.ris", ours[".ris"], []], ["ours.json", ours[".csl.json"], []],
      ["cite.bib", cite(".bib").format("bibtex"), ["language", "shelf_mark"]], ["latex.bib", cite(".bib").format("biblatex"), ["language", "shelf_mark"]],
      ["cite.ris", cite(".ris").format("ris"), []], ["cite.json", JSON.stringify(cite(".csl.json").data), []],
      ["utils.bib", utils(ours[".bib"], "bib2xml", "xml2bib"), ["shelf_mark"]], ["utils.ris", utils(ours[".ris"], "ris2xml", "xml2ris"), ["shelf_mark"]],
    ]) {
      writeFileSync(join(folder, file), text);
      const run = (...args) => {
        const { stdout, stderr, status } = spawnSync(program, [...args, `--database-url=sqlite:${file}.db`], { cwd: folder, encoding: "utf8" });
        assert.equal(status, 0, `${file}: ${stderr}\n${text}`);
        return stdout;
      };
      run("import", file, "--strict", "--default=price=0", "--default=category=C", "--default=genre=R&D", "--default=pages=320");
      const [back] = JSON.parse(run("export", "--format=json"));
      assert.deepEqual(Object.keys(book).filter((key) => back[key] !== book[key]), lost, text);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await server.close();
  }
});
