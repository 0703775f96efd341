// Look-ups: the ISBN of a new book fills its form, with the record of another library or with a book of the catalogue.
import { holder, request, GraphQLError } from './request.js';
import { places, t } from './language.js';
import { fieldProblem, isbnSigns } from './words.js';
import { scan, noCamera } from './scan.js';
import { announce } from './visit.js';

const copies = (fields) => `query Met($isbn: String!) { booksByIsbn(isbn: $isbn) { id ${fields.join(' ')} } }`;
const records = `query Lookup($isbn: String!) { lookup(isbn: $isbn) {
  books { source name author publishedAt pages publisher language description price genre category subtitle series seriesNumber }
  sources { name status } } }`;

const titles = { dnb: 'Deutsche Nationalbibliothek', k10plus: 'K10plus', loc: 'Library of Congress', openlibrary: 'Open Library' };
const titleOf = (source) => titles[source] ?? source;

const ofShelf = ['genreId', 'price', 'shelfMark']; // offered from the book saved before, also where a record lacks them
const offered = [...ofShelf, 'publisher', 'language'];

// isWhole reports whether the text is an ISBN. 10 digits may be the start of 13.
const isWhole = (signs) => /^97[89]\d{10}$|^(?!97[89])\d{9}[\dX]$/.test(signs);

const same = (text) => text.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ');

const button = (text, act, className = 'text-button offer') => Object.assign(document.createElement('button'), { type: 'button', className, textContent: text, onclick: act });

