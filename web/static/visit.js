// Navigation: the next page is fetched and replaces the current one in place.

// parameters are the parameters of a list, in the order of its canonical URL.
const parameters = ['q', 'category', 'genre', 'author', 'from', 'to', 'price_min', 'price_max', 'sort', 'dir'];

// listAddress returns the URL of the list for the fields of a form.
export function listAddress(fields) {
  const query = new URLSearchParams();
  for (const name of parameters) {
    for (const value of fields.getAll(name)) if (value.trim()) query.append(name, value.trim());
  }
  const text = query.toString();
  return text ? `/?${text}` : '/';
}

const pages = new Map(); // visited pages by the key of their history entry
let key = String(performance.now());
let fetching = new AbortController();
let leave = () => true; // returns whether the user may leave the page

history.scrollRestoration = 'manual';
history.replaceState({ key }, '');

// onLeave sets a function that asks the user before the page is left. The next page resets it.
export function onLeave(question) { leave = question; }

// visit shows the page at an address. It resolves when the page is shown or has failed.
export async function visit(address, { replace = false } = {}) {
  if (!leave()) return;
  const page = await load(address);
  if (!page) return;
  remember();
  if (!replace) key = String(performance.now());
  history[replace ? 'replaceState' : 'pushState']({ key }, '', page.address);
  show(page.html, false);
}

// load fetches a page. The next load aborts it. A failure is shown above the current page.
async function load(address) {
  fetching.abort();
  const mine = fetching = new AbortController();
  const line = setTimeout(() => document.body.classList.add('loading'), 150);
  try {
    const response = await fetch(address, { headers: { Accept: 'text/html' }, signal: mine.signal });
    const html = await response.text();
    const { pathname, search } = new URL(response.url);
    return { address: pathname + search, html };
  } catch (error) {
    if (error.name !== 'AbortError') fail(address);
    return null;
  } finally {
    clearTimeout(line);
    if (mine === fetching) document.body.classList.remove('loading');
  }
}

function fail(address) {
  const main = document.getElementById('main');
  main.querySelector('[data-failed]')?.remove();
  const note = document.createElement('p');
  note.className = 'note bad';
  note.dataset.failed = '';
  note.setAttribute('role', 'alert');
  note.append('The catalogue did not respond. This page may be out of date. ');
  const again = document.createElement('button');
  again.className = 'text-button';
  again.textContent = 'Try again';
  again.addEventListener('click', () => visit(address));
  note.append(again);
  main.prepend(note);
}

function remember() {
  pages.set(key, { html: document.documentElement.outerHTML, scroll: scrollY });
  if (pages.size > 30) pages.delete(pages.keys().next().value);
}

// show replaces the current page. It keeps the focus if the new page has an element with the same id.
function show(html, scroll) {
  const next = new DOMParser().parseFromString(html, 'text/html');
  const active = document.activeElement;
  const id = active?.closest('main') ? active.id : '';
  const sameSection = document.getElementById('main').dataset.page === next.getElementById('main').dataset.page;
  const open = document.querySelector('.fold')?.open;
  leave = () => true;
  document.getElementById('menu').hidePopover?.();
  document.title = next.title;
  const data = 'head > :is([rel=canonical], [rel=alternate], [property], [name^=citation_], [type="application/ld+json"])';
  document.querySelectorAll(data).forEach((old) => old.remove());
  document.head.append(...next.querySelectorAll(data));
  for (const part of ['#main', '.menu', '.foot nav']) {
    const from = next.querySelector(part);
    const to = document.querySelector(part);
    if (part === '.menu') {
      from.querySelectorAll('a').forEach((link, i) => {
        const shown = to.querySelectorAll('a')[i];
        link.hasAttribute('aria-current') ? shown.setAttribute('aria-current', 'page') : shown.removeAttribute('aria-current');
      });
    } else {
      to.replaceChildren(...from.childNodes);
      if (part === '#main') to.dataset.page = from.dataset.page;
    }
  }
  const fold = document.querySelector('.fold');
  if (fold && matchMedia('(max-width: 1023px)').matches) fold.open = Boolean(open && sameSection);
  const search = document.getElementById('q');
  if (document.activeElement !== search) search.value = next.getElementById('q').value;
  const heir = id && document.getElementById(id);
  if (heir) heir.focus({ preventScroll: true });
  else if (active !== search) document.getElementById('main').focus({ preventScroll: true });
  if (scroll !== false) scrollTo(0, scroll);
  else if (!heir && active !== search) scrollTo(0, 0);
  announce(document.querySelector('h1')?.textContent ?? '');
}

// announce tells text to screen readers. With news set, it also shows the text.
export function announce(text, news = false) {
  const live = document.getElementById('live');
  live.textContent = text;
  live.classList.toggle('shown', news);
}

addEventListener('popstate', async (event) => {
  if (!event.state) return; // a fragment of the page
  remember();
  key = event.state.key;
  const shown = pages.get(key);
  if (shown) return show(shown.html, shown.scroll);
  const page = await load(location.pathname + location.search);
  if (page) show(page.html, 0);
});

const fold = document.querySelector('.fold');
if (fold && matchMedia('(max-width: 1023px)').matches) fold.open = false;
