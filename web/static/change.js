// The dialog that changes the ticked books: new values, a preview of all books, and one write.
import { openDialog } from './dialogs.js';
import { n, number, t } from './language.js';
import { offerAgain } from './list.js';
import { request, GraphQLError } from './request.js';
import { written } from './undo.js';
import { visit } from './visit.js';

const values = 'author price publisher language shelfMark genre { name }';
const mutation = `mutation Write($input: UpdateBooksInput!) { updateBooks(input: $input) { results { before { id name version ${values} } book { id name version ${values} } error { code message fields { field } } } } }`;

// shown are the values that a preview compares, with their labels.
const shown = [
  [t('Author'), ({ author }) => author], [t('Genre'), ({ genre }) => genre.name], [t('Publisher'), ({ publisher }) => publisher],
  [t('Language'), ({ language }) => language], [t('Shelf mark'), ({ shelfMark }) => shelfMark], [t('Price'), ({ price }) => price],
];

const particles = /^(al|da|de|del|della|den|der|di|du|el|la|le|ten|ter|van|von)\s/i;

// personsIn returns the persons in an author, as far as signs tell: the server reads the names.
function personsIn(author) {
  const text = author.replace(/\s*\([^)]*\)/g, '');
  const parts = (text.includes(';') ? text.split(';') : text.split(/,? and | & |\/|, /)).map((part) => part.trim()).filter(Boolean);
  const isList = text.includes(';') || parts.every((part) => !part.endsWith('.') && !particles.test(part) && (parts.length > 2 || part.includes(' '))); // Le Guin, Ursula K. is one
  return isList ? parts : [text.trim()];
}

// spellings returns the persons in the authors of books with the number of books, by name.
function spellings(books) {
  const counts = new Map();
  for (const { author } of books) for (const person of new Set(personsIn(author))) counts.set(person, (counts.get(person) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b));
}

// element returns an element with a text that may be in any script.
const element = (name, textContent) => Object.assign(document.createElement(name), { textContent, dir: 'auto' });

// changeOf returns the part of UpdateBooksInput that the fields of the dialog ask for, or null if they ask for nothing.
function changeOf(fields) {
  const patch = {};
  for (const name of ['genreId', 'publisher', 'language', 'shelfMark']) if (fields.get(name).trim()) patch[name] = fields.get(name).trim();
  const change = { patch };
  if (fields.has('from')) change.author = { from: fields.getAll('from'), to: fields.get('to').trim() };
  if (fields.get('percent')) change.priceFactor = `${(100 + Number(fields.get('percent'))).toFixed(4)}e-2`;
  return Object.keys(patch).length || change.author || change.priceFactor ? change : null;
}

// problemOf says why a book cannot be changed.
function problemOf({ code, message, fields: [wrong] }) {
  const ofField = { price: () => t('The new price would be out of bounds.'), author: () => t('Write a semicolon between its authors first.') }[wrong?.field];
  return ofField ? ofField() : code === 'NOT_FOUND' ? t('It was deleted.') : code === 'CONFLICT' ? t('It was changed by someone else.') : message;
}

// preview returns what a change would do: the rows that differ, and those with an error. It returns null if the user cancels.
async function preview(chosen, change) {
  const rows = chosen.map(({ id }) => ({ id }));
  const data = await request(mutation, { input: { rows, ...change, atMost: rows.length, dryRun: true } }, { write: true });
  if (!data) return null;
  const results = data.updateBooks.results.map((result, i) => ({ ...result, name: result.before?.name ?? chosen[i].name }));
  const changed = results.filter(({ before, book, error }) => !error && shown.some(([, value]) => value(before) !== value(book)));
  return { changed, failed: results.filter(({ error }) => error), count: results.length };
}

// showPreview shows the old and the new values of all books that differ, and names those that stay.
function showPreview(dialog, { changed, failed, count }, news) {
  const part = dialog.querySelector('[data-preview]');
  const title = dialog.querySelector('h2');
  const main = part.querySelector('.main');
  title.textContent = changed.length ? n('Change %s books?', changed.length) : t('No book changes');
  main.textContent = n('Change %s books', changed.length);
  main.hidden = !changed.length;
  part.querySelector('[role=status]').textContent = news;
  const same = count - changed.length - failed.length;
  part.querySelector('[data-same]').textContent = same ? n('%s books have these values already.', same) : '';
  part.querySelector('[data-failed]').hidden = !failed.length;
  part.querySelector('[data-failed] strong').textContent = n('%s books cannot be changed.', failed.length);
  part.querySelector('[data-failed] ul').replaceChildren(...failed.map(({ name, error }) => element('li', t('“%s”: %s', name, problemOf(error)))));
  part.querySelector('.names').hidden = !changed.length;
  part.querySelector('.names').replaceChildren(...changed.map(({ before, book }) => {
    const row = element('li', '');
    row.append(element('strong', before.name));
    for (const [label, value] of shown) {
      const [from, to] = [value(before), value(book)];
      if (from === to) continue;
      const line = document.createElement('div');
      line.append(`${label}: `, element('del', from ?? '–'), ' → ', element('ins', to ?? '–'));
      row.append(line);
    }
    return row;
  }));
  dialog.querySelector('[data-values]').hidden = true;
  part.hidden = false;
  title.focus();
}

