// Entry point of the scripts. Reading works without them. Scripts replace the page in place and save forms.
import { visit, isPage, listAddress, announce } from './visit.js';
import './keys.js';
import './feed.js';
import './account.js';
import { showHolder } from './request.js';

document.documentElement.classList.add('scripted');
showHolder();
const { script } = document.getElementById('main').dataset; // the module of the page
if (script) import(script).catch(() => announce('A part of this page did not load.', true, { label: 'Try again', act: () => location.reload(), bad: true }));

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

const search = document.getElementById('q');
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

// Browsers of phones read barcodes.
if ('BarcodeDetector' in globalThis && navigator.mediaDevices) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'text-button scan', textContent: 'Scan', onclick: async () => (await import('./scan.js')).scan() });
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
