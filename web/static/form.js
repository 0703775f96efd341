// The form of a book. What was typed outlives errors, conflicts, ended tokens and Back.
import { request, GraphQLError } from './token.js';
import { watchToken } from './watch.js';
import { leaving } from './login.js';
import { visit, onLeave, announce } from './visit.js';

const create = `mutation CreateBook($input: CreateBookInput!) { createBook(input: $input) { book { id } } }`;
const update = `mutation UpdateBook($input: UpdateBookInput!) { updateBook(input: $input) { book { id version } } }`;
const current = (fields) => `query Now($id: ID!) { book(id: $id) { version updatedAt ${fields.join(' ')} genre { name } } }`;

// hints say what to write, where the server says what is wrong.
const hints = {
  price: (value) => /^\d+,\d{1,2}$/.test(value) ? `Use a point: ${value.replace(',', '.')}` : 'Write a price like 15.71',
  publishedAt: () => 'Write the day like 1969-01-31; if only the year is known, 1969-01-01',
  pages: () => 'Write a whole number, 1 or more',
  genreId: () => 'Choose a genre',
};

class BookForm extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector('form');
    this.fields = [...this.form.elements].filter((field) => field.name && !field.closest('.new-genre')).map((field) => field.name);
    this.id_ = this.dataset.id;
    this.version = Number(this.dataset.version);
    this.base = this.values(); // what the form began with
    this.draft = `draft:${location.pathname}`;
    this.key = crypto.randomUUID?.() ?? String(Math.random()); // of this book, however often it is sent
    this.restore();
    this.form.addEventListener('submit', (event) => { event.preventDefault(); this.save(); });
    this.form.addEventListener('input', () => this.changed());
    this.form.querySelector('[data-cancel]').addEventListener('click', () => this.forget());
    onLeave(() => !this.dirty() || this.done || confirm('Leave this form? What you typed is kept in this tab.'));
    addEventListener('beforeunload', this.warn);
    this.plate();
    watchToken(this);
  }

  disconnectedCallback() { removeEventListener('beforeunload', this.warn); }

  warn = (event) => { if (this.dirty() && !this.done && !leaving) event.preventDefault(); };

  values() {
    return Object.fromEntries(this.fields.map((name) => [name, this.form.elements[name].value.trim()]));
  }

  // label returns what a field is called.
  label(name) { return this.form.elements[name].labels[0].firstChild.textContent.trim(); }

  dirty() {
    const now = this.values();
    return this.fields.some((name) => now[name] !== this.base[name]);
  }

  changed() {
    const fresh = this.form.querySelector('.new-genre');
    if (fresh) fresh.hidden = this.form.elements.genreId.value !== 'new';
    this.plate();
    if (this.dirty()) sessionStorage.setItem(this.draft, JSON.stringify({ version: this.version, base: this.base, values: this.values() }));
    else sessionStorage.removeItem(this.draft);
  }

  // restore takes up what was typed here before and not stored. Its version is that
  // from then, so that what others stored since is found when it is saved.
  restore() {
    const draft = JSON.parse(sessionStorage.getItem(this.draft) ?? 'null');
    if (!draft) return;
    for (const name of this.fields) this.form.elements[name].value = draft.values[name];
    this.base = draft.base;
    this.version = draft.version;
    this.note('What you typed before is here again.', 'warn');
    this.changed();
  }

  forget() {
    this.done = true;
    sessionStorage.removeItem(this.draft);
  }

  // plate writes the name and the author on the cover beside the form.
  plate() {
    const cover = document.querySelector('.cover');
    cover.querySelector('.plate-name').textContent = this.form.elements.name.value;
    cover.querySelector('.plate-by').textContent = this.form.elements.author.value;
  }

  // typed returns the values as GraphQL takes them.
  typed(values) {
    const input = { ...values };
    for (const name of Object.keys(input)) {
      const { inputMode, required } = this.form.elements[name];
      if (inputMode === 'numeric' && /^\d+$/.test(input[name])) input[name] = Number(input[name]);
      if (!required && input[name] === '') input[name] = null;
    }
    return input;
  }

  async save(choice) {
    this.clear();
    const wrong = this.fields.filter((name) => this.form.elements[name].required && !this.values()[name]);
    if (wrong.length) return this.refuse(wrong.map((name) => ({ field: name, message: 'Fill this in' })));
    const button = this.form.querySelector('.button.main');
    button.disabled = true;
    try {
      const data = this.id_ ? await this.update(choice) : await this.create();
      if (!data) return;
      const id = this.id_ || data.createBook.book.id;
      this.forget();
      await visit(`/books/${id}`);
      announce('Saved.', true);
    } catch (error) {
      if (!(error instanceof GraphQLError)) return this.note('The catalogue did not answer. Nothing you typed is lost: save again in a moment.', 'bad');
      if (error.code === 'CONFLICT' || error.code === 'STALE') return this.clash(error);
      if (error.fields.length) return this.refuse(error.fields);
      this.note(error.message, 'bad');
    } finally {
      button.disabled = false;
    }
  }

  create() {
    const input = this.typed(this.values());
    if (input.genreId === 'new') {
      delete input.genreId;
      const { newGenre, newCategory } = this.form.elements;
      input.genre = { create: { name: newGenre.value, category: { create: { name: newCategory.value } } } };
    }
    return request(create, { input }, { write: true, key: this.key });
  }

  update(choice) {
    const now = choice ?? this.values();
    const patch = Object.fromEntries(this.fields.filter((name) => now[name] !== this.base[name]).map((name) => [name, now[name]]));
    return request(update, { input: { id: this.id_, patch: this.typed(patch), expectedVersion: this.version } }, { write: true });
  }

  // refuse shows what is wrong at each field, and leads there.
  refuse(problems) {
    const links = [];
    for (const { field, message } of problems) {
      const name = field.split('.').at(-1).replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
      const input = this.form.elements[name] ?? (field.includes('category') ? this.form.elements.newCategory : this.form.elements.newGenre);
      if (!input) { links.push(document.createTextNode(message)); continue; }
      const place = input.closest('.field');
      if (place.classList.contains('wrong')) continue;
      const text = document.createElement('p');
      text.className = 'wrong-text';
      text.id = `${input.name}-wrong`;
      text.textContent = input.value && hints[input.name] ? hints[input.name](input.value) : message;
      place.classList.add('wrong');
      place.append(text);
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', text.id);
      const link = document.createElement('a');
      link.href = `#${input.id}`;
      link.textContent = this.label(input.name);
      link.addEventListener('click', (event) => { event.preventDefault(); input.focus(); });
      links.push(link);
    }
    const box = this.note('', 'bad');
    const strong = document.createElement('strong');
    strong.textContent = 'Not saved yet. ';
    box.append(strong, links.length === 1 ? 'One field needs another look: ' : 'Some fields need another look: ');
    links.forEach((link, i) => box.append(i ? ', ' : '', link));
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
      place.querySelector('[aria-invalid]').removeAttribute('aria-invalid');
    }
  }

  // clash shows what others stored after this form was opened: fields that both
  // changed are to be chosen, all others are merged.
  async clash(error) {
    const { book } = await request(current(this.fields), { id: this.id_ });
    if (!book) return this.note('This book was deleted meanwhile. What you typed is still here: add it as a new book, if it should be there again.', 'warn');
    const theirs = Object.fromEntries(this.fields.map((name) => [name, String(book[name] ?? '')]));
    const mine = this.values();
    const both = this.fields.filter((name) => mine[name] !== this.base[name] && theirs[name] !== this.base[name] && mine[name] !== theirs[name]);
    const merged = { ...theirs };
    for (const name of this.fields) if (mine[name] !== this.base[name]) merged[name] = mine[name];
    const adopt = (values) => {
      this.base = theirs;
      this.version = book.version;
      return this.save(values);
    };
    if (!both.length) return adopt(merged);

    const shown = (name, value) => name === 'genreId' ? this.form.elements.genreId.querySelector(`[value="${value}"]`)?.textContent ?? value : value || '(nothing)';
    const box = document.createElement('div');
    box.className = 'clash';
    box.innerHTML = `<div class="note warn" tabindex="-1"><strong>Changed meanwhile</strong><br>Somebody saved this book at <span></span>, after you opened it. Nothing is lost: choose what to keep.</div>
      <table><thead><tr><th scope="col"><span class="hidden">Field</span></th><th scope="col">Yours</th><th scope="col">Theirs, saved now</th></tr></thead><tbody></tbody></table>
      <p class="merged" hidden></p>
      <p class="buttons"><button type="button" class="button main" data-save>Save this choice</button><button type="button" class="button" data-theirs>Keep all of theirs</button><button type="button" class="text-button push" data-back>Back to my form</button></p>`;
    box.querySelector('.note span').textContent = new Date(book.updatedAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    for (const name of both) {
      const row = box.querySelector('tbody').insertRow();
      row.innerHTML = `<th scope="row"><span></span><br><span class="small soft was"></span></th><td><label><input type="radio" value="mine" checked><span></span></label></td><td><label><input type="radio" value="theirs"><span></span></label></td>`;
      const [label, was, my, their] = row.querySelectorAll('span');
      label.textContent = this.label(name);
      was.textContent = this.form.elements[name].dir && this.base[name] ? `was “${this.base[name]}”` : `was ${shown(name, this.base[name])}`;
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
      text.textContent = 'No clash, both kept: ';
      others.forEach((name, i) => {
        const label = document.createElement('strong');
        label.textContent = this.label(name);
        text.append(i ? ', ' : '', mine[name] !== this.base[name] ? 'your ' : 'their ', label, ` ${shown(name, merged[name])}`);
      });
      text.append('.');
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
