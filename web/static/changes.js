// The page of changes: a button undoes a change set, after a preview.
import { TextButton } from './buttons.js';
import { openDialog } from './dialogs.js';
import { n, t } from './language.js';
import { GraphQLError } from './request.js';
import { undoSet, undone } from './undo.js';
import { refresh, announce } from './visit.js';

const maxNamed = 10; // most conflicts that the dialog names

const counts = {
  BOOK: (count) => n('%s books', count), GENRE: (count) => n('%s genres', count), CATEGORY: (count) => n('%s categories', count),
};

const nouns = { BOOK: (id) => t('book %s', id), GENRE: (id) => t('genre %s', id), CATEGORY: (id) => t('category %s', id) };

const steps = { // what an undo does, by the operation that brings rows back
  UPDATE: (rows) => t('Set back to earlier values: %s', rows),
  CREATE: (rows) => t('Brought back: %s', rows),
  DELETE: (rows) => t('Deleted: %s', rows),
};

const reasons = {
  CHANGED_SINCE: (name) => t('%s was changed since.', name),
  HAS_OTHER_ROWS: (name) => t('%s has other books or genres now.', name),
  PARENT_MISSING: (name) => t('%s has lost its genre or category.', name),
};

// nameOf returns the name of a row as the page has it, or its number.
const nameOf = ({ type, rowId }) => document.querySelector(`[data-row="${type} ${rowId}"]`)?.textContent ?? nouns[type](rowId);

// summary returns a sentence for each type and operation.
function summary(rows) {
  const groups = Map.groupBy(rows, ({ type, operation }) => `${operation} ${type}`);
  return [...groups].map(([key, { length }]) => {
    const [operation, type] = key.split(' ');
    return steps[operation](counts[type](length));
  });
}

const fill = (list, texts) => list.replaceChildren(...texts.map((textContent) => Object.assign(document.createElement('li'), { textContent })));

class UndoButton extends TextButton {
  get kind() { return 'button'; }

  async act() {
    const { set } = this.dataset;
    let rows;
    try {
      rows = (await undoSet(set, { dryRun: true }))?.rows;
    } catch (error) {
      return announce(error instanceof GraphQLError ? t('Not undone: %s', error.message) : t('Not undone: the catalogue did not respond.'), true, { bad: true });
    }
    if (!rows) return;
    const back = rows.filter(({ conflict }) => !conflict);
    const left = rows.filter(({ conflict }) => conflict);
    openDialog(`<h2></h2><ul class="names" data-back></ul><div data-left><p>${t('These stay as they are:')}</p><ul class="names"></ul></div>
      <p class="buttons"><button class="button main">${t('Undo')}</button><button type="button" class="button" data-close>${t('Cancel')}</button></p>`, (dialog) => {
      dialog.querySelector('h2').textContent = back.length ? t('Undo this change?') : t('This change cannot be undone');
      fill(dialog.querySelector('[data-back]'), summary(back));
      dialog.querySelector('[data-back]').hidden = dialog.querySelector('.main').hidden = !back.length;
      dialog.querySelector('[data-left]').hidden = !left.length;
      const named = left.slice(0, maxNamed).map((row) => reasons[row.conflict](nameOf(row)));
      if (left.length > maxNamed) named.push(t('and %s more', left.length - maxNamed));
      fill(dialog.querySelector('[data-left] ul'), named);
    }, async () => {
      const result = await undoSet(set);
      if (!result) return false;
      await refresh();
      undone(result);
      return true;
    });
  }
}
customElements.define('undo-button', UndoButton);
