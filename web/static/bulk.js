// The actions for ticked books of a list.
import { plural } from './buttons.js';
import { openDialog } from './dialogs.js';
import { offerAgain } from './list.js';
import { request } from './request.js';
import { written } from './undo.js';
import { visit, announce } from './visit.js';

// write runs a bulk mutation for books, shows the list again and offers Undo.
async function write(chosen, name, { filter = {}, ...input }, words, done) {
  const mutation = `mutation Write($input: ${name[0].toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { results { book { id name version } } } }`;
  const data = await request(mutation, { input: { ...input, filter: { ...filter, id: { in: chosen.map(({ id }) => id) } }, atMost: chosen.length } }, { write: true });
  if (!data) return false;
  await visit(location.pathname + location.search, { replace: true });
  const books = data[name].results.map(({ book }) => book);
  const count = plural(books.length, 'book', 'books');
  if (books.length) written(words(count), books, done(count));
  else announce(words(count), true);
  return true;
}

// deleteBooks asks before it deletes the chosen books.
export function deleteBooks(chosen) {
  openDialog(`<h2></h2><ul class="names"></ul><p class="buttons"><button class="button danger">Delete these books</button><button type="button" class="button" data-close>Cancel</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = `Delete ${plural(chosen.length, 'book', 'books')}?`;
    for (const { name } of chosen) dialog.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: name, dir: 'auto' }));
  }, () => write(chosen, 'deleteBooks', {}, (books) => `Deleted: ${books}.`, (books) => `Back again: ${books}.`));
}

// changeGenre asks for the new genre of the chosen books.
export async function changeGenre(chosen) {
  let genres, select;
  try {
    ({ genres } = await request('query Genres { genres(first: 1000, orderBy: [{ field: CATEGORY_NAME }, { field: NAME }]) { nodes { id name category { name } } } }'));
  } catch (error) {
    return offerAgain(error, () => changeGenre(chosen));
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
