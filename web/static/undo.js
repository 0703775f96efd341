// Undo of a save, of a delete and of a restore.
import { request, newKey, GraphQLError } from './token.js';
import { visit, announce } from './visit.js';

const isFinal = ({ code }) => ['CONFLICT', 'BAD_USER_INPUT', 'NOT_FOUND', 'POSITION_GONE'].includes(code); // for errors that another try repeats

// offer shows a message with the button Undo for ten seconds. Undo takes the newest change of a book back, if the book has the
// expected version. If the user cancels, it is offered again.
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

// saved says that a book was saved. input names it and its version; there is none for a new book.
export function saved(input) {
  if (input) offer('Saved.', input, 'The previous values are back.');
  else announce('Saved.', true);
}

// restored says that a book was restored. existed is false for a deleted book, which has no values to return to.
export function restored(input, existed) {
  if (existed) offer('Restored.', input, 'The previous values are back.');
  else announce('The book is back.', true);
}

// deleted says that a book was deleted.
export function deleted({ id, name, version }) {
  offer(`“${name}” was deleted.`, { id, expectedVersion: Number(version) }, `“${name}” is back.`);
}
