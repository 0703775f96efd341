// Entry point of the scripts. Reading works without them. Scripts replace the page in place and save forms.
import { visit, isPage, listAddress, announce } from './visit.js';
import { date, t } from './language.js';
import './keys.js';
import './account.js';
import { showHolder } from './request.js';

document.documentElement.classList.add('scripted');
showHolder();
const { script } = document.getElementById('main').dataset; // the module of the page
if (script) import(script).catch(() => announce(t('A part of this page did not load.'), true, { label: t('Try again'), act: () => location.reload(), bad: true }));
addEventListener('load', () => import('./live.js').catch(() => {})); // after the first view; without it the page stays as it is

// Links to pages replace the page in place.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href]');
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const href = link.getAttribute('href');
  if (!href.startsWith('/') || link.target || !isPage(href)) return;
  event.preventDefault();
  if ('focusSearch' in link.dataset) return search.focus();
  visit(href).then(() => document.getElementById(new URL(href, location).hash.slice(1))?.scrollIntoView());
});

// Dates are written out.
const writeDates = () => { for (const time of document.querySelectorAll('time[datetime]')) time.textContent = date(time.dateTime); };
writeDates();
document.addEventListener('shown', writeDates);

const search = document.getElementById('q');
if (sessionStorage.getItem('focus') === 'q') { // typed before the browser left a page
  search.focus();
  search.setSelectionRange(search.value.length, search.value.length);
}
sessionStorage.removeItem('focus');
let wait = 0;
let first = true; // the first change after focus makes a history entry

const look = (at) => {
  clearTimeout(wait);
  wait = setTimeout(async () => {
    const filter = document.querySelector('[data-filter]');
    const fields = filter ? new FormData(filter) : new FormData();
    fields.delete('sort');
    fields.delete('dir');
    fields.set('q', search.value.trim().replace(/\s+/g, ' '));
    if (await visit(listAddress(fields), { replace: !first })) first = false;
  }, at);
};
search.addEventListener('focus', () => { first = true; });
search.addEventListener('input', (event) => { if (!event.isComposing) look(200); });
search.addEventListener('compositionend', () => look(200));
search.form.addEventListener('submit', (event) => { event.preventDefault(); look(0); });
addEventListener('popstate', () => clearTimeout(wait));
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  if (search.value) { search.value = ''; look(0); } else search.blur();
});

// A cover shows when it has loaded. Without it, or with the one pixel that some hosts send instead, the drawn one stays.
const settle = (picture) => { if (picture.naturalWidth > 1) picture.classList.add('loaded'); else picture.remove(); };
for (const type of ['load', 'error']) document.addEventListener(type, ({ target }) => { if (target.matches?.('.picture')) settle(target); }, true);
for (const picture of document.querySelectorAll('.picture')) if (picture.complete) settle(picture); // before this script ran

// Phones read barcodes, and other devices whose browser can.
if (matchMedia('(pointer: coarse)').matches || 'BarcodeDetector' in globalThis) {
  const button = document.createElement('button');
  const toBook = (isbn) => location.assign(`/isbn/${isbn}`);
  Object.assign(button, { type: 'button', className: 'text-button scan', textContent: t('Scan'), onclick: async () => (await import('./scan.js')).scan(toBook) });
  search.form.append(button);
}

// A menu closes at a press elsewhere and at Escape.
document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll('.view[open]')) if (!menu.querySelector('summary').contains(event.target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && document.querySelector('.view[open]');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});

// A filter applies on change.
document.addEventListener('change', (event) => {
  const form = event.target.closest('[data-filter]');
  if (form && !('find' in event.target.dataset)) visit(listAddress(new FormData(form)));
});
document.addEventListener('submit', (event) => {
  if (!event.target.matches('[data-filter]')) return;
  event.preventDefault();
  if (!('find' in document.activeElement.dataset)) visit(listAddress(new FormData(event.target)));
});

// Hovering a row also marks its spine, and vice versa.
for (const [type, on] of [['mouseover', true], ['mouseout', false], ['focusin', true], ['focusout', false]]) {
  document.addEventListener(type, (event) => {
    const id = event.target.closest?.('[data-book]')?.dataset.book;
    if (!id) return;
    for (const other of document.querySelectorAll(`[data-book="${id}"]`)) other.classList.toggle('marked', on);
  });
}
