// The import page. /api/imports checks and imports a file in the background.
import { token, ask } from './token.js';
import { onLeave, announce } from './visit.js';

const ended = (state) => !['waiting', 'reading', 'importing'].includes(state.status);
const number = (n) => n.toLocaleString('en');

// element creates an element with properties and children. Strings become text nodes, so that files cannot inject HTML.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

class ImportError extends Error {}

class BookImport extends HTMLElement {
  connectedCallback() {
    this.words = Object.fromEntries(this.dataset.fields.split(';').map((field) => field.split(':'))); // by field
    this.fields = Object.keys(this.words);
    this.result = this.querySelector('[data-result]');
    this.drop = this.querySelector('.drop');
    const input = this.querySelector('input[type=file]');
    input.addEventListener('change', () => this.take(input.files[0]));
    for (const type of ['dragenter', 'dragover']) this.addEventListener(type, (event) => { event.preventDefault(); this.drop.classList.add('over'); });
    for (const type of ['dragleave', 'drop']) this.addEventListener(type, (event) => { event.preventDefault(); this.drop.classList.remove('over'); });
    this.addEventListener('drop', (event) => this.take(event.dataTransfer.files[0]));
    onLeave(() => !this.running || confirm('Leave this page? The import continues.'));
  }

  disconnectedCallback() { this.gone = true; }

  // take checks a new file and forgets the previous one.
  take(file) {
    if (!file || this.running) return;
    this.file = file;
    this.answers = {};
    this.columns = {};
    this.defaults = {};
    this.run(true);
  }

  // send sends a request with the token. It asks for a token until the server accepts it or the user cancels.
  async send(method, address, body, headers = {}) {
    for (let message = ''; ; ) {
      const text = token() || await ask(message);
      if (!text) throw new ImportError('You need an access token to import. Choose the file again.');
      const response = await fetch(address, { method, body, headers: { ...headers, Authorization: `Bearer ${text}` } });
      if (response.ok) return response;
      const answer = await response.json();
      if (![401, 403].includes(response.status)) throw new ImportError(answer.message);
      message = `${answer.message} The file is still here.`;
      if (!await ask(message)) throw new ImportError(message);
    }
  }

