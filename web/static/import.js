// The import page. /api/imports checks and imports a file in the background.
import { token, ask, newKey } from './token.js';
import { onLeave, announce } from './visit.js';

const ended = (state) => !['waiting', 'reading', 'importing'].includes(state.status);
const number = (n) => n.toLocaleString('en');
const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? '' : 's'}`;

// element creates an element with properties and children. Strings become text nodes, so that files cannot inject HTML.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const button = (text, onclick, className = 'button') => element('button', { type: 'button', className, onclick }, text);

class ImportError extends Error {}

// work is the chosen file, its options, the address of its running import and the state of its last one. It outlives
// the element, because Back returns to the page.
let work = null;

class BookImport extends HTMLElement {
  connectedCallback() {
    const fields = this.dataset.fields.split(';').map((field) => field.split(':'));
    this.words = Object.fromEntries(fields); // by field
    this.optional = fields.filter(([, , optional]) => optional).map(([field]) => field);
    this.fields = Object.keys(this.words);
    this.result = this.querySelector('[data-result]');
    this.input = this.querySelector('input[type=file]');
    this.input.addEventListener('click', () => { this.input.value = ''; }); // else the same file makes no event
    this.input.addEventListener('change', () => this.take(this.input.files));
    const drop = this.querySelector('.drop');
    for (const type of ['dragenter', 'dragover']) this.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add('over'); });
    for (const type of ['dragleave', 'drop']) this.addEventListener(type, (event) => { event.preventDefault(); drop.classList.remove('over'); });
    this.addEventListener('drop', (event) => {
      if (this.input.disabled) return;
      this.input.files = event.dataTransfer.files;
      this.take(event.dataTransfer.files);
    });
    onLeave(() => !this.input.disabled || confirm('Leave this page? The import continues.'));
    this.result.replaceChildren();
    this.fail('');
    if (work?.address) this.attempt(() => this.follow());
    else if (work?.state) this.show(work.state);
  }

  disconnectedCallback() { this.gone = true; }

  // take checks a new file and forgets the previous one.
  take([file]) {
    if (!file) return;
    work = { file, answers: {}, columns: {}, defaults: {} };
    this.run(true);
  }

  // send sends a request with the token. It asks for a token until the server accepts it or the user cancels.
  async send(method, address, body, headers = {}) {
    for (let message = ''; ; ) {
      const text = token() || await ask(message);
      if (!text) throw new ImportError('You need an access token to import.');
      const response = await fetch(address, { method, body, headers: { ...headers, Authorization: `Bearer ${text}` } });
      if (response.ok) return response;
      const answer = await response.json();
      if (![401, 403].includes(response.status)) throw new ImportError(answer.message);
      message = `${answer.message} The file is still here.`;
      if (!await ask(message)) throw new ImportError(message);
    }
  }

  // run checks or imports the file. A second try has the same key, so that it finds the import of the first.
  run(dryRun, key = newKey()) {
    const mine = work; // the user may leave, return and choose another file before the response
    const query = new URLSearchParams({ file_name: work.file.name, dry_run: dryRun, ...work.answers });
    for (const [field, column] of Object.entries(work.columns)) query.append('map', `${field}=${column}`);
    for (const [field, value] of Object.entries(work.defaults)) if (value) query.append('default', `${field}=${value}`);
    return this.attempt(async () => {
      this.result.replaceChildren(element('p', { className: 'soft' }, dryRun ? 'Uploading and checking the file.' : 'Starting the import.'));
      const begun = await this.send('POST', `/api/imports?${query}`, mine.file, { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key });
      mine.address = begun.headers.get('Location');
      await begun.text(); // else the browser keeps the request open
      await this.follow();
    }, () => this.run(dryRun, key));
  }

  // attempt does something while no other file can be chosen, and shows its failure with a button for retry.
  async attempt(action, retry = () => this.attempt(action)) {
    this.input.disabled = true;
    this.fail('');
    try {
      await action();
    } catch (error) {
      if (this.gone) return;
      const readable = await work.file.slice(0, 1).arrayBuffer().then(() => true, () => false);
      if (work.state) this.show(work.state);
      else this.result.replaceChildren();
      if (!readable) this.fail(`“${work.file.name}” was changed or removed after you chose it. Choose it again.`);
      else this.fail(error instanceof ImportError ? error.message : 'The catalogue did not respond. What was saved stays saved.', retry);
    } finally {
      this.input.disabled = false;
    }
  }

  // follow shows the progress of the import and its end.
  async follow() {
    while (!this.gone) {
      const state = (await (await this.send('GET', work.address)).json()).data;
      if (this.gone) return; // the next element follows
      if (ended(state)) {
        work.address = null;
        work.state = state;
        return this.show(state);
      }
      this.progress(state);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  fail(text, retry) {
    const place = this.querySelector('.problems');
    place.hidden = !text;
    place.replaceChildren(text, ...retry ? [' ', button('Try again', retry, 'text-button')] : []);
  }

  progress(state) {
    const { created, updated, unchanged, rejected, skipped } = state.counts;
    const rows = created + updated + unchanged + rejected + skipped;
    if (!this.result.querySelector('progress')) {
      const bar = element('progress', { ariaLabel: state.dry_run ? 'Check' : 'Import' });
      const stop = button('Stop', () => this.send('DELETE', work.address).then((response) => response.text()).catch((error) => this.fail(error.message)));
      this.result.replaceChildren(bar, element('p'), element('p', { className: 'buttons' }, stop));
    }
    const [bar, text] = this.result.children;
    bar.max = state.rows || 1;
    if (state.status === 'importing') bar.value = rows;
    text.textContent = { waiting: 'Waiting for other imports.', reading: 'Reading the file.' }[state.status] ?? `${number(rows)} of ${count(state.rows, 'row')}.`;
  }

  // show shows the result of a check or an import. The focus goes to the first field that lacks a column.
  show(state) {
    const isFocused = this.contains(document.activeElement) || document.activeElement === document.body;
    const parts = [element('h2', {}, work.file.name)];
    if (state.format) parts.push(element('p', { className: 'soft' }, state.rows ? `${state.format}, ${count(state.rows, 'row')}` : state.format));
    const { created, updated, unchanged, rejected, skipped } = state.counts;
    const done = state.status === 'done';
    if (done) {
      announce(state.dry_run ? 'The file is checked.' : 'The file is imported.');
      const figures = [[created, state.dry_run ? 'new' : 'created'], [updated, 'changed'], [unchanged, 'unchanged'], [rejected, 'rejected']];
      if (skipped) figures.push([skipped, 'skipped']);
      parts.push(element('dl', { className: 'figures' }, ...figures.map(([n, word]) => element('div', {}, element('dt', {}, word), element('dd', {}, number(n))))));
    } else if (state.questions.length) {
      announce(`The file is checked. It leaves ${count(state.questions.length, 'question')}.`);
      parts.push(element('ul', {}, ...state.questions.map((question) => this.question(question))));
    } else {
      announce(state.message);
      parts.push(element('p', { className: 'note bad' }, state.message));
    }
    if (done && state.dry_run && created + updated) {
      parts.push(element('p', { className: 'buttons' }, button(`Import ${count(created + updated, 'book')}`, () => this.run(false), 'button main')));
    } else if (done && !state.dry_run) {
      parts.push(element('p', { className: 'buttons' }, element('a', { className: 'button', href: '/' }, 'See the books')));
    }
    if (state.rejects.first.length) parts.push(this.rejects(state));
    if (state.dry_run && state.header.length) parts.push(this.mapping(state));
    if (state.dry_run && state.first_rows.length) parts.push(this.firstRows(state));
    this.result.replaceChildren(...parts);
    if (isFocused) (this.result.querySelector('[aria-invalid]') ?? this.result).focus();
  }

  // question shows a question with its examples and a button for each answer.
  question({ parameter, text, examples, fields, answers }) {
    const missing = new Intl.ListFormat('en-GB').format(fields.map((field) => this.words[field]));
    return element('li', { className: 'note warn' },
      element('p', {}, fields.length ? `The file has no values for ${missing}. Choose a column or give a value below.` : text),
      element('ul', {}, ...examples.map((example) => element('li', {}, example))),
      element('p', { className: 'buttons' }, ...answers.map(({ value, label }) => button(label, () => {
        this.keepMapping();
        if (parameter === 'map') {
          const [field, ...column] = value.split('=');
          work.columns[field] = column.join('=');
        } else {
          work.answers[parameter] = value;
        }
        this.run(true);
      }))));
  }

  // table returns a titled table, in which the first cell names the row if isNamed is set. On a narrow screen each
  // row is a list of cells with the names of their columns.
  table(title, header, rows, isNamed = false) {
    return [element('h2', {}, title), element('div', { className: 'table', tabIndex: 0, role: 'region', ariaLabel: title }, element('table', {},
      element('thead', {}, element('tr', {}, ...header.map((text) => element('th', { scope: 'col' }, text)))),
      element('tbody', {}, ...rows.map((cells) => element('tr', {}, ...cells.map((content, i) => {
        const cell = element(isNamed && i === 0 ? 'th' : 'td', { dir: 'auto' }, ...[content ?? ''].flat());
        if (isNamed && i === 0) cell.scope = 'row';
        else cell.dataset.column = header[i];
        cell.classList.toggle('number', /^[\d.-]{1,12}$/.test(cell.textContent)); // also a date
        return cell;
      }))))))];
  }

  rejects(state) {
    const rows = state.rejects.first.flatMap(({ row, problems }) => problems.map((p) => [number(row), p.column, p.value, p.message, p.mend]));
    const box = element('section', {}, ...this.table('Rejected rows', ['Row', 'Column', 'Found', 'Problem', 'How to fix it'], rows));
    if (state.rejects.url) {
      box.append(element('p', { className: 'buttons' }, button('Download the rejected rows', () => this.save(state.rejects.url)),
        element('span', { className: 'small soft' }, 'Fix the file, then import it again.')));
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
      this.fail(error.message);
    }
  }

  // mapping shows a form with the column of each field.
  mapping(state) {
    const found = Object.fromEntries(state.columns.map((column) => [column.field, column]));
    const rows = this.fields.map((field) => {
      const column = found[field]?.column ?? '';
      const word = this.words[field];
      const select = element('select', { ariaLabel: `Column of ${word}`, name: field },
        element('option', { value: '' }, this.optional.includes(field) ? 'Do not import' : 'No column'),
        ...state.header.filter(Boolean).map((name) => element('option', { value: name, selected: name === column }, name)));
      const value = element('input', { ariaLabel: `Value of ${word} if empty`, name: field, value: work.defaults[field] ?? '' });
      const { others = [], forms = [] } = found[field] ?? {};
      const reading = [...others.map((name) => `${name} if empty`), ...forms.map(({ text, value, rows }) => `${text} is ${value} (${count(rows, 'row')})`)].join('; ');
      const choice = [select];
      if (state.questions.some(({ fields }) => fields.includes(field))) {
        const wrong = element('p', { className: 'wrong-text', id: `wrong-${field}` }, 'Choose a column or give a value');
        choice.push(wrong);
        for (const control of [select, value]) {
          control.setAttribute('aria-invalid', 'true');
          control.setAttribute('aria-describedby', wrong.id);
        }
      }
      return [word, choice, value, reading];
    });
    const form = element('form', {}, ...this.table('Columns', ['Field', 'Column', 'Value if empty', 'Read as'], rows, true),
      element('p', { className: 'buttons' }, element('button', { className: 'button' }, 'Check again')));
    form.addEventListener('input', () => {
      const main = this.result.querySelector('.main');
      if (main) main.disabled = true; // the changed columns are not checked
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.keepMapping();
      this.run(true);
    });
    return form;
  }

  // keepMapping takes the columns and values of the form into the options.
  keepMapping() {
    for (const select of this.result.querySelectorAll('select')) {
      const found = work.state.columns.find(({ field }) => field === select.name)?.column ?? '';
      if (select.value !== found) work.columns[select.name] = select.value;
    }
    for (const input of this.result.querySelectorAll('input')) work.defaults[input.name] = input.value.trim();
  }

  firstRows(state) {
    return element('section', {}, ...this.table('First rows', this.fields.map((field) => this.words[field]),
      state.first_rows.map(({ values }) => this.fields.map((field) => values[field]))));
  }
}

customElements.define('book-import', BookImport);
