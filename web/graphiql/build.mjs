// Copies the files of package.json's list "playground" from npm's packages to dist/, and the licences of all packages.
// React 18 and GraphiQL 4 are the last versions that script elements can load.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

process.chdir(import.meta.dirname);
const list = readFileSync('package.json', 'utf8');
const pinned = JSON.parse(list);
for (const entry of pinned.playground) {
  const from = `node_modules/${entry.file}`;
  entry.integrity = `sha384-${createHash('sha384').update(readFileSync(from)).digest('base64')}`;
  copyFileSync(from, `dist/${basename(entry.file)}`);
}

const folders = Object.keys(JSON.parse(readFileSync('package-lock.json', 'utf8')).packages).filter(Boolean);
const licences = folders.flatMap((folder) => readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).map((name) => `${folder}/${name}`));
writeFileSync('dist/graphiql.LICENSES.txt', licences.map((path) => `${path}\n\n${readFileSync(path, 'utf8')}\n`).join('\n'));

const current = `${JSON.stringify(pinned, null, 2)}\n`;
if (current !== list) {
  writeFileSync('package.json', current);
  console.error('The hashes in web/graphiql/package.json were out of date. They are corrected: review and commit them.');
  process.exit(1);
}
