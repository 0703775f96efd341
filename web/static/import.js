// The import page. /api/imports checks and imports a file in the background.
import { account, token } from './account.js';
import { holder, authorization, ask, newKey } from './request.js';
import { byKey, n, number, said, t } from './language.js';
import { shown } from './words.js';
import { onLeave, announce } from './visit.js';

const ended = (state) => !['waiting', 'reading', 'looking_up', 'importing'].includes(state.status);
const rowsOf = (count) => n('%s rows', count);

// element creates an element with properties and children. Strings become text nodes, so that files cannot inject HTML.
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// sentences returns messages of the server as sentences, as it does in English.
const sentences = (messages) => messages.map((message) => `${capital(said(message)).replace(/\.$/, '')}.`).join(' ');

// radio returns a labelled radio button. name is the name of its group.
const radio = (name, value, text, properties = {}) => element('label', { className: 'choice' }, element('input', { type: 'radio', name, value, required: true, ...properties }), element('span', {}, ...[text].flat()));

// unreadable says in which rows the values of a form cannot be read.
const unreadable = ({ text, rows, places }) => rows > places.length ? n('%[2]s is not readable, stored books keep theirs (%[3]s and %[1]s more)', rows - places.length, text, places.map(said).join(', ')) : t('%s is not readable, stored books keep theirs (%s)', text, places.map(said).join(', '));

const options = (list, selected) => list.map(([value, text]) => element('option', { value, selected: value === selected }, text));

// controls returns the controls of a choice or of a row in the table; two columns are joined by a plus sign.
const controls = (place) => [...place.querySelectorAll('select, input:not([type=radio])')];
const valueOf = (place) => controls(place).map(({ value }) => value.trim()).filter(Boolean).join('+');

const button = (text, onclick, className = 'button') => element('button', { type: 'button', className, onclick }, text);

class ImportError extends Error {}

// work is the chosen file, its options, the address of its running import and the state of its last one. It outlives
// the element, because Back returns to the page.
let work = null;