const fields = () => `<h2 tabindex="-1"></h2>
  <div data-values><p class="soft">${t('Fill in what is to change. All other values stay.')}</p>
    <fieldset class="field" data-authors><legend>${t('Authors to replace')}</legend><div class="names"></div>
      <label for="dialog-to">${t('New name of these authors')}</label><input id="dialog-to" name="to" maxlength="1000" list="dialog-names" autocomplete="off"><datalist id="dialog-names"></datalist></fieldset>
    <div class="field"><label for="dialog-genre">${t('Genre')}</label><select id="dialog-genre" name="genreId"><option value="">${t('Keep the genres')}</option></select></div>
    <div class="field"><label for="dialog-publisher">${t('Publisher')}</label><input id="dialog-publisher" name="publisher" maxlength="1000"></div>
    <div class="field"><label for="dialog-language">${t('Language')}</label><input id="dialog-language" name="language" maxlength="100" placeholder="${t('German or de')}"></div>
    <div class="field"><label for="dialog-mark">${t('Shelf mark')}</label><input id="dialog-mark" name="shelfMark" maxlength="1000"></div>
    <div class="field"><label for="dialog-percent">${t('Change prices by percent')} <span class="soft">${t('(10 raises, -10 lowers)')}</span></label><input id="dialog-percent" name="percent" type="number" step="0.01" min="-100" max="10000" inputmode="text"></div>
    <p class="buttons"><button class="button main">${t('Show the changes')}</button><button type="button" class="button" data-close>${t('Cancel')}</button></p></div>
  <div data-preview hidden><p role="status"></p><div class="note bad" data-failed><strong></strong><ul></ul></div><ul class="names" tabindex="0" aria-label="${t('Changes')}"></ul><p class="soft" data-same></p>
    <p class="buttons"><button class="button main"></button><button type="button" class="button" data-back>${t('Back')}</button></p></div>`;

// fill sets the choices of the dialog.
function fill(dialog, chosen, books, genres) {
  const title = n('Change %s books', chosen.length);
  dialog.querySelector('h2').textContent = title;
  const to = dialog.querySelector('[name=to]');
  const persons = spellings(books);
  dialog.querySelector('[data-authors] .names').append(...persons.map(([person, count]) => {
    const label = Object.assign(document.createElement('label'), { className: 'choice' });
    label.append(Object.assign(document.createElement('input'), { type: 'checkbox', name: 'from', value: person }), element('span', `${person} (${number(count)})`));
    return label;
  }));
  dialog.querySelector('datalist').append(...persons.map(([person]) => new Option(person)));
  dialog.querySelector('[data-authors]').addEventListener('change', () => { to.required = Boolean(dialog.querySelector('[name=from]:checked')); });
  const select = dialog.querySelector('select');
  for (const { id, name, category } of genres) {
    let group = select.lastElementChild;
    if (group.label !== category.name) select.append(group = Object.assign(document.createElement('optgroup'), { label: category.name }));
    group.append(new Option(name, id));
  }
  dialog.querySelector('[data-back]').onclick = () => {
    dialog.querySelector('[data-preview]').hidden = true;
    dialog.querySelector('[data-values]').hidden = false;
    dialog.querySelector('h2').textContent = title;
    dialog.querySelector('h2').focus();
  };
}

// changeBooks asks for new values of the chosen books, shows what would change, and writes it.
export async function changeBooks(chosen) {
  let data, dialog, seen;
  try {
    data = await request('query Chosen($filter: BookFilter) { books(first: 1000, filter: $filter) { nodes { author } } genres(first: 1000, orderBy: [{ field: CATEGORY_NAME }, { field: NAME }]) { nodes { id name category { name } } } }',
      { filter: { id: { in: chosen.map(({ id }) => id) } } });
  } catch (error) {
    return offerAgain(error, () => changeBooks(chosen));
  }
  const show = async (change, news = '') => {
    seen = await preview(chosen, change);
    if (seen) showPreview(dialog, seen, news);
  };
  openDialog(fields(), (opened) => {
    dialog = opened;
    fill(dialog, chosen, data.books.nodes, data.genres.nodes);
  }, async (values) => {
    const change = changeOf(values);
    if (!change) throw new GraphQLError({ message: t('Fill in at least one value.') });
    if (!dialog.querySelector('[data-values]').hidden) return show(change);
    const rows = seen.changed.map(({ before }) => ({ id: before.id, expectedVersion: before.version }));
    const answer = await request(mutation, { input: { rows, ...change, atMost: rows.length } }, { write: true });
    if (!answer) return false;
    const { results } = answer.updateBooks;
    const refused = results.flatMap(({ error }, i) => error ? [t('“%s”', seen.changed[i].before.name)] : []);
    if (refused.length) return show(change, t('Nothing was changed yet, because others changed these books: %s. Here are the changes again.', refused.join(', ')));
    await visit(location.pathname + location.search, { replace: true });
    written(n('Changed: %s books.', rows.length), results.map(({ book }) => book), n('The previous values are back: %s books.', rows.length));
    return true;
  });
}
