// Buttons and dialogs to delete objects, to write genres and categories, and to load the sample.
import { request, GraphQLError, ask, holder } from './request.js';
import { TextButton } from './buttons.js';
import { n, t } from './language.js';
import { deleted } from './undo.js';
import { visit, announce, toMessage } from './visit.js';

// openDialog shows a dialog with a form. Without a token it asks for one first. send gets the fields of the form; it returns
// true to close the dialog and to go to the message that it has announced, or throws an error that the dialog shows.
export async function openDialog(html, fill, send) {
  if (!holder().known && !await ask()) return;
  const dialog = document.createElement('dialog');
  dialog.innerHTML = `<form><div class="note bad" role="alert" hidden></div>${html}</form>`;
  fill(dialog);
  const title = dialog.querySelector('h2');
  title.id = 'dialog-title';
  dialog.setAttribute('aria-labelledby', title.id);
  const problem = dialog.querySelector('.note');
  dialog.querySelector('[data-close]').onclick = () => dialog.close();
  dialog.addEventListener('close', () => dialog.remove());
  let isSending = false;
  dialog.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    problem.hidden = true;
    try {
      if (!await send(new FormData(event.target))) return;
      dialog.close();
      toMessage(); // the button that opened the dialog may be gone
    } catch (error) {
      problem.textContent = error instanceof GraphQLError ? error.message : t('The catalogue did not respond. Try again in a moment.');
      problem.hidden = false;
    } finally {
      isSending = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
}

class DeleteButton extends TextButton {
  get kind() { return this.dataset.type === 'Book' ? 'button' : 'text-button'; }
  get label() { return this.dataset.type === 'Book' ? t('Delete…') : t('Delete'); }

  act() {
    const { type, id, version, name, children = '0', books = children } = this.dataset;
    const input = { id, expectedVersion: Number(version) };
    const taken = type === 'Category' ? t('%s and %s', n('%s genres', Number(children)), n('%s books', Number(books))) : n('%s books', Number(children));
    openDialog(`<h2></h2><p data-takes hidden></p><label class="choice" hidden><input type="checkbox" name="onChildren" value="CASCADE"> <span data-all></span></label>
      <p class="buttons"><button class="button danger">${{ Book: t('Delete this book'), Genre: t('Delete this genre'), Category: t('Delete this category') }[type]}</button><button type="button" class="button" data-close>${t('Cancel')}</button></p>`, (dialog) => {
      dialog.querySelector('h2').textContent = t('Delete “%s”?', name);
      if (Number(children) > 0) {
        dialog.querySelector('[data-takes]').textContent = t('It contains %s.', taken);
        dialog.querySelector('[data-takes]').hidden = dialog.querySelector('.choice').hidden = false;
        dialog.querySelector('[data-all]').textContent = t('Also delete %s', taken);
        dialog.querySelector('[name=onChildren]').required = true;
      }
    }, async (fields) => {
      if (fields.has('onChildren')) input.onChildren = 'CASCADE';
      const data = await request(`mutation Delete($input: Delete${type}Input!) { delete${type}(input: $input) { deleted${type}Id } }`, { input }, { write: true });
      if (!data) return false;
      await visit(type === 'Book' ? '/' : '/genres', { replace: type !== 'Book' });
      if (type === 'Book') deleted(this.dataset);
      else announce(t('“%s” was deleted.', name), true);
      return true;
    });
  }
}

// nameForm shows the dialog that creates or changes a genre or a category.
function nameForm(title, button, { name = '', description = '' }, send) {
  openDialog(`<h2></h2><div class="field"><label for="dialog-name">${t('Its name')}</label><input id="dialog-name" name="name" maxlength="1000" required></div>
    <div class="field"><label for="dialog-description">${t('Description')} <span class="soft">${t('(optional)')}</span></label><textarea id="dialog-description" name="description" rows="3" maxlength="20000"></textarea></div>
    <p class="buttons"><button class="button main"></button><button type="button" class="button" data-close>${t('Cancel')}</button></p>`, (dialog) => {
    dialog.querySelector('h2').textContent = title;
    dialog.querySelector('.main').textContent = button;
    dialog.querySelector('input').value = name;
    dialog.querySelector('textarea').value = description;
  }, async (fields) => {
    const data = await send({ name: fields.get('name').trim(), description: fields.get('description').trim() || null });
    if (!data) return false;
    await visit('/genres', { replace: true });
    announce(t('Saved.'), true);
    return true;
  });
}

class EditButton extends TextButton {
  get label() { return t('Edit'); }

  act() {
    const { type, id, version } = this.dataset;
    nameForm(type === 'Genre' ? t('Edit genre') : t('Edit category'), t('Save'), this.dataset, (patch) => request(
      `mutation Update($input: Update${type}Input!) { update${type}(input: $input) { __typename } }`,
      { input: { id, expectedVersion: Number(version), patch } }, { write: true },
    ));
  }
}

class AddButton extends TextButton {
  act() {
    const { type, parent } = this.dataset;
    nameForm(this.label, this.label, {}, (input) => request(
      `mutation Create($input: Create${type}Input!) { create${type}(input: $input) { __typename } }`,
      { input: parent ? { ...input, categoryId: parent } : input }, { write: true },
    ));
  }
}

// SampleButton fills an empty catalogue.
class SampleButton extends TextButton {
  get kind() { return 'button main'; }

  async act() {
    this.querySelector('[role=alert]')?.remove();
    const button = this.querySelector('button');
    button.disabled = true;
    try {
      const data = await request('mutation LoadSample { loadSample { count } }', {}, { write: true });
      if (data) {
        await visit('/', { replace: true });
        announce(n('%s books added.', data.loadSample.count), true);
      }
    } catch (error) {
      const note = document.createElement('p');
      note.className = 'note bad';
      note.setAttribute('role', 'alert');
      note.textContent = error instanceof GraphQLError ? error.message : t('The catalogue did not respond. Try again in a moment.');
      this.append(note);
    } finally {
      button.disabled = false;
    }
  }
}

customElements.define('delete-button', DeleteButton);
customElements.define('sample-button', SampleButton);
customElements.define('edit-button', EditButton);
customElements.define('add-button', AddButton);
