// The list of books: fields that find values of a filter, and ticked books.
import './buttons.js';
import { n, t } from './language.js';
import { request, GraphQLError } from './request.js';
import { announce } from './visit.js';

// An empty catalogue has a button that loads the sample.
const loadSampleButton = () => document.querySelector('sample-button') && import('./dialogs.js');
document.addEventListener('shown', loadSampleButton);
loadSampleButton();

let wait = 0;
let finding = new AbortController();

// find replaces the values of a filter by those that contain the text of its field.
async function find(field) {
  finding.abort();
  finding = new AbortController();
  const query = new URLSearchParams([...new FormData(field.form)].filter(([, value]) => value.trim()));
  const values = () => field.closest('fieldset').querySelector('.values');
  try {
    const response = await fetch(`/?${query}`, { headers: { Accept: 'text/html' }, signal: finding.signal });
    if (!response.ok) throw new Error(response.statusText);
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    values().replaceWith(next.getElementById(field.id).closest('fieldset').querySelector('.values'));
    announce(t('%s shown', values().querySelectorAll('input').length));
  } catch (error) {
    if (error.name !== 'AbortError') values().textContent = t('The catalogue did not respond. Try again in a moment.');
  }
}

document.addEventListener('input', (event) => {
  if (!event.target.matches('[data-find]')) return;
  clearTimeout(wait);
  wait = setTimeout(() => find(event.target), 200);
});

const maxFound = 1000; // most books that are ticked together
const ticks = (which = '') => [...document.querySelectorAll(`.tick${which}`)];
const titleOf = (tick) => tick.closest('.row').querySelector('h2').textContent;
let elsewhere = []; // ticked books of other pages of the list, with id and name
const chosenBooks = () => [...ticks(':checked').map((tick) => ({ id: tick.value, name: titleOf(tick) })), ...elsewhere];
const idsOf = (books) => books.map(({ id }) => id);
document.addEventListener('shown', () => { elsewhere = []; });

// offerAgain announces why the catalogue was not read, and offers to try again.
export function offerAgain(error, act) {
  announce(error instanceof GraphQLError ? error.message : t('The catalogue did not respond.'), true, { label: t('Try again'), act, bad: true });
}

// showTicked shows the number of ticked books and the actions for them. If the whole page is ticked, it offers the whole
// list.
function showTicked() {
  const bar = document.querySelector('.ticked');
  const chosen = idsOf(chosenBooks());
  const total = Number(bar.dataset.total);
  const isPage = !ticks(':not(:checked)').length;
  const all = bar.querySelector('[data-all]');
  bar.hidden = !chosen.length;
  bar.querySelector('strong').textContent = isPage && chosen.length < total ? n('%[2]s of %[1]s books ticked', total, chosen.length) : n('%s books ticked', chosen.length);
  all.hidden = chosen.length === total || isPage && total > maxFound;
  all.textContent = isPage ? t('Tick all %s', total) : total > ticks().length ? t('Tick this page') : t('Tick all');
  bar.querySelector('.limit').hidden = !all.hidden || chosen.length === total;
  for (const link of bar.querySelectorAll('[data-format]')) link.href = `/api/books?ids=${chosen}&format=${link.dataset.format}`;
  for (const link of bar.querySelectorAll('[data-address]')) link.href = `${link.dataset.address}?ids=${chosen}`;
}

// tickFound ticks all books of the list, also on other pages.
async function tickFound(bar) {
  let books;
  try {
    ({ books } = await request('query Found($filter: BookFilter, $search: String) { books(first: 1000, filter: $filter, search: $search) { nodes { id name } } }', JSON.parse(bar.dataset.found)));
  } catch (error) {
    return offerAgain(error, () => tickFound(bar));
  }
  if (!bar.isConnected) return; // the user has left the list
  const here = ticks().map(({ value }) => value);
  elsewhere = books.nodes.filter(({ id }) => !here.includes(id));
  showTicked();
}

const loadActions = () => import('./bulk.js');

// bulk calls an action of bulk.js with the ticked books.
async function bulk(action) {
  let actions;
  try {
    actions = await loadActions();
  } catch {
    return announce(t('A part of this page did not load. Try again.'), true, { bad: true });
  }
  actions[action](chosenBooks());
}

document.addEventListener('change', (event) => {
  if (!event.target.matches('.tick')) return;
  showTicked();
  loadActions().catch(() => {}); // a button tries again
});
document.addEventListener('click', (event) => {
  const button = event.target.closest('.ticked button');
  if (!button) return;
  if ('delete' in button.dataset) return bulk('deleteBooks');
  if ('change' in button.dataset) return bulk('changeBooks');
  const isAll = 'all' in button.dataset;
  if (isAll && !ticks(':not(:checked)').length) return tickFound(button.closest('.ticked'));
  elsewhere = [];
  for (const tick of ticks()) tick.checked = isAll;
  showTicked();
  if (!isAll) document.querySelector('.row h2 a').focus();
});
if (ticks(':checked').length) showTicked(); // ticked before this script ran
