// Offers to undo a save, a delete or a restore, of one book or of many.
import { n, t } from './language.js';
import { request, newKey, GraphQLError } from './request.js';
import { visit, refresh, announce } from './visit.js';

const maxNamed = 5; // most books that a message names

const isFinal = ({ code }) => ['CONFLICT', 'BAD_USER_INPUT', 'NOT_FOUND', 'POSITION_GONE'].includes(code); // another try would fail too

// undoSet undoes a change set, but for rows with a conflict. A dry run stores nothing. It returns the payload, or null if the
// user cancels.
export async function undoSet(id, { dryRun = false, key } = {}) {
  const data = await request('mutation Undo($input: UndoChangeSetInput!) { undoChangeSet(input: $input) { changeSetId rows { type rowId operation conflict } } }',
    { input: { id, onConflict: 'SKIP', dryRun } }, { write: true, key });
  return data && data.undoChangeSet;
}

// setOf returns the id of the set of the change that gave a book its version, or that deleted it.
async function setOf({ id, expectedVersion }) {
  const { history } = await request('query Set($id: ID!) { history(type: BOOK, id: $id, first: 100) { nodes { version changeSet { id } } } }', { id });
  return history.nodes.find(({ version }) => version === expectedVersion).changeSet.id;
}

// quote returns the names of books, and the number of those that it leaves out.
function quote(books) {
  const names = books.slice(0, maxNamed).map(({ name }) => t('“%s”', name)).join(', ');
  return books.length > maxNamed ? t('%s and %s more', names, books.length - maxNamed) : names;
}

// offer shows a message with the button Undo for ten seconds. Undo takes back a change set, whose id set returns. Then it calls
// done with the payload. A user who cancels gets the offer again.
function offer(text, set, done) {
  const key = newKey();
  const act = async () => {
    let payload;
    try {
      payload = await undoSet(await set(), { key });
    } catch (error) {
      const words = error instanceof GraphQLError ? t('Not undone: %s', error.message) : t('Not undone: the catalogue did not respond.');
      return announce(words, true, isFinal(error) ? { bad: true } : { label: t('Try again'), act, bad: true });
    }
    if (payload) await done(payload.rows);
    else show();
  };
  const show = () => announce(text, true, { label: t('Undo'), act, seconds: 10 });
  show();
}

// offerBooks offers to undo the write of books. It shows the page at an address afterwards, and names the books that it left.
function offerBooks(text, books, address, done) {
  offer(text, () => setOf(books[0]), async (rows) => {
    const conflicts = new Set(rows.filter(({ conflict }) => conflict).map(({ rowId }) => rowId));
    const left = books.filter(({ id }) => conflicts.has(id));
    const back = books.length - left.length;
    if (back) await visit(address(), { replace: books.length > 1 });
    if (!left.length) announce(done, true);
    else if (!back) announce(t('Not undone: the book was changed by someone else.'), true, { bad: true });
    else announce(n('Undone for %s books. Not undone for %s: each was changed by someone else.', back, quote(left)), true, { bad: true });
  });
}

// undone announces the undo of a change set, and offers to undo it.
export function undone({ changeSetId, rows }) {
  const left = rows.filter(({ conflict }) => conflict).length;
  const text = left ? t('Undone. Left as they are: %s.', left) : t('Undone.');
  if (!changeSetId) return announce(text, true);
  offer(text, () => changeSetId, async () => {
    await refresh();
    announce(t('The undo was undone.'), true);
  });
}

const page = ({ id }) => () => `/books/${id}`;

// saved announces a saved book. input has its id and version; a new book has none, because it has no earlier values.
export function saved(input) {
  if (input) offerBooks(t('Saved.'), [input], page(input), t('The previous values are back.'));
  else announce(t('Saved.'), true);
}

// restored announces a restored book. existed is false for a deleted book, which has no values to return to.
export function restored(input, existed) {
  if (existed) offerBooks(t('Restored.'), [input], page(input), t('The previous values are back.'));
  else announce(t('The book is back.'), true);
}

// deleted announces a deleted book.
export function deleted({ id, name, version }) {
  offerBooks(t('“%s” was deleted.', name), [{ id, expectedVersion: Number(version) }], page({ id }), t('“%s” is back.', name));
}

// written announces books of a list that were changed or deleted together.
export function written(text, books, done) {
  offerBooks(text, books.map(({ id, name, version }) => ({ id, name, expectedVersion: version })), () => location.pathname + location.search, done);
}
