// The history of a book: who changed it, and buttons that restore it.
import { TextButton } from './buttons.js';
import { t } from './language.js';
import { request, holder, newKey, GraphQLError } from './request.js';
import { visit, announce } from './visit.js';
import { restored } from './undo.js';

class RestoreButton extends TextButton {
  get kind() { return this.className ? `button ${this.className}` : 'button'; }

  async act() {
    const { id, version, position } = this.dataset;
    this.key ??= newKey();
    try {
      const data = await request('mutation Restore($input: RestoreBookInput!) { restoreBook(input: $input) { book { version } } }',
        { input: { id, position, expectedVersion: Number(version) } }, { write: true, key: this.key });
      if (!data) return;
      await visit(`/books/${id}`);
      restored({ id, expectedVersion: data.restoreBook.book.version }, Boolean(position));
    } catch (error) {
      this.key = null;
      announce(error instanceof GraphQLError ? t('Not restored: %s', error.message) : t('Not restored: the catalogue did not respond.'), true, { bad: true });
    }
  }
}
customElements.define('restore-button', RestoreButton);

// showActors fills in who made the changes, which the catalogue tells to callers with a token.
async function showActors() {
  const places = document.querySelectorAll('[data-actor]');
  if (!holder().known || !places.length) return;
  const id = location.pathname.split('/')[2];
  const after = new URLSearchParams(location.search).get('after');
  const data = await request('query Actors($id: ID!, $after: String) { history(type: BOOK, id: $id, first: 20, after: $after) { nodes { position actor actorName } } }', { id, after }, { read: true }).catch(() => null);
  const actors = new Map(data?.history.nodes.map(({ position, actor, actorName }) => [position, actorName ?? actor]));
  for (const place of places) {
    const actor = actors.get(place.dataset.actor);
    place.textContent = actor ? t(', by %s', actor) : '';
  }
}
document.addEventListener('token', showActors);
document.addEventListener('shown', showActors);
showActors();
