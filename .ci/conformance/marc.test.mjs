// MARCXML, read by yaz-marcdump and MARC::Lint, and files of library programs.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { here, program } from "./catalogue.mjs";

const files = resolve(here, "../../importer/testdata/programs");
const defaults = ["price=0", "genre=Unsorted", "category=Unsorted", "pages=1", "published_at=1900-01-01"].map((value) => `--default=${value}`);

// in a folder of its own, fn gets a function that runs the program there.
function withFolder(fn) {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    fn((...args) => {
      const { stdout, stderr, status } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
      assert.equal(status, 0, `${args.join(" ")}: ${stderr}`);
      return stdout;
    }, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// lint returns the warnings of MARC::Lint for a file of ISO 2709. It only guesses the articles of titles, without their
// language.
const lint = (file) => execFileSync("perl", ["-MMARC::Batch", "-MMARC::Lint", "-e", `
  my $batch = MARC::Batch->new("USMARC", $ARGV[0]); $batch->strict_on;
  my $lint = MARC::Lint->new; my $n = 0;
  while (my $record = $batch->next) { $n++; $lint->check_record($record); print "$n: $_\\n" for $lint->warnings, $batch->warnings }
  print "$n records\\n"`, file], { encoding: "utf8" }).split("\n").filter((line) => line && !/First word,? .*(may be|appear to be) an article/.test(line));

// comesBack exports the books as MARCXML, which yaz-marcdump converts to ISO 2709. These records are the same books.
function comesBack(run, folder, count) {
  run("export", "out.marcxml");
  const yaz = spawnSync("yaz-marcdump", ["-i", "marcxml", "-o", "marc", join(folder, "out.marcxml")], { maxBuffer: 1 << 28 });
  assert.deepEqual([yaz.status, yaz.stderr.toString()], [0, ""]);
  writeFileSync(join(folder, "out.mrc"), yaz.stdout);
  assert.deepEqual(lint(join(folder, "out.mrc")), [`${count} records`]);
  for (const file of ["out.mrc", "out.marcxml"]) {
    assert.match(run("import", file, "--strict"), new RegExp(`^${count} rows?: 0 created, 0 updated, ${count} unchanged, 0 rejected in `, "m"));
    const other = `--database-url=sqlite:${file}.db`;
    run("import", file, "--strict", other);
    assert.equal(run("export", other), run("export"));
  }
}

test("hard books", () => withFolder((run, folder) => {
  const book = { description: null, pages: 7, published_at: "1937-09-21", price: "1.50", genre: "R&D {$a}", category: "A /", isbn: null, publisher: null, language: null, shelf_mark: null, subtitle: null, series: null, series_number: null };
  const books = [
    { ...book, name: `{A} } "quoted" $5 & 50% #1 <i> \\z é 日本 😀`, author: "Ludwig van Beethoven, Museum of Arts and Crafts, Kurt Vonnegut Jr., Plato, 村上 春樹", description: "One\n\nTwo\nThree\n\n\nFour",
      isbn: "9783161484100", publisher: "R & D, Inc.", language: "pt-BR", shelf_mark: "QA 76.73 .J38", series: "Tall {$a} & short", series_number: "IV" },
    { ...book, name: "A river /", author: "J. R. R. Tolkien", published_at: "0800-01-01", language: "de" },
    { ...book, name: "The end", author: "Smith, J. R., Doe, S.", description: "语".repeat(19_000), language: "grc" },
  ];
  writeFileSync(join(folder, "books.json"), JSON.stringify(books));
  run("import", "books.json", "--strict");
  comesBack(run, folder, books.length);
}));

test("the sample", () => withFolder((run, folder) => {
  run("import", resolve(here, "../../examples/books.csv"));
  comesBack(run, folder, JSON.parse(run("export", "--format=json")).length);
}));

// Koha has our fields in 020, 260, 264, 852 and 952. koha.mrc is in MARC-8.
for (const [file, count] of [["koha.mrc", 2], ["koha.marcxml", 2], ["librarything.mrk", 1], ["librarything.tsv", 3], ["goodreads.csv", 3], ["zotero.bib", 2], ["zotero.ris", 2], ["zotero.csv", 2],
  ["calibre-catalog.csv", 2]]) {
  test(file, () => withFolder((run, folder) => {
    run("import", join(files, file), "--strict", ...defaults);
    const books = JSON.parse(run("export", "--format=json"));
    for (const field of ["isbn", "publisher", "language"]) {
      assert.ok(field === "language" && file === "goodreads.csv" || books.some((book) => book[field]), `${file} has lost ${field}`);
    }
    comesBack(run, folder, count);
  }));
}

// MARC-8 of all letters of ANSEL is read as yaz-marcdump reads it.
test("MARC-8", () => withFolder((run, folder) => {
  const letters = [];
  for (let c = 0xa1; c <= 0xc8; c++) if (![0xaf, 0xbb, 0xbe, 0xbf].includes(c)) letters.push([c]);
  for (let c = 0xe0; c <= 0xfe; c++) if (![0xeb, 0xec, 0xfa, 0xfb, 0xfc, 0xfd].includes(c)) letters.push([c, 0x61]);
  const field = (tag, bytes) => [tag, Buffer.concat([Buffer.from("  "), Buffer.from([0x1f, 0x61]), Buffer.from(bytes), Buffer.from([0x1e])])];
  const fields = [field("100", Buffer.from("Plato")), field("245", letters.flat()), field("260", []), field("300", Buffer.from("7 p."))];
  let directory = "", body = Buffer.alloc(0);
  for (const [tag, data] of fields) {
    directory += tag + String(data.length).padStart(4, "0") + String(body.length).padStart(5, "0");
    body = Buffer.concat([body, data]);
  }
  const base = 24 + directory.length + 1, pad = (n) => String(n).padStart(5, "0");
  const record = Buffer.concat([Buffer.from(`${pad(base + body.length + 1)}nam  22${pad(base)} a 4500${directory}\x1e`, "latin1"), body, Buffer.from([0x1d])]);
  writeFileSync(join(folder, "a.mrc"), record);
  const { stdout } = spawnSync("yaz-marcdump", ["-f", "MARC-8", "-t", "UTF-8", join(folder, "a.mrc")], { encoding: "utf8" });
  run("import", "a.mrc", "--strict", ...defaults);
  const [{ name }] = JSON.parse(run("export", "--format=json"));
  assert.equal(name, stdout.match(/^245.*\$a (.*)$/m)[1].normalize("NFC"));
}));
