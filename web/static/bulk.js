// The actions for ticked books of a list.
import { openDialog } from './dialogs.js';
import { n, t } from './language.js';
import { request } from './request.js';
import { written } from './undo.js';
import { visit, announce } from './visit.js';

// deleteBooks asks before it deletes the chosen books.
export function deleteBooks(chosen) {
  openDialog(`<h2></h2><ul class="names"></ul><p class="buttons"><button class="button danger">${t('Delete these books')}</button><button type="button" class="button" data-close>${t('Cancel')}</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = n('Delete %s books?', chosen.length);
    for (const { name } of chosen) dialog.querySelector('ul').append(Object.assign(document.createElement('li'), { textContent: name, dir: 'auto' }));
  }, async () => {
    const mutation = 'mutation Write($input: DeleteBooksInput!) { deleteBooks(input: $input) { results { book { id name version } } } }';
    const data = await request(mutation, { input: { filter: { id: { in: chosen.map(({ id }) => id) } }, atMost: chosen.length } }, { write: true });
    if (!data) return false;
    await visit(location.pathname + location.search, { replace: true });
    const books = data.deleteBooks.results.map(({ book }) => book);
    const done = n('Deleted: %s books.', books.length);
    if (books.length) written(done, books, n('Back again: %s books.', books.length));
    else announce(done, true);
    return true;
  });
}

export { changeBooks } from './change.js';