// Lookup follows the ISBN of a form.
export class Lookup {
  constructor(form) {
    this.form = form;
    this.fields = form.form.elements;
    this.input = this.fields.isbn;
    this.status = form.querySelector('.met');
    this.untyped = new Map(); // values that the user did not type, by field; a record may replace them
    this.offers = {}; // values of the book saved before
    this.isbn = ''; // followed last
    this.running = ''; // the ISBN that is looked up now
    this.ended = ''; // the ISBN whose look-up has ended
    this.goesOn = false; // whether the focus then leaves the ISBN
    this.isScanned = false; // whether the ISBN came from the camera
    this.input.addEventListener('change', () => this.follow());
    if (form.id_) return;
    this.asked = this.input.value; // by the address of the page
    form.form.addEventListener('input', ({ target }) => {
      this.untyped.delete(target.name);
      this.mark();
    });
    this.input.addEventListener('input', ({ inputType }) => {
      this.isScanned = false;
      this.goesOn = inputType === 'insertFromPaste'; // the Enter of a scanner is still to come, and may not press a button
      if (isWhole(isbnSigns(this.input.value))) this.follow();
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.isComposing) return;
      event.preventDefault();
      this.goesOn = true;
      if (this.ended && this.ended === isbnSigns(this.input.value)) this.go();
      else this.follow(true);
    });
    if (!noCamera()) this.input.after(button(t('Scan'), () => this.scan(), 'button'));
    else if (matchMedia('(pointer: coarse)').matches) this.status.after(Object.assign(document.createElement('p'), { className: 'hint', textContent: noCamera() }));
  }

  // start looks up the ISBN in the address of the page. It replaces that of a draft.
  start() {
    if (!this.asked) return;
    if (this.form.base.isbn !== this.asked) this.form.base.isbn = this.input.value = this.asked;
    this.goesOn = this.input.autofocus = true;
    this.input.focus();
    if (holder().known) this.follow();
  }

  // offer fills a form with values of the book saved before.
  offer(values) {
    this.offers = Object.fromEntries(offered.map((name) => [name, values[name]]));
    this.fill();
  }

  // scan looks up the ISBN that the camera sees. That of the book saved before may still be there.
  scan(before) {
    return scan((isbn) => {
      this.isScanned = this.goesOn = true;
      this.input.value = isbn;
      this.follow(true);
    }, before);
  }

  // follow fills the form for the ISBN, unless that has been followed. With again it follows it once more.
  async follow(again = false) {
    const isbn = isbnSigns(this.input.value);
    if (isbn === (again ? this.running : this.isbn)) return;
    this.isbn = this.running = isbn;
    this.ended = '';
    this.say();
    if (isbn && !this.form.id_) {
      announce(''); // of the book saved before
      this.fill();
    }
    const books = isbn ? await this.met(isbn) : [];
    if (!this.isOld(isbn)) {
      if (books.length) this.tell(books);
      else if (isbn && 'lookup' in this.form.dataset) await this.look(isbn);
      else if (!this.form.id_) this.end(isbn);
    }
    if (this.running !== isbn) return;
    this.running = '';
    if (!this.isOld(isbn)) return;
    this.isbn = ''; // the user changed it, and may write it again
    this.say();
  }

  // isOld reports whether the form has another ISBN by now, or is saved.
  isOld(isbn) { return isbn !== isbnSigns(this.input.value) || !this.input.isConnected || this.form.done; }

  // met returns the other books that have the ISBN.
  async met(isbn) {
    try {
      const { booksByIsbn } = await request(copies(this.form.fields), { isbn });
      return booksByIsbn.filter(({ id }) => id !== this.form.id_);
    } catch {
      return []; // saving tells what is wrong
    }
  }

  // tell names the books that have the ISBN, and offers another copy.
  tell(books) {
    const links = books.slice(0, 3).flatMap(({ id, name, shelfMark }, i) => [i ? ', ' : '',
      Object.assign(document.createElement('a'), { href: `/books/${id}`, textContent: name }), shelfMark ? ` (${shelfMark})` : '']);
    const copy = this.form.id_ ? '' : button(t('Add another copy'), () => {
      copy.remove();
      this.fill({ ...books[0], shelfMark: '' });
      this.fields.shelfMark.focus();
    });
    this.say(`${t('You have this book:')} `, ...links, copy);
    if (document.activeElement === this.input) this.input.select(); // the next scan replaces it
  }

  // look asks other libraries.
  async look(isbn) {
    this.say(t('Looking it up…'));
    let data, problem;
    try {
      data = await request(records, { isbn }, { write: true }); // adding the book needs the same token
    } catch (error) {
      problem = error;
    }
    if (this.isOld(isbn)) return;
    if (problem) return this.fail(problem);
    if (!data) return this.say(); // cancelled
    const { books, sources } = data.lookup;
    this.ended = isbn;
    if (!books.length) return this.miss(sources);
    this.choose(books);
    this.end(isbn);
  }

  fail(error) {
    const [wrong] = error.fields ?? [];
    if (wrong) this.say(fieldProblem(wrong.text, this.input.value));
    else this.sayAgain(error instanceof GraphQLError ? error.message : t('The catalogue did not respond.'));
  }

  // miss says that no source has the book, and which ones did not say.
  miss(sources) {
    const silent = sources.filter(({ status }) => !['FOUND', 'UNKNOWN'].includes(status)).map(({ name }) => titleOf(name));
    if (!silent.length) {
      this.say(t('Not found. Fill in the form.'));
      this.end(this.ended);
    } else this.sayAgain(silent.length < sources.length ? t('Not found. No answer from %s.', silent.join(', ')) : t('No answer from %s.', silent.join(', ')));
  }

  // choose fills the form from the first record, and offers the others if they differ.
  choose(books) {
    const different = [...new Map(books.toReversed().map((book) => [JSON.stringify({ ...book, source: '' }), book])).values()].toReversed();
    this.fill(different[0]);
    if (different.length === 1) return this.say(t('From %s.', titleOf(different[0].source)));
    const select = document.createElement('select');
    select.ariaLabel = t('Source');
    select.append(...different.map(({ source }) => new Option(titleOf(source))));
    select.onchange = () => this.fill(different[select.selectedIndex]);
    this.say(...places(t('From %s'), select));
  }

  // fill puts the values of a book into the fields in which the user typed nothing. A value that the book lacks stays empty.
  // Without a book, and for fields of the shelf, it is the value of the book saved before.
  fill(book) {
    for (const name of this.form.fields) {
      const field = this.fields[name];
      if (field === this.input || field.value !== (this.untyped.get(name) ?? '')) continue;
      const value = name === 'genreId' ? book?.genreId ?? this.genreOf(book) : this.form.shown(name, book?.[name]);
      field.value = value || (!book || ofShelf.includes(name) ? this.offers[name] ?? '' : '');
      this.untyped.set(name, field.value);
    }
    this.form.changed();
    this.mark();
  }

  // genreOf returns the id of the genre with the name that a record has.
  genreOf(book) {
    const named = [...this.fields.genreId.options].filter(({ value, text }) => Number(value) && book?.genre && same(text) === same(book.genre));
    const one = named.length === 1 ? named[0] : named.find((option) => same(option.parentElement.label) === same(book.category ?? ''));
    return one?.value;
  }

  // mark shows which values are those of the book saved before, with a button that clears them.
  mark() {
    for (const name of ofShelf) {
      const field = this.fields[name], place = field.closest('.field');
      place.querySelector('.offer')?.remove();
      if (!field.value || field.value !== this.offers[name] || field.value !== this.untyped.get(name)) continue;
      place.append(button(t('From the last book. Clear'), () => {
        delete this.offers[name];
        field.value = '';
        this.form.changed();
        this.mark();
        field.focus();
      }));
    }
  }

  // end moves the focus on after a look-up.
  end(isbn) {
    this.ended = isbn;
    if (this.goesOn) this.go();
  }

  // go moves the focus from the ISBN to the first required field without a value, or to the button that saves.
  go() {
    if (document.activeElement.matches('input:not(#isbn), select, textarea')) return; // the user has gone on
    const empty = this.form.fields.find((name) => this.form.isMissing(name));
    if (empty) return this.fields[empty].focus();
    this.form.querySelector('[data-another]').focus({ preventScroll: true });
    this.input.closest('.field').scrollIntoView(); // the record is in view
  }

  say(...parts) { this.status.replaceChildren(...parts); }

  sayAgain(text) {
    this.say(`${text} `, button(t('Try again'), () => this.follow(true), 'text-button'));
  }
}
