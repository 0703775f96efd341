// Copies the files of package.json's list "assets" from npm's packages to dist/, and the licences of this folder and of
// all packages. npm runs it in the folder of the package.json.
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const list = readFileSync('package.json', 'utf8');
const pinned = JSON.parse(list);
for (const entry of pinned.assets) {
  const from = `node_modules/${entry.file}`;
  entry.integrity = `sha384-${createHash('sha384').update(readFileSync(from)).digest('base64')}`;
  copyFileSync(from, `dist/${entry.name ?? basename(entry.file)}`);
}

const folders = Object.keys(JSON.parse(readFileSync('package-lock.json', 'utf8')).packages).map((folder) => folder || '.');
const licences = folders.flatMap((folder) => readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)).map((name) => `${folder}/${name}`));
const folder = basename(process.cwd());
writeFileSync(`dist/${folder}.LICENSES.txt`, licences.map((path) => `${path}\n\n${readFileSync(path, 'utf8')}\n`).join('\n'));

const current = `${JSON.stringify(pinned, null, 2)}\n`;
if (current !== list) {
  writeFileSync('package.json', current);
  console.error(`The hashes in web/${folder}/package.json were out of date. They are corrected: review and commit them.`);
  process.exit(1);
}
