// Keys: single keys, which users can turn off, and the list of keys.
import { t } from './language.js';

const keys = { '/': t('Search'), j: t('Next book'), k: t('Previous book'), x: t('Tick the book'), e: t('Edit the book'), '?': t('List the keys'), 'Ctrl+S': t('Save the form') };
const place = 'single-keys';
const press = (control) => { if (control?.checkVisibility()) control.click(); };
const areOff = () => localStorage.getItem(place) === 'off';

// list shows the keys and the switch for single keys.
function list() {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'keys-title');
  dialog.innerHTML = `<form method="dialog"><h2 id="keys-title">${t('Keys')}</h2><dl class="keys"></dl>
    <label class="choice"><input type="checkbox" id="single-keys"> ${t('Use single keys')}</label><p class="buttons"><button class="button">${t('Close')}</button></p></form>`;
  for (const [key, words] of Object.entries(keys)) {
    const row = document.createElement('div');
    row.innerHTML = '<dt><kbd></kbd></dt><dd></dd>';
    row.querySelector('kbd').textContent = key;
    row.querySelector('dd').textContent = words;
    dialog.querySelector('dl').append(row);
  }
  const single = dialog.querySelector('input');
  single.checked = !areOff();
  single.onchange = () => localStorage.setItem(place, single.checked ? 'on' : 'off');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener('click', (event) => { if (event.target.closest('[data-keys]')) list(); });

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 's') {
    const form = document.querySelector('book-form form');
    if (form) { event.preventDefault(); form.requestSubmit(); }
    return;
  }
  if (areOff() || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input:not([type=checkbox]), textarea, select, dialog, [contenteditable]')) return;
  const search = document.getElementById('q');
  const rows = [...document.querySelectorAll('.row')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const focus = (row) => row?.querySelector('h2 a').focus();
  switch (event.key) {
    case '/': event.preventDefault(); search.focus(); search.select(); break;
    case 'j': focus(rows[Math.min(at + 1, rows.length - 1)]); break;
    case 'k': focus(rows[Math.max(at - 1, 0)]); break;
    case 'x': press(rows[at]?.querySelector('.tick')); break;
    case 'e': press(document.querySelector('[data-edit]')); break;
    case '?': event.preventDefault(); list(); break;
  }
});
