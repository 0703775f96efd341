// Offers to undo a save, a delete or a restore, of one book or of many.
import { plural } from './buttons.js';
import { request, newKey, GraphQLError } from './request.js';
import { visit, announce } from './visit.js';

const batch = 15; // most fields of a name in one request
const maxNamed = 5; // most books that a message names

const isFinal = ({ code }) => ['CONFLICT', 'BAD_USER_INPUT', 'NOT_FOUND', 'POSITION_GONE'].includes(code); // another try would fail too

// restore takes back the newest change of each book, in one transaction.
function restore(books, key) {
  const names = books.map((_, i) => `b${i}`);
  const variables = Object.fromEntries(books.map(({ id, expectedVersion }, i) => [`b${i}`, { id, expectedVersion }]));
  const fields = names.map((name) => `${name}: restoreBook(input: $${name}) { book { id } }`);
  const inputs = names.map((name) => `$${name}: RestoreBookInput!`);
  return request(`mutation Undo(${inputs}) { ${fields.join(' ')} }`, variables, { write: true, key });
}

const others = (books) => books.length > maxNamed ? ` and ${books.length - maxNamed} more` : '';
const quote = (books) => books.slice(0, maxNamed).map(({ name }) => `“${name}”`).join(', ') + others(books);

// offer shows a message with the button Undo for ten seconds. Undo takes back the newest change of each book that still has
// the expected version, shows the page at an address, and names the books that it left. A user who cancels gets the offer again.
function offer(text, books, address, done) {
  let waiting = books;
  const left = [];
  let key = newKey();
  const act = async () => {
    try {
      for (; waiting.length; key = newKey()) {
        const next = waiting.slice(0, batch);
        try {
          if (!await restore(next, key)) return show();
          waiting = waiting.slice(batch);
        } catch (error) {
          const book = isFinal(error) && next[Number(error.path?.[0].slice(1))];
          if (!book) throw error;
          left.push({ ...book, why: error.message });
          waiting = waiting.filter((other) => other !== book);
        }
      }
    } catch (error) {
      const words = error instanceof GraphQLError ? error.message : 'the catalogue did not respond.';
      return announce(`Not undone: ${words}`, true, isFinal(error) ? { bad: true } : { label: 'Try again', act, bad: true });
    }
    const back = books.length - left.length;
    if (back) await visit(address(), { replace: books.length > 1 });
    if (!left.length) announce(done, true);
    else if (books.length === 1) announce(`Not undone: ${left[0].why}`, true, { bad: true });
    else announce(`Undone for ${plural(back, 'book', 'books')}. Not undone for ${quote(left)}: ${left[0].why}`, true, { bad: true });
  };
  const show = () => announce(text, true, { label: 'Undo', act, seconds: 10 });
  show();
}

const page = ({ id }) => () => `/books/${id}`;

// saved announces a saved book. input has its id and version; a new book has none, because it has no earlier values.
export function saved(input) {
  if (input) offer('Saved.', [input], page(input), 'The previous values are back.');
  else announce('Saved.', true);
}

// restored announces a restored book. existed is false for a deleted book, which has no values to return to.
export function restored(input, existed) {
  if (existed) offer('Restored.', [input], page(input), 'The previous values are back.');
  else announce('The book is back.', true);
}

// deleted announces a deleted book.
export function deleted({ id, name, version }) {
  offer(`“${name}” was deleted.`, [{ id, expectedVersion: Number(version) }], page({ id }), `“${name}” is back.`);
}

// written announces books of a list that were changed or deleted together.
export function written(text, books, done) {
  offer(text, books.map(({ id, name, version }) => ({ id, name, expectedVersion: version })), () => location.pathname + location.search, done);
}
