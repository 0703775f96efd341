// Undo of a save and of a delete.
import { request, newKey, GraphQLError } from './token.js';
import { visit, announce } from './visit.js';

const isFinal = ({ code }) => ['CONFLICT', 'BAD_USER_INPUT', 'NOT_FOUND'].includes(code); // for errors that another try repeats

// offer shows a message with the button Undo for ten seconds. undo returns false if the user cancels; it is offered again.
function offer(text, undo) {
  const act = async () => {
    try {
      if (await undo() === false) offer(text, undo);
    } catch (error) {
      const words = !(error instanceof GraphQLError) ? 'Not undone: the catalogue did not respond.'
        : error.code === 'CONFLICT' ? 'Not undone: someone else has changed this book since.' : `Not undone: ${error.message}`;
      announce(words, true, isFinal(error) ? { bad: true } : { label: 'Try again', act, bad: true });
    }
  };
  announce(text, true, { label: 'Undo', act, seconds: 10 });
}

// saved says that a book was saved. input writes the old values; there is none for a new book.
export function saved(input) {
  if (!input) return announce('Saved.', true);
  const key = newKey();
  offer('Saved.', async () => {
    if (!await request('mutation UndoSave($input: UpdateBookInput!) { updateBook(input: $input) { book { id } } }', { input }, { write: true, key })) return false;
    await visit(`/books/${input.id}`);
    announce('The previous values are back.', true);
  });
}

// deleted says that a book was deleted. input is the JSON that creates it again, with a new id.
export function deleted({ id, name, input }) {
  const key = newKey();
  offer(`“${name}” was deleted.`, async () => {
    const data = await request('mutation UndoDelete($input: CreateBookInput!) { createBook(input: $input) { book { id } } }', { input: JSON.parse(input) }, { write: true, key });
    if (!data) return false;
    await visit(`/books/${data.createBook.book.id}`);
    announce(`“${name}” is back. Its ID is ${data.createBook.book.id}; it was ${id}.`, true);
  });
}