  // run checks or imports the file and shows the progress.
  async run(dryRun) {
    const query = new URLSearchParams({ file_name: this.file.name, dry_run: dryRun, ...this.answers });
    for (const [field, column] of Object.entries(this.columns)) if (column) query.append('map', `${field}=${column}`);
    for (const [field, value] of Object.entries(this.defaults)) if (value) query.append('default', `${field}=${value}`);
    this.running = true;
    this.note('');
    try {
      this.result.replaceChildren(element('p', { className: 'soft' }, dryRun ? 'Uploading and checking the file.' : 'Starting the import.'));
      const begun = await this.send('POST', `/api/imports?${query}`, this.file, { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': crypto.randomUUID?.() ?? String(Math.random()) });
      const address = begun.headers.get('Location');
      let state = (await begun.json()).data;
      while (!ended(state) && !this.gone) {
        this.progress(state, address);
        await new Promise((resolve) => setTimeout(resolve, 500));
        state = (await (await this.send('GET', address)).json()).data;
      }
      this.show(state);
    } catch (error) {
      this.result.replaceChildren();
      this.note(error instanceof ImportError ? error.message : 'The catalogue did not respond. Choose the file again in a moment; nothing already saved is affected.');
    } finally {
      this.running = false;
    }
  }

  note(text) {
    const place = this.querySelector('.problems');
    place.hidden = !text;
    place.replaceChildren(text);
  }

  progress(state, address) {
    const { created, updated, unchanged, rejected, skipped } = state.counts;
    const rows = created + updated + unchanged + rejected + skipped;
    const bar = element('progress', { max: state.rows || 1 });
    if (state.status === 'importing') bar.value = rows;
    bar.setAttribute('aria-label', state.dry_run ? 'Check' : 'Import');
    const what = { waiting: 'Waiting for other imports.', reading: 'Reading the file.' }[state.status] ?? `${number(rows)} of ${number(state.rows)} rows.`;
    const stop = element('button', { type: 'button', className: 'button', onclick: () => this.send('DELETE', address).catch(() => {}) }, 'Stop');
    this.result.replaceChildren(bar, element('p', {}, what), element('p', { className: 'buttons' }, stop));
  }

  // show shows the result of a check or an import.
  show(state) {
    const parts = [];
    const { created, updated, unchanged, rejected, skipped } = state.counts;
    if (state.status === 'done') {
      announce(state.dry_run ? 'The file is checked.' : 'The file is imported.');
      const figures = [[created, state.dry_run ? 'new' : 'created'], [updated, 'changed'], [unchanged, 'unchanged'], [rejected, 'rejected']];
      if (skipped) figures.push([skipped, 'skipped']);
      parts.push(element('dl', { className: 'figures' }, ...figures.map(([n, word]) => element('div', {}, element('dt', {}, word), element('dd', {}, number(n))))));
    } else {
      parts.push(element('p', { className: `note ${state.status === 'question' ? 'warn' : 'bad'}` }, state.message));
    }
    if (state.question?.answers.length) parts.push(this.question(state.question));
    if (state.status === 'done' && state.dry_run && created + updated > 0) {
      parts.push(element('p', { className: 'buttons' }, element('button', { type: 'button', className: 'button main', onclick: () => this.run(false) },
        `Import ${number(created + updated)} ${created + updated === 1 ? 'book' : 'books'}`)));
    } else if (state.status === 'done') {
      parts.push(element('p', { className: 'buttons' }, element('a', { className: 'button', href: '/' }, 'See the books')));
    }
    if (state.rejects.first.length) parts.push(this.rejects(state));
    if (state.dry_run && state.header.length) parts.push(this.mapping(state));
    if (state.dry_run && state.first_rows.length) parts.push(this.firstRows(state));
    this.result.replaceChildren(...parts);
  }

  // question shows a button for each answer to the import's question.
  question({ parameter, answers }) {
    return element('p', { className: 'buttons' }, ...answers.map(({ value, meaning }) => element('button', {
      type: 'button', className: 'button', onclick: () => { this.answers[parameter] = value; this.run(true); },
    }, `${value}: ${meaning}`)));
  }

  table(caption, header, rows) {
    return element('div', { className: 'table', tabIndex: 0, role: 'region', ariaLabel: caption }, element('table', {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...header.map((text) => element('th', { scope: 'col' }, text)))),
      element('tbody', {}, ...rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', { dir: 'auto' }, cell ?? '')))))));
  }

  rejects(state) {
    const rows = state.rejects.first.flatMap(({ row, problems }) => problems.map((p) => [number(row), p.column, p.value, p.message, p.mend]));
    const box = element('section', {}, this.table('Rejected rows', ['Row', 'Column', 'Found', 'Problem', 'How to fix it'], rows));
    if (state.rejects.url) {
      const all = element('button', { type: 'button', className: 'button', onclick: () => this.save(state.rejects.url) }, 'Download the rejected rows');
      box.append(element('p', { className: 'buttons' }, all, element('span', { className: 'small soft' }, 'Fix the file, then import it again.')));
    }
    return box;
  }

  // save downloads a file that needs the token.
  async save(address) {
    try {
      const url = URL.createObjectURL(await (await this.send('GET', address)).blob());
      element('a', { href: url, download: 'rejects.csv' }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (error) {
      this.note(error.message);
    }
  }

  // mapping shows a form with the column of each field.
  mapping(state) {
    const found = Object.fromEntries(state.columns.map((column) => [column.field, column]));
    const rows = this.fields.map((field) => {
      const column = found[field]?.column ?? '';
      const select = element('select', { ariaLabel: `Column of ${this.words[field]}`, name: field }, element('option', { value: '' }, '(no column)'),
        ...state.header.map((name) => element('option', { value: name, selected: name === column }, name)));
      const fallback = element('input', { ariaLabel: `Default of ${this.words[field]}`, name: field, value: this.defaults[field] ?? '' });
      const forms = (found[field]?.forms ?? []).map(({ text, value, rows }) => `${text} is ${value} (${number(rows)} rows)`).join('; ');
      return [this.words[field], select, fallback, forms];
    });
    const form = element('form', {}, this.table(`Columns of ${state.format}`, ['Field', 'Column', 'Value if empty', 'Read as'], rows),
      element('p', { className: 'buttons' }, element('button', { className: 'button' }, 'Check again')));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      for (const select of form.querySelectorAll('select')) {
        if (select.value && select.value !== found[select.name]?.column) this.columns[select.name] = select.value;
      }
      for (const input of form.querySelectorAll('input')) this.defaults[input.name] = input.value.trim();
      this.run(true);
    });
    return form;
  }

  firstRows(state) {
    return this.table('First rows', this.fields.map((field) => this.words[field]),
      state.first_rows.map(({ values }) => this.fields.map((field) => values[field])));
  }
}

customElements.define('book-import', BookImport);
