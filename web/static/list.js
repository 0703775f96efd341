// The list of books: fields that find values of a filter, and ticked books.
import { plural } from './buttons.js';
import { request, GraphQLError } from './token.js';
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

const ticks = (which = '') => [...document.querySelectorAll(`.tick${which}`)];
const ids = () => ticks(':checked').map((tick) => tick.value);

// showTicked shows what can be done with the ticked books.
function showTicked() {
  const bar = document.querySelector('.ticked');
  const chosen = ids();
  bar.hidden = !chosen.length;
  bar.querySelector('strong').textContent = `${plural(chosen.length, 'book', 'books')} ticked`;
  for (const link of bar.querySelectorAll('[data-format]')) link.href = `/api/books?ids=${chosen}&format=${link.dataset.format}`;
  for (const link of bar.querySelectorAll('[data-address]')) link.href = `${link.dataset.address}?ids=${chosen}`;
}

// write runs a bulk mutation for the chosen books and shows the list again.
async function write(chosen, mutation, input, words) {
  const data = await request(mutation, { input: { ...input, filter: { id: { in: chosen } }, atMost: chosen.length } }, { write: true });
  if (!data) return false;
  await visit(location.pathname + location.search, { replace: true });
  announce(words(plural(Object.values(data)[0].count, 'book', 'books')), true);
  return true;
}

function deleteTicked() {
  const chosen = ids();
  const names = ticks(':checked').map((tick) => tick.closest('.row').querySelector('h2').textContent);
  openDialog(`<h2></h2><ul class="names"></ul><p class="buttons"><button class="button danger">Delete these books</button><button type="button" class="button" data-close>Cancel</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = `Delete ${plural(names.length, 'book', 'books')}?`;
    for (const name of names) dialog.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: name, dir: 'auto' }));
  }, () => write(chosen, 'mutation DeleteBooks($input: DeleteBooksInput!) { deleteBooks(input: $input) { count } }', {}, (books) => `Deleted: ${books}.`));
}

async function changeGenre() {
  const chosen = ids();
  let genres, select;
  try {
    ({ genres } = await request('query Genres { genres(first: 1000, orderBy: [{ field: CATEGORY_NAME }, { field: NAME }]) { nodes { id name category { name } } } }'));
  } catch (error) {
    return announce(error instanceof GraphQLError ? error.message : 'The catalogue did not respond.', true, { label: 'Try again', act: changeGenre, bad: true });
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
  }, (fields) => write(chosen, 'mutation UpdateBooks($input: UpdateBooksInput!) { updateBooks(input: $input) { count } }', { patch: { genreId: fields.get('genreId') } },
    (books) => `Changed to ${select.selectedOptions[0].textContent}: ${books}.`));
}

document.addEventListener('change', (event) => { if (event.target.matches('.tick')) showTicked(); });
document.addEventListener('click', (event) => {
  const button = event.target.closest('.ticked button');
  if (!button) return;
  if ('delete' in button.dataset) return deleteTicked();
  if ('genre' in button.dataset) return changeGenre();
  for (const tick of ticks()) tick.checked = 'all' in button.dataset;
  showTicked();
  if (!ids().length) document.querySelector('.row h2 a').focus();
});
