// The form of a book. It keeps the user's input after errors, conflicts, expired tokens and Back.
import { leaving } from './account.js';
import { request, newKey, GraphQLError } from './request.js';
import { places, said, t, time } from './language.js';
import { fieldProblem, known } from './words.js';
import { Lookup } from './lookup.js';
import { watchToken } from './watch.js';
import { saved } from './undo.js';
import { visit, onLeave, announce } from './visit.js';

const create = `mutation CreateBook($input: CreateBookInput!) { createBook(input: $input) { book { id genreId } } }`;
const update = `mutation UpdateBook($input: UpdateBookInput!) { updateBook(input: $input) { book { id version } } }`;
const current = (fields) => `query Now($id: ID!) { book(id: $id) { version updatedAt ${fields.join(' ')} genre { name } } history(type: BOOK, id: $id, first: 1) { nodes { actorName } } }`;

const createGenre = `mutation CreateGenre($input: CreateGenreInput!) { createGenre(input: $input) { genre { id } } }`;

const isDay = (text) => {
  const day = new Date(`${text}T00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

const isYear = (text) => /^\d{4}$/.test(text);

// checks report whether a value of a kind is in the catalogue's notation. The server says what is wrong with others.
const checks = {
  date: (value) => isDay(value) || isYear(value),
  number: (value, { min, max }) => /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max,
  price: (value) => /^\d+(\.\d\d?)?$/.test(value),
};

class BookForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector('form');
    this.fields = [...this.form.elements].filter((field) => field.name && !field.closest('.new-genre')).map((field) => field.name);
    this.id_ = this.dataset.id;
    this.version = Number(this.dataset.version);
    this.base = this.values(); // the values before changes
    this.draft = `draft:${location.pathname}`;
    this.sent = ''; // the last input of a create
    this.key = ''; // the Idempotency-Key of sent
    this.lost = false; // whether sent has no response, so that it may be stored
    this.lookup = new Lookup(this);
    this.restore();
    this.lookup.start();
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.form.querySelector('.buttons button').disabled) return; // a save runs
      this.another = Boolean(event.submitter && 'another' in event.submitter.dataset);
      this.save();
    });
    this.form.addEventListener('input', () => this.changed());
    this.form.elements.author.addEventListener('change', () => this.offer().catch(() => {})); // the author stays valid
    this.form.querySelector('[data-cancel]').addEventListener('click', () => this.forget());
    onLeave(() => !this.dirty() || this.done || confirm(t('Leave this form? Your changes are kept in this tab.')));
    addEventListener('beforeunload', this.warn);
    this.plate();
    watchToken(this);
  }

  disconnectedCallback() { removeEventListener('beforeunload', this.warn); }

  warn = (event) => { if (this.dirty() && !this.done && !leaving) event.preventDefault(); };

  values() {
    return Object.fromEntries(this.fields.map((name) => [name, this.form.elements[name].value.trim()]));
  }

  // shown returns a stored value as the form shows it.
  shown(name, value) { return this.form.elements[name].dataset.kind === 'date' ? known(value ?? '') : String(value ?? ''); }

  // label returns the label of a field.
  label(name) { return this.form.elements[name].labels[0].firstChild.textContent.trim(); }

  dirty() {
    const now = this.values();
    return this.fields.some((name) => now[name] !== this.base[name]);
  }

  changed() {
    this.form.querySelector('.new-genre').hidden = this.form.elements.genreId.value !== 'new';
    this.plate();
    if (this.dirty()) this.keep();
    else sessionStorage.removeItem(this.draft);
  }

  // keep stores the input in this tab.
  keep() {
    const { newGenre, newCategory } = this.form.elements;
    const values = { ...this.values(), newGenre: newGenre.value, newCategory: newCategory.value };
    sessionStorage.setItem(this.draft, JSON.stringify({ version: this.version, base: this.base, sent: this.sent, key: this.key, lost: this.lost, untyped: [...this.lookup.untyped], values }));
  }

  // restore restores unsaved input of this tab. It also restores the version, so that saving detects later changes by
  // others.
  restore() {
    const draft = JSON.parse(sessionStorage.getItem(this.draft) ?? 'null');
    if (!draft) return;
    for (const [name, value] of Object.entries(draft.values)) {
      if (this.form.elements[name]) this.form.elements[name].value = value; // else an update of the service removed the field
    }
    this.base = { ...this.base, ...draft.base };
    this.version = draft.version;
    this.sent = draft.sent;
    this.key = draft.key;
    this.lost = draft.lost;
    this.lookup.untyped = new Map(draft.untyped);
    this.note(t('We restored what you typed earlier.'), 'warn');
    this.changed();
  }

  // begin offers values of the book saved before. If its ISBN came from the camera, it opens the camera again.
  begin(values, isScanned) {
    this.lookup.offer(values);
    this.base = this.values();
    this.changed();
    if (isScanned) this.lookup.scan(values.isbn);
  }

  forget() {
    this.done = true;
    sessionStorage.removeItem(this.draft);
  }

  // plate shows the name and the author on the cover next to the form.
  plate() {
    const cover = document.querySelector('.cover');
    cover.querySelector('.plate-name').textContent = this.form.elements.name.value;
    cover.querySelector('.plate-by').textContent = this.form.elements.author.value;
  }

  // typed returns the values as GraphQL input.
  typed(values) {
    const input = { ...values };
    for (const name of Object.keys(input)) {
      const { dataset, required } = this.form.elements[name];
      if (dataset.kind === 'date' && isYear(input[name])) input[name] += '-01-01';
      if (dataset.kind === 'number') input[name] = Number(input[name]);
      if (!required && input[name] === '') input[name] = null;
    }
    return input;
  }

  // isMissing reports whether a required field has no value.
  isMissing(name) {
    const { value, required } = this.form.elements[name];
    return required && !value.trim();
  }

  // isOther reports whether a value is not in the catalogue's notation, or out of bounds.
  isOther(name) {
    const { value, dataset } = this.form.elements[name];
    return Boolean(dataset.kind && value.trim() && !checks[dataset.kind](value.trim(), dataset));
  }

  // meant returns what the server makes of the values of fields: values in the catalogue's notation, problems and offers.
  async meant(names) {
    const values = names.map((name) => [name, this.form.elements[name].value.trim()]).filter(([name, text]) => text && !['description', 'genreId'].includes(name)); // one may be too long for an address, the other is chosen
    const response = await fetch(`/books/values?${new URLSearchParams(values)}`);
    if (!response.ok) throw new Error();
    return response.json();
  }

  // read replaces dates and numbers in other notations by the notation of the catalogue, and returns what is wrong. It asks the
  // server about all fields if one is wrong, so that all problems show at once.
  async read(names) {
    const others = this.fields.filter((name) => this.isOther(name));
    const missing = names.filter((name) => this.isMissing(name)).map((field) => ({ field, words: field === 'genreId' ? t('Choose a genre') : t('Required') }));
    if (!others.length && !missing.length) return [];
    const { values, problems } = await this.meant(this.fields);
    for (const name of others) if (values[name]) this.form.elements[name].value = values[name];
    this.changed();
    return [...missing, ...Object.entries(problems).map(([field, text]) => ({ field, text }))];
  }

  // offer offers other forms of the author, if a comma can be read in two ways.
  async offer() {
    const input = this.form.elements.author, place = input.closest('.field'), author = input.value;
    const { offers } = author.includes(',') ? await this.meant(['author']) : { offers: [] };
    if (input.value !== author) return; // the user has chosen meanwhile
    const clear = () => place.querySelectorAll('.offer').forEach((button) => button.remove());
    clear();
    place.append(...offers.map(({ label, value }) => {
      const use = document.createElement('button');
      use.type = 'button';
      use.className = 'text-button offer';
      use.textContent = label;
      use.onclick = () => {
        input.value = value;
        clear();
        input.focus();
        this.changed();
      };
      return use;
    }));
  }

  async save(choice) {
    this.clear();
    const buttons = this.form.querySelectorAll('.buttons button');
    for (const button of buttons) button.disabled = true;
    try {
      const names = this.form.elements.genreId.value === 'new' ? [...this.fields, 'newGenre', 'newCategory'] : this.fields;
      const wrong = choice ? [] : await this.read(names);
      if (wrong.length) return this.refuse(wrong);
      const data = this.id_ ? await this.update(choice) : await this.create();
      if (!data) return;
      const id = this.id_ || data.createBook.book.id;
      const { name, ...values } = this.values();
      this.forget();
      if (this.another) {
        await visit('/books/new');
        document.querySelector('book-form')?.begin({ ...values, genreId: data.createBook.book.genreId }, this.lookup.isScanned);
        announce(t('“%s” was saved.', name), true);
        return;
      }
      await visit(`/books/${id}`);
      saved(this.undo);
    } catch (error) {
      if (this.id_ && ['CONFLICT', 'NOT_FOUND'].includes(error.code)) return this.clash().catch((failure) => this.fail(failure));
      if (error.fields?.length) return this.refuse(error.fields);
      this.fail(error);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  // fail shows why a save failed.
  fail(error) {
    this.note(error instanceof GraphQLError ? error.message : t('The catalogue did not respond. Your changes are still here. Save again in a moment.'), 'bad');
  }

  // newGenre returns the new genre as GraphQL input. Its category is an existing one if the name is.
  newGenre() {
    const name = this.form.elements.newGenre.value.trim();
    const category = this.form.elements.newCategory.value.trim();
    const known = [...this.form.querySelectorAll('#categories option')].find((option) => option.value === category);
    return { name, category: known ? { connect: { id: known.dataset.id } } : { create: { name: category } } };
  }

  // send creates a book or a genre. A repeated input has the same key, so that it is stored once.
  async send(mutation, input) {
    const text = JSON.stringify(input);
    const wasLost = this.lost && text === this.sent;
    if (text !== this.sent) this.key = newKey();
    this.sent = text;
    const sending = (is) => { this.lost = is || wasLost; this.keep(); };
    try {
      const data = await request(mutation, { input }, { write: true, key: this.key, sending });
      if (data) this.lost = false;
      return data;
    } catch (error) {
      if (error instanceof GraphQLError && !['UNAVAILABLE', 'INTERNAL'].includes(error.code)) sending(false);
      throw error;
    }
  }

  // create sends the book, unless another one may be stored.
  async create() {
    const input = this.typed(this.values());
    if (input.genreId === 'new') {
      delete input.genreId;
      input.genre = { create: this.newGenre() };
    }
    return this.lost && JSON.stringify(input) !== this.sent ? this.doubt() : this.send(create, input);
  }

  // doubt asks what to do with a form that has changed since a create without a response.
  doubt() {
    const { name } = JSON.parse(this.sent);
    const box = this.note(t('The first save got no response, so “%s” may be stored already. You have changed the form since.', name), 'warn');
    const look = document.createElement('a');
    look.href = `/?q=${encodeURIComponent(name)}&sort=added`;
    look.target = '_blank';
    look.textContent = t('Look for it in a new tab');
    const save = document.createElement('button');
    save.type = 'button';
    save.className = 'text-button';
    save.textContent = t('Save as a new book');
    save.onclick = () => {
      this.sent = '';
      this.lost = false;
      this.save();
    };
    box.append(' ', ...places(t('%s or %s.'), look, save));
    box.tabIndex = -1;
    box.focus();
    return null;
  }

  // addGenre creates the new genre and selects it. It returns false if the user cancels.
  async addGenre() {
    const input = this.newGenre();
    const data = await this.send(createGenre, input);
    if (!data) return false;
    this.form.elements.genreId.append(new Option(input.name, data.createGenre.genre.id, true, true));
    this.changed();
    return true;
  }

  async update(choice) {
    if (!choice && this.form.elements.genreId.value === 'new' && !await this.addGenre()) return null;
    const now = choice ?? this.values();
    const changed = this.fields.filter((name) => now[name] !== this.base[name]);
    const patch = this.typed(Object.fromEntries(changed.map((name) => [name, now[name]])));
    const data = await request(update, { input: { id: this.id_, patch, expectedVersion: this.version } }, { write: true });
    if (data && changed.length) this.undo = { id: this.id_, expectedVersion: data.updateBook.book.version };
    return data;
  }

  // refuse shows a message at each field and a list of links to these fields, in the order of the form.
  refuse(problems) {
    const others = []; // messages without a field
    for (const problem of problems) {
      const { field } = problem;
      const name = field.split('.').at(-1).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      const input = this.form.elements[name] ?? (field.includes('category') ? this.form.elements.newCategory : this.form.elements.newGenre);
      if (!input) { others.push(said(problem.text)); continue; }
      const place = input.closest('.field');
      if (place.classList.contains('wrong')) continue;
      const text = document.createElement('p');
      text.className = 'wrong-text';
      text.id = `${input.name}-wrong`;
      text.textContent = problem.words ?? fieldProblem(problem.text, input.value);
      place.classList.add('wrong');
      place.append(text);
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', [place.querySelector('.hint')?.id, text.id].join(' ').trim());
    }
    const links = [...this.form.querySelectorAll('[aria-invalid]')].map((input) => {
      const link = document.createElement('a');
      link.href = `#${input.id}`;
      link.textContent = this.label(input.name);
      link.addEventListener('click', (event) => { event.preventDefault(); input.focus(); });
      return link;
    });
    const box = this.note('', 'bad');
    const strong = document.createElement('strong');
    strong.textContent = t('Not saved.');
    box.append(strong, ` ${links.length + others.length === 1 ? t('Check this field:') : t('Check these fields:')} `);
    [...links, ...others].forEach((part, i) => box.append(i ? ', ' : '', part));
    box.append('.');
    box.tabIndex = -1;
    box.focus();
  }

  note(message, kind) {
    const box = this.form.querySelector('.problems');
    box.className = `problems note ${kind}`;
    box.textContent = message;
    box.hidden = false;
    return box;
  }

  clear() {
    this.form.querySelector('.problems').hidden = true;
    for (const place of this.form.querySelectorAll('.wrong')) {
      place.classList.remove('wrong');
      place.querySelector('.wrong-text').remove();
      const input = place.querySelector('[aria-invalid]');
      const hint = place.querySelector('.hint');
      input.removeAttribute('aria-invalid');
      if (hint) input.setAttribute('aria-describedby', hint.id);
      else input.removeAttribute('aria-describedby');
    }
  }

  // latest reads the book, and who changed it. Without a book it says that it was deleted.
  async latest() {
    const { book, history } = await request(current(this.fields), { id: this.id_ }, { read: true });
    const who = history.nodes[0]?.actorName ?? t('Someone else'); // callers with the scope catalogue:read see the name
    if (!book) this.note(t('%s deleted this book. Your changes are still here. To keep the book, add it as a new one.', who), 'warn');
    return { book, who };
  }

  // merge merges the user's changes with those of others. both has the fields that both have changed.
  merge(book) {
    const theirs = Object.fromEntries(this.fields.map((name) => [name, this.shown(name, book[name])]));
    const mine = this.values();
    const both = this.fields.filter((name) => mine[name] !== this.base[name] && theirs[name] !== this.base[name] && mine[name] !== theirs[name]);
    const merged = { ...theirs };
    for (const name of this.fields) if (mine[name] !== this.base[name]) merged[name] = mine[name];
    return { theirs, mine, both, merged };
  }

  // compare says that others have changed the book, and offers to show their values. live.js calls it.
  async compare() {
    if (!this.id_) return;
    const { book, who } = await this.latest();
    this.querySelector('.changed')?.remove();
    if (!book || book.version <= this.version || this.done || this.form.hidden || this.form.querySelector('.buttons button').disabled) return;
    const box = Object.assign(document.createElement('p'), { className: 'note warn changed' });
    box.setAttribute('role', 'status');
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'text-button', textContent: t('Show the new values') });
    button.onclick = () => {
      box.remove();
      this.take().catch((error) => this.fail(error));
    };
    box.append(t('%s changed this book. What you typed is still here.', who), ' ', button);
    this.prepend(box);
  }

  // take shows the values of others in the form. The user chooses the value of each field that both have changed.
  async take() {
    const { book } = await this.latest();
    if (!book) return;
    const { theirs, both, merged } = this.merge(book);
    if (both.length) return this.clash();
    const news = this.fields.filter((name) => theirs[name] !== this.base[name]);
    const { genreId } = this.form.elements;
    if (![...genreId.options].some(({ value }) => value === theirs.genreId)) genreId.append(new Option(book.genre.name, theirs.genreId)); // a new genre
    for (const name of this.fields) this.form.elements[name].value = merged[name];
    this.base = theirs;
    this.version = book.version;
    this.changed();
    this.note(t('Changed: %s.', news.map((name) => this.label(name)).join(', ')), 'warn');
    this.form.elements[news[0]]?.focus();
  }

  // clash merges changes that others have saved after this form was opened. The user chooses the value of each field that
  // both have changed.
  async clash() {
    const { book, who } = await this.latest();
    if (!book) return;
    const { theirs, mine, both, merged } = this.merge(book);
    const adopt = (values) => {
      this.base = theirs;
      this.version = book.version;
      return this.save(values);
    };
    if (!both.length) return adopt(merged);
    this.querySelector('.changed')?.remove();

    const shown = (name, value) => name === 'genreId' ? this.form.elements.genreId.querySelector(`[value="${value}"]`)?.textContent ?? value : value || t('(nothing)');
    const box = document.createElement('div');
    box.className = 'clash';
    box.innerHTML = `<div class="note warn" tabindex="-1"><strong></strong><br><span></span></div>
      <table><thead><tr><th scope="col"><span class="hidden">${t('Field')}</span></th><th scope="col">${t('Yours')}</th><th scope="col">${t('Theirs (saved)')}</th></tr></thead><tbody></tbody></table>
      <div class="merged" hidden></div>
      <p class="buttons"><button type="button" class="button main" data-save>${t('Save this choice')}</button><button type="button" class="button" data-theirs>${t('Discard my changes')}</button><button type="button" class="text-button push" data-back>${t('Back to my form')}</button></p>`;
    box.querySelector('.note strong').append(...places(t('%s changed this book'), Object.assign(document.createElement('bdi'), { textContent: who })));
    box.querySelector('.note span').textContent = t('It was saved at %s, after you opened it. Choose which changes to keep.', time(book.updatedAt, { hourCycle: 'h23' }));
    for (const name of both) {
      const row = box.querySelector('tbody').insertRow();
      row.innerHTML = `<th scope="row"><span></span><br><span class="small soft was"></span></th><td><label><input type="radio" value="mine" checked><span></span></label></td><td><label><input type="radio" value="theirs"><span></span></label></td>`;
      const [label, was, my, their] = row.querySelectorAll('span');
      label.textContent = this.label(name);
      was.textContent = this.form.elements[name].dir && this.base[name] ? t('was “%s”', this.base[name]) : t('was %s', shown(name, this.base[name]));
      my.textContent = shown(name, mine[name]);
      their.textContent = shown(name, theirs[name]);
      for (const radio of row.querySelectorAll('input')) {
        radio.name = `clash-${name}`;
        radio.addEventListener('change', () => { merged[name] = radio.value === 'mine' ? mine[name] : theirs[name]; });
      }
    }
    const others = this.fields.filter((name) => !both.includes(name) && (mine[name] !== this.base[name] || theirs[name] !== this.base[name]));
    if (others.length) {
      const text = box.querySelector('.merged');
      text.append(t('No conflict, both kept:'), document.createElement('ul'));
      for (const name of others) {
        const item = document.createElement('li');
        const words = mine[name] !== this.base[name] ? t('your %s: %s') : t('their %s: %s');
        item.append(...places(words, Object.assign(document.createElement('strong'), { textContent: this.label(name) }), shown(name, merged[name])));
        text.lastChild.append(item);
      }
      text.hidden = false;
    }
    this.form.hidden = true;
    this.append(box);
    const back = () => { box.remove(); this.form.hidden = false; };
    box.querySelector('[data-back]').onclick = back;
    box.querySelector('[data-theirs]').onclick = () => { this.forget(); visit(`/books/${this.id_}`); };
    box.querySelector('[data-save]').onclick = () => { back(); adopt(merged); };
    box.querySelector('.note').focus();
  }
}

customElements.define('book-form', BookForm);