class BookImport extends HTMLElement {
  connectedCallback() {
    const fields = this.dataset.fields.split(';').map((field) => field.split(':'));
    this.words = Object.fromEntries(fields.map(([field, label]) => [field, t(label)]));
    this.encodings = this.dataset.encodings.split(';');
    this.standIns = Object.fromEntries(fields.map(([field, , standIn]) => [field, standIn])); // suggested for books without a value
    this.optional = fields.filter(([, , , optional]) => optional).map(([field]) => field);
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
    onLeave(() => !this.input.disabled || confirm(t('Leave this page? The import continues.')));
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
      if (!holder().known && !await ask(message)) throw new ImportError(t('Sign in, or enter an access token, to import.'));
      const path = token() ? address : address.replace(/^\/api\/imports/, '/import/files'); // where the session counts
      const response = await fetch(path, { method, body, headers: { ...headers, ...byKey, ...authorization() } });
      if (response.ok) return response;
      const { text, message: plain } = await response.json();
      const refusal = text ? said(text) : plain;
      if (![401, 403].includes(response.status)) throw new ImportError(refusal);
      message = t('%s The file is still here.', account() && !token() && response.status === 401 ? t('You are signed out. Sign in again.') : refusal);
      if (!await ask(message)) throw new ImportError(message);
    }
  }

  // run checks or imports the file, or looks up its rows. A second try has the same key, so that it finds the first.
  run(dryRun, lookup = false, key = newKey()) {
    const mine = work; // the user may leave, return and choose another file before the response
    const query = new URLSearchParams({ file_name: work.file.name, dry_run: dryRun, ...work.answers });
    if (lookup) query.set('lookup', true);
    mine.isLookup = lookup;
    for (const [field, column] of Object.entries(work.columns)) query.append('map', `${field}=${column}`);
    for (const [field, value] of Object.entries(work.defaults)) query.append('default', `${field}=${value}`);
    return this.attempt(async () => {
      this.result.replaceChildren(element('p', { className: 'soft' }, dryRun ? t('Uploading and checking the file.') : t('Starting the import.')));
      const begun = await this.send('POST', `/api/imports?${query}`, mine.file, { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key });
      mine.address = begun.headers.get('Location');
      await begun.text(); // else the browser keeps the request open
      await this.follow();
    }, () => this.run(dryRun, lookup, key));
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
      if (!readable) this.fail(t('“%s” was changed or removed after you chose it. Choose it again.', work.file.name));
      else this.fail(error instanceof ImportError ? error.message : t('The catalogue did not respond. What was saved stays saved.'), retry);
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
        return work.isLookup && state.status === 'done' ? this.complete(state) : this.show(state);
      }
      this.progress(state);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  // complete checks a list with what look-ups found, in place of the list.
  async complete({ rejects }) {
    if (!rejects.url) throw new ImportError(t('The server could not keep what it found. Try again later.'));
    const { name } = work.file;
    work.file = new File([await (await this.send('GET', rejects.url)).blob()], name);
    return this.run(true);
  }

  fail(text, retry) {
    const place = this.querySelector('.problems');
    place.hidden = !text;
    place.replaceChildren(text, ...retry ? [' ', button(t('Try again'), retry, 'text-button')] : []);
  }

  progress(state) {
    const { created, updated, unchanged, rejected, skipped } = state.counts;
    const isLookup = state.status === 'looking_up';
    const rows = isLookup ? state.looked_up : created + updated + unchanged + rejected + skipped;
    if (!this.result.querySelector('progress')) {
      const bar = element('progress', { ariaLabel: state.dry_run ? t('Check') : t('Import') });
      const stop = button(work.isLookup ? t('End the look-ups') : t('Stop'), () => this.send('DELETE', work.address).then((response) => response.text()).catch((error) => this.fail(error.message)));
      this.result.replaceChildren(bar, element('p'), element('p', { className: 'buttons' }, stop), element('div'));
    }
    const [bar, text, , found] = this.result.children;
    bar.max = state.rows || 1;
    if (isLookup || state.status === 'importing') bar.value = rows;
    if (isLookup && state.first_rows.length > found.querySelectorAll('tbody tr').length) found.replaceChildren(this.firstRows(state));
    text.textContent = { waiting: t('Waiting for other imports.'), reading: t('Reading the file.') }[state.status] ?? n('%[2]s of %[1]s rows.', state.rows, number(rows));
  }

  // show shows the result of a check or an import. The focus goes to the first question.
  show(state) {
    const isFocused = this.contains(document.activeElement) || document.activeElement === document.body;
    const parts = [element('h2', {}, work.file.name)];
    if (state.format) parts.push(element('p', { className: 'soft' }, capital(said(state.format)) + (state.rows ? `, ${rowsOf(state.rows)}` : '')));
    const { created, namesakes, updated, unchanged, rejected, skipped } = state.counts;
    const done = state.status === 'done';
    if (done) {
      announce(state.dry_run ? t('The file is checked.') : t('The file is imported.'));
      const figures = [[created, state.dry_run ? t('new') : t('created')], [updated, t('changed')], [unchanged, t('unchanged')], [rejected, t('rejected')]];
      if (skipped) figures.push([skipped, t('skipped')]);
      parts.push(element('dl', { className: 'figures' }, ...figures.map(([count, word]) => element('div', {}, element('dt', {}, word), element('dd', {}, number(count))))));
    } else if (state.questions.length) {
      announce(n('The file is checked. It leaves %s questions.', state.questions.length));
    } else {
      const message = sentences(state.message);
      announce(message);
      parts.push(element('p', { className: 'note bad' }, message));
    }
    if (done && state.dry_run && namesakes) {
      parts.push(element('p', { className: 'note warn' }, n('%s new books have names that are stored with another author. To correct an author, change the stored book: an import adds a second one.', namesakes)));
    }
    if (done && state.dry_run && created + updated) {
      parts.push(element('p', { className: 'buttons' }, button(n('Import %s books', created + updated), () => this.run(false), 'button main')));
    } else if (done && !state.dry_run) {
      parts.push(element('p', { className: 'buttons' }, element('a', { className: 'button', href: created + updated ? `/?since=${encodeURIComponent(state.created_at)}` : '/' }, t('See the books'))));
    }
    const missing = state.columns.flatMap(({ field, forms }) => forms.filter(({ value }) => !value).map((form) => `${this.words[field]}: ${unreadable(form)}`));
    if (done && !state.dry_run && missing.length) parts.push(element('h2', {}, t('Values that are not readable')), element('ul', {}, ...missing.map((text) => element('li', { dir: 'auto' }, text))));
    if (state.rejects.first.length) parts.push(this.rejects(state));
    if (state.changes.length) parts.push(this.changes(state));
    if (state.dry_run && state.lookups && (rejected || state.questions.some(({ parameter }) => parameter === 'map'))) {
      parts.push(element('p', { className: 'buttons' }, button(t('Look up what is missing'), () => { this.keep(this.result.querySelector('form')); this.run(true, true); }),
        element('span', { className: 'small soft' }, t('Other libraries are asked for each ISBN. Values of the file stay.'))));
    }
    if (state.dry_run) parts.push(this.form(state));
    if (state.dry_run && state.first_rows.length) parts.push(this.firstRows(state));
    this.result.replaceChildren(...parts);
    if (isFocused) (this.result.querySelector('fieldset input') ?? this.result).focus();
  }

  // form shows the questions, the columns of the fields that they are not about, and how the file is read.
  form(state) {
    const asked = state.questions.flatMap(({ fields }) => fields);
    const check = (className) => element('p', { className: 'buttons' }, element('button', { className }, t('Check again')));
    const form = element('form', { className: 'reading' }, ...state.questions.flatMap((question) => question.parameter === 'map' ? question.fields.map((field) => this.columnQuestion(state, question, field)) : this.question(question)));
    if (state.questions.length) form.append(check('button main'));
    if (state.header.length) form.append(...this.mapping(state, this.fields.filter((field) => !asked.includes(field))));
    if (state.unused.length) form.append(element('p', { className: 'soft' }, t('Not used: %s', state.unused.map((name) => name || t('(no name)')).join(', '))));
    if (state.header.length && !state.questions.length) form.append(check('button'));
    form.append(this.reading(state));
    form.addEventListener('input', ({ target }) => {
      const row = target.closest('.choice-row'); // a choice with a control of its own
      if (row && target.type !== 'radio') row.querySelector('[type=radio]').checked = true;
      for (const each of form.querySelectorAll('.choice-row')) controls(each)[0].required = each.querySelector('[type=radio]').checked;
      const main = this.result.querySelector(':scope > .buttons .main');
      if (main) main.disabled = true; // changed choices are not checked
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.keep(form);
      this.run(true);
    });
    return form;
  }

  // question shows a question with its examples and its answers.
  question({ parameter, text, examples, answers }) {
    const choices = answers.map((answer) => radio(`ask-${parameter}`, `${answer.parameter}=${answer.value}`, said(answer.label), { checked: work.answers[answer.parameter] === answer.value }));
    if (parameter === 'encoding') choices.push(this.choiceRow('ask-encoding', 'encoding', t('Another encoding'), element('select', { ariaLabel: t('Another encoding') }, ...options([['', t('Choose an encoding')], ...this.encodings.map((name) => [name, name])]))));
    return element('fieldset', { className: 'note warn' }, element('legend', {}, sentences(text)),
      ...examples.length ? [element('ul', {}, ...examples.map((example) => element('li', {}, sentences(example))))] : [], ...choices);
  }

  // columnQuestion asks for the column of a field, or for the value of its empty cells.
  columnQuestion(state, { candidates }, field) {
    const word = this.words[field], name = `ask-${field}`;
    const { column: found, empty_rows: empty = 0 } = state.columns.find((column) => column.field === field) ?? {};
    const box = element('fieldset', { className: 'note warn' }, element('legend', {}, empty ? n('%s rows have no %s', empty, word) : found ? t('The column %s is empty. Which column is %s?', found, word) : t('Which column is %s?', word)));
    box.dataset.field = field;
    if (field === 'category') box.append(element('p', { className: 'hint' }, t('New genres need a category.')));
    else if (field !== 'name' && !this.optional.includes(field)) box.append(element('p', { className: 'hint' }, t('The catalogue stores no book without %s. One value serves all that lack it, and you can correct it later.', word)));
    for (const { column, first } of candidates.filter((candidate) => candidate.field === field)) {
      box.append(radio(name, `column=${column}`, [element('strong', { dir: 'auto' }, column), ...first.length ? [': ', element('bdi', {}, first.join('; '))] : []]));
    }
    if (empty) box.append(radio(name, 'none', empty === 1 ? t('Leave it out') : t('Leave them out'), { checked: !work.defaults[field] }));
    else box.append(this.choiceRow(name, 'column', box.querySelector('label') ? t('Another column') : t('A column'), this.columnSelect(state, field, t('Choose a column'))));
    if (field !== 'name') {
      box.append(this.choiceRow(name, 'value', { 0: t('A value for all'), 1: t('A value for it') }[empty] ?? t('A value for them'), element('input', { ariaLabel: empty ? t('%s of these rows', word) : t('%s of all books', word), value: work.defaults[field] ?? this.standIns[field] })));
      if (work.defaults[field]) box.lastChild.querySelector('[type=radio]').checked = true;
    }
    if (this.optional.includes(field)) box.append(radio(name, 'none', field === 'category' ? t('None: the genres exist already') : t('Do not import')));
    return box;
  }

  // choiceRow returns a radio button with a control that is part of the choice.
  choiceRow(name, value, text, control) { return element('div', { className: 'choice-row' }, radio(name, value, text), control); }

  // columnSelect returns a control for the column of a field. Given and family names may be two columns.
  columnSelect(state, field, none, chosen = '') {
    const all = this.addresses(state);
    const one = (label, none, value) => element('select', { ariaLabel: label, name: field }, ...options([['', none], ...all], value));
    const isJoin = field === 'author' && chosen && !all.some(([address]) => address === chosen);
    const [first, second] = isJoin ? chosen.split(/\+(?!.*\+)/) : [chosen, ''];
    const box = element('span', { className: 'pair' }, one(t('Column of %s', this.words[field]), none, first));
    if (field === 'author') box.append(one(t('Column of the family names'), t('and no second column'), second));
    return box;
  }

  // addresses returns the name in options and the shown name of each column.
  addresses({ header }) {
    return header.map((name, i) => {
      const isUnique = name && header.indexOf(name) === i && name.length <= 200;
      return isUnique ? [name, name] : [`#${i + 1}`, name ? `${name} (#${i + 1})` : `#${i + 1}`];
    });
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
        cell.classList.toggle('number', /^[\d.,-]{1,12}$/.test(cell.textContent)); // also a date
        return cell;
      }))))))];
  }

  rejects(state) {
    const named = (column) => state.header.includes(column) ? column : this.words[column] ?? column;
    const rows = state.rejects.first.flatMap(({ place, problems }) => problems.map((p) => [capital(said(place)), named(p.column), p.value, said(p.message), said(p.mend)]));
    const box = element('section', {}, ...this.table(t('Rejected rows'), [t('Place'), t('Column'), t('Found'), t('Problem'), t('How to fix it')], rows));
    if (state.rejects.url) {
      box.append(element('p', { className: 'buttons' }, button(t('Download the rejected rows'), () => this.save(state.rejects.url)),
        element('span', { className: 'small soft' }, t('Fix the file, then import it again.'))));
    }
    return box;
  }

  // changes shows the books that the import would change, as a book's history does.
  changes({ changes, counts }) {
    const items = changes.map(({ id, name, place, fields }) => element('li', {}, element('h3', { dir: 'auto' }, element('a', { href: `/books/${id}` }, name)), element('p', { className: 'small soft' }, capital(said(place))),
      element('dl', { className: 'differences' }, ...fields.map((field) => element('div', {}, element('dt', {}, this.words[field.field]),
        element('dd', { dir: 'auto' }, ...field.old ? [element('del', {}, shown(field.field, field.old)), ' '] : [], field.new ? element('ins', {}, shown(field.field, field.new)) : element('span', { className: 'soft' }, t('none'))))))));
    const more = counts.updated - changes.length;
    return element('section', {}, element('h2', {}, t('Changed books')), element('ol', { className: 'history' }, ...items), ...more > 0 ? [element('p', { className: 'soft' }, n('And %s more books.', more))] : []);
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

  // mapping shows the columns of fields.
  mapping(state, fields) {
    const found = Object.fromEntries(state.columns.map((column) => [column.field, column]));
    const rows = fields.map((field) => {
      const { column, others = [], forms = [], empty_rows: empty } = found[field] ?? {};
      const word = this.words[field];
      const given = work.columns[field];
      const chosen = column && this.addresses(state).some(([address]) => address === given) ? given : column ?? '';
      const select = this.columnSelect(state, field, this.optional.includes(field) ? t('Do not import') : t('No column'), chosen);
      select.dataset.found = chosen;
      select.dataset.field = field;
      const value = field === 'name' ? '' : element('input', { ariaLabel: t('Value of %s if empty', word), name: field, value: work.defaults[field] ?? '' });
      const reading = [...others.map((name) => t('%s if empty', name)), ...forms.filter(({ text, value }) => !value || text !== shown(field, value)).map((form) => form.value ? t('%s is %s (%s)', form.text, shown(field, form.value), rowsOf(form.rows)) : unreadable(form))];
      if (empty) reading.unshift(n('%s rows have no %s', empty, word));
      return [word, select, value, reading.join('; ')];
    });
    return this.table(t('Columns'), [t('Field'), t('Column'), t('Default if empty'), t('Read as')], rows, true);
  }

  // reading shows the options for a file that is read wrongly.
  reading({ sheets, status }) {
    const control = (name, label, made) => element('div', { className: 'field' }, element('label', { htmlFor: `read-${name}` }, label), Object.assign(made, { name, id: `read-${name}` }));
    const choose = (name, label, list) => control(name, label, element('select', {}, ...options([['', t('Automatic')], ...list], work.answers[name])));
    const type = (name, label, properties = {}) => control(name, label, element('input', { placeholder: t('Automatic'), value: work.answers[name] ?? '', ...properties }));
    const box = element('details', { open: status === 'refused' }, element('summary', {}, t('Read the file in another way')), element('div', { className: 'field-row' },
      ...sheets.read.length ? [choose('sheet', t('Sheet of the file'), [...sheets.read, ...sheets.left_out].map((name) => [name, name]))]
        : [choose('encoding', t('Encoding'), this.encodings.map((name) => [name, name])), type('delimiter', t('Delimiter'), { maxLength: 4 })],
      choose('no_header', t('Header'), [['true', t('None: the first row is a book')]]),
      type('header_row', sheets.read.length ? t('Row of the header') : t('Line of the header'), { type: 'number', min: 1, max: 1000 }),
      choose('format', t('Format'), [['csv', 'CSV'], ['json', 'JSON'], ['xlsx', t('Spreadsheet')]]),
      choose('dates', t('Dates'), [['dmy', t('Day first')], ['mdy', t('Month first')], ['iso', t('Year first')]]),
      choose('decimal', t('85.000 in prices'), [['comma', t('Is 85000')], ['point', t('Is 85')]]),
      choose('duplicates', t('Rows of one book'), [['last', t('Use the last')], ['first', t('Use the first')], ['keep', t('Keep all')], ['reject', t('Skip the book')]])),
      element('p', { className: 'buttons' }, element('button', { className: 'button', formNoValidate: true }, t('Read again')))); // also without answers
    box.dataset.reading = '';
    return box;
  }

  // keep takes the answers, columns and values of the form into the options.
  keep(form) {
    const set = (of, name, value) => { if (value) of[name] = value; else delete of[name]; };
    for (const control of form.querySelectorAll('[data-reading] [name]')) set(work.answers, control.name, control.value.trim());
    for (const pair of form.querySelectorAll('.table .pair')) if (valueOf(pair) !== pair.dataset.found) work.columns[pair.dataset.field] = valueOf(pair);
    for (const input of form.querySelectorAll('.table input')) set(work.defaults, input.name, input.value.trim());
    for (const chosen of form.querySelectorAll('fieldset :checked:is([type=radio])')) {
      const [kind, ...rest] = chosen.value.split('=');
      const row = chosen.closest('.choice-row');
      const value = row ? valueOf(row) : rest.join('=');
      const { field } = chosen.closest('fieldset').dataset;
      if (!field) {
        if (kind === 'no_header') delete work.answers.header_row;
        if (kind === 'header_row') delete work.answers.no_header;
        work.answers[kind] = value;
        continue;
      }
      set(work.defaults, field, kind === 'value' && value);
      if (kind === 'column' && value) work.columns[field] = value;
      else if (kind === 'none' && this.optional.includes(field)) work.columns[field] = '';
      else if (!work.state.columns.some((column) => column.field === field && column.column)) delete work.columns[field];
    }
  }

  firstRows(state) {
    return element('section', {}, ...this.table(t('First rows'), this.fields.map((field) => this.words[field]),
      state.first_rows.map(({ values, sources }) => this.fields.map((field) => values[field] && [shown(field, values[field]), ...sources[field] ? [' ', element('span', { className: 'small soft' }, sources[field])] : []]))));
  }
}

customElements.define('book-import', BookImport);
