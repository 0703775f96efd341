// The list of books: the menu of the view, and fields that find values of a filter.
import './dialogs.js';
import { announce } from './visit.js';

// The menu closes at a press elsewhere and at Escape.
document.addEventListener('click', (event) => {
  const menu = document.querySelector('.view[open]');
  if (menu && !menu.querySelector('summary').contains(event.target)) menu.open = false;
});
document.addEventListener('keydown', (event) => {
  const menu = document.querySelector('.view[open]');
  if (event.key === 'Escape' && menu) {
    menu.open = false;
    menu.querySelector('summary').focus();
  }
});

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
    announce(`${values().querySelectorAll('input').length} shown`);
  } catch (error) {
    if (error.name !== 'AbortError') values().textContent = 'The catalogue did not respond. Try again in a moment.';
  }
}

document.addEventListener('input', (event) => {
  if (!event.target.matches('[data-find]')) return;
  clearTimeout(wait);
  wait = setTimeout(() => find(event.target), 200);
});
