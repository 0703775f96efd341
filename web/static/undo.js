// Undo of a save and of a delete.
import { request, GraphQLError } from './token.js';
import { visit, announce } from './visit.js';

// offer shows a message with the button Undo for ten seconds.
function offer(text, undo) {
  const act = async () => {
    try {
      await undo();
    } catch (error) {
      const words = !(error instanceof GraphQLError) ? 'Not undone: the catalogue did not respond.'
        : error.code === 'CONFLICT' ? 'Not undone: someone else has changed this book since.' : `Not undone: ${error.message}`;
      announce(words, true, error instanceof GraphQLError ? { bad: true } : { label: 'Try again', act, bad: true });
    }
  };
  announce(text, true, { label: 'Undo', act, seconds: 10 });
}

// saved says that a book was saved. input writes the old values; there is none for a new book.
export function saved(input) {
  if (!input) return announce('Saved.', true);
  offer('Saved.', async () => {
    if (!await request('mutation UndoSave($input: UpdateBookInput!) { updateBook(input: $input) { book { id } } }', { input }, { write: true })) return;
    await visit(`/books/${input.id}`);
    announce('The previous values are back.', true);
  });
}

// deleted says that a book was deleted. input is the JSON that creates it again, with a new id.
export function deleted({ id, name, input }) {
  const key = crypto.randomUUID?.() ?? String(Math.random());
  offer(`“${name}” was deleted.`, async () => {
    const data = await request('mutation UndoDelete($input: CreateBookInput!) { createBook(input: $input) { book { id } } }', { input: JSON.parse(input) }, { write: true, key });
    if (!data) return;
    await visit(`/books/${data.createBook.book.id}`);
    announce(`“${name}” is back. Its ID is ${data.createBook.book.id}; it was ${id}.`, true);
  });
}
