// Offers to undo a save, a delete or a restore.
import { request, newKey, GraphQLError } from './token.js';
import { visit, announce } from './visit.js';

const isFinal = ({ code }) => ['CONFLICT', 'BAD_USER_INPUT', 'NOT_FOUND', 'POSITION_GONE'].includes(code); // another try would fail too

// offer shows a message with the button Undo for ten seconds. Undo reverts the newest change of a book that still has the
// expected version. A user who cancels gets the offer again.
function offer(text, input, done) {
  const key = newKey();
  const act = async () => {
    try {
      const data = await request('mutation Undo($input: RestoreBookInput!) { restoreBook(input: $input) { book { id } } }', { input }, { write: true, key });
      if (!data) return show();
      await visit(`/books/${input.id}`);
      announce(done, true);
    } catch (error) {
      const words = error instanceof GraphQLError ? error.message : 'the catalogue did not respond.';
      announce(`Not undone: ${words}`, true, isFinal(error) ? { bad: true } : { label: 'Try again', act, bad: true });
    }
  };
  const show = () => announce(text, true, { label: 'Undo', act, seconds: 10 });
  show();
}

// saved announces a saved book. input has its id and version; a new book has none, because it has no earlier values.
export function saved(input) {
  if (input) offer('Saved.', input, 'The previous values are back.');
  else announce('Saved.', true);
}

// restored announces a restored book. existed is false for a deleted book, which has no values to return to.
export function restored(input, existed) {
  if (existed) offer('Restored.', input, 'The previous values are back.');
  else announce('The book is back.', true);
}

// deleted announces a deleted book.
export function deleted({ id, name, version }) {
  offer(`“${name}” was deleted.`, { id, expectedVersion: Number(version) }, `“${name}” is back.`);
}
