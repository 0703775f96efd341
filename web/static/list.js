// The list of books: fields that find values of a filter, and ticked books.
import { plural } from './buttons.js';
import { request, GraphQLError } from './request.js';
import { visit, announce } from './visit.js';

// openDialog loads the dialogs when the first one is needed.
async function openDialog(...args) {
  try {
    return (await import('./dialogs.js')).openDialog(...args);
  } catch {
    announce('A part of this page did not load. Try again.', true, { bad: true });
  }
}

// An empty catalogue has a button that loads the sample.
const loadSampleButton = () => { if (document.querySelector('sample-button')) import('./dialogs.js'); };
document.addEventListener('shown', loadSampleButton);
loadSampleButton();

let wait = 0;
let finding = new AbortController();

// find replaces the values of a filter by those that contain the text of its field.
async function find(field) {
  finding.abort();
  finding = new AbortController();
  const query = new URLSearchParams([...new FormData(field.form)].filter(([, value]) => value.trim()));
  const values = () => field.closest('fieldset').querySelector('.values');
  try {
    const response = await fetch(`/?${query}`, { headers: { Accept: 'text/html' }, signal: finding.signal });
    if (!response.ok) throw new Error(response.statusText);
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    values().replaceWith(next.getElementById(field.id).closest('fieldset').querySelector('.values'));
    announce(`${values().querySelectorAll('input').length} shown`);
  } catch (error) {
    if (error.name !== 'AbortError') values().textContent = 'The catalogue did not respond. Try again in a moment.';
  }
}

document.addEventListener('input', (event) => {
  if (!event.target.matches('[data-find]')) return;
  clearTimeout(wait);
  wait = setTimeout(() => find(event.target), 200);
});

const maxFound = 1000; // most books that are ticked together
const ticks = (which = '') => [...document.querySelectorAll(`.tick${which}`)];
const titleOf = (tick) => tick.closest('.row').querySelector('h2').textContent;
let elsewhere = []; // ticked books of other pages of the list, with id and name
const chosenBooks = () => [...ticks(':checked').map((tick) => ({ id: tick.value, name: titleOf(tick) })), ...elsewhere];
const idsOf = (books) => books.map(({ id }) => id);
document.addEventListener('shown', () => { elsewhere = []; });

// showTicked shows the number of ticked books and the actions for them. If all books of the page are ticked, it offers to
// tick all books of the list.
function showTicked() {
  const bar = document.querySelector('.ticked');
  const chosen = idsOf(chosenBooks());
  const total = Number(bar.dataset.total);
  const isPage = !ticks(':not(:checked)').length;
  const all = bar.querySelector('[data-all]');
  bar.hidden = !chosen.length;
  bar.querySelector('strong').textContent = isPage && chosen.length < total ? `${chosen.length.toLocaleString('en')} of ${plural(total, 'book', 'books')} ticked` : `${plural(chosen.length, 'book', 'books')} ticked`;
  all.hidden = chosen.length === total || isPage && total > maxFound;
  all.textContent = isPage ? `Tick all ${total.toLocaleString('en')}` : total > ticks().length ? 'Tick this page' : 'Tick all';
  bar.querySelector('.limit').hidden = !all.hidden || chosen.length === total;
  for (const link of bar.querySelectorAll('[data-format]')) link.href = `/api/books?ids=${chosen}&format=${link.dataset.format}`;
  for (const link of bar.querySelectorAll('[data-address]')) link.href = `${link.dataset.address}?ids=${chosen}`;
}

function offerAgain(error, act) {
  announce(error instanceof GraphQLError ? error.message : 'The catalogue did not respond.', true, { label: 'Try again', act, bad: true });
}

// tickFound ticks all books of the list, also on other pages.
async function tickFound(bar) {
  let books;
  try {
    ({ books } = await request('query Found($filter: BookFilter, $search: String) { books(first: 1000, filter: $filter, search: $search) { nodes { id name } } }', JSON.parse(bar.dataset.found)));
  } catch (error) {
    return offerAgain(error, () => tickFound(bar));
  }
  if (!bar.isConnected) return; // the user has left the list
  const here = ticks().map(({ value }) => value);
  elsewhere = books.nodes.filter(({ id }) => !here.includes(id));
  showTicked();
}

// write runs a bulk mutation for books, shows the list again and offers Undo.
async function write(chosen, name, { filter = {}, ...input }, words, done) {
  const mutation = `mutation Write($input: ${name[0].toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { results { book { id name version } } } }`;
  const data = await request(mutation, { input: { ...input, filter: { ...filter, id: { in: idsOf(chosen) } }, atMost: chosen.length } }, { write: true });
  if (!data) return false;
  await visit(location.pathname + location.search, { replace: true });
  const books = data[name].results.map(({ book }) => book);
  const count = plural(books.length, 'book', 'books');
  if (books.length) (await import('./undo.js')).written(words(count), books, done(count));
  else announce(words(count), true);
  return true;
}

function deleteTicked() {
  const chosen = chosenBooks();
  openDialog(`<h2></h2><ul class="names"></ul><p class="buttons"><button class="button danger">Delete these books</button><button type="button" class="button" data-close>Cancel</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = `Delete ${plural(chosen.length, 'book', 'books')}?`;
    for (const { name } of chosen) dialog.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: name, dir: 'auto' }));
  }, () => write(chosen, 'deleteBooks', {}, (books) => `Deleted: ${books}.`, (books) => `Back again: ${books}.`));
}

async function changeGenre() {
  const chosen = chosenBooks();
  let genres, select;
  try {
    ({ genres } = await request('query Genres { genres(first: 1000, orderBy: [{ field: CATEGORY_NAME }, { field: NAME }]) { nodes { id name category { name } } } }'));
  } catch (error) {
    return offerAgain(error, changeGenre);
  }
  openDialog(`<h2></h2><div class="field"><label for="dialog-genre">New genre of these books</label><select id="dialog-genre" name="genreId" required><option value="">Choose a genre</option></select></div>
    <p class="buttons"><button class="button main">Change genre</button><button type="button" class="button" data-close>Cancel</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = `Change the genre of ${plural(chosen.length, 'book', 'books')}`;
    select = dialog.querySelector('select');
    for (const { id, name, category } of genres.nodes) {
      let group = select.lastElementChild;
      if (group.label !== category.name) select.append(group = Object.assign(document.createElement('optgroup'), { label: category.name }));
      group.append(new Option(name, id));
    }
  }, (fields) => {
    const genreId = fields.get('genreId');
    return write(chosen, 'updateBooks', { filter: { genreId: { neq: genreId } }, patch: { genreId } }, // Undo is not for books that have it already
      (books) => `Changed to ${select.selectedOptions[0].textContent}: ${books}.`, (books) => `Back in the previous genre: ${books}.`);
  });
}

document.addEventListener('change', (event) => { if (event.target.matches('.tick')) showTicked(); });
document.addEventListener('click', (event) => {
  const button = event.target.closest('.ticked button');
  if (!button) return;
  if ('delete' in button.dataset) return deleteTicked();
  if ('genre' in button.dataset) return changeGenre();
  const isAll = 'all' in button.dataset;
  if (isAll && !ticks(':not(:checked)').length) return tickFound(button.closest('.ticked'));
  elsewhere = [];
  for (const tick of ticks()) tick.checked = isAll;
  showTicked();
  if (!isAll) document.querySelector('.row h2 a').focus();
});
if (ticks(':checked').length) showTicked(); // ticked before this script ran
