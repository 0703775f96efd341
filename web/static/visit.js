// Navigation fetches the next page and replaces the current one in place. Back and Forward fetch too, because the earlier
// page may be out of date.

import { t } from './language.js';

// parameters has a list's parameters in the order of its canonical URL.
const parameters = ['q', 'category', 'genre', 'author', 'publisher', 'language', 'from', 'to', 'price_min', 'price_max', 'sort', 'dir', 'more'];

// listAddress returns the URL of the list for the fields of a form.
export function listAddress(fields) {
  const query = new URLSearchParams();
  for (const name of parameters) {
    for (const value of fields.getAll(name)) if (value.trim()) query.append(name, value.trim());
  }
  const text = query.toString();
  return text ? `/?${text}` : '/';
}

const maxScrolls = 50;
const scrolls = new Map(JSON.parse(sessionStorage.getItem('scrolls') ?? '[]')); // scroll positions by key
const entryKey = () => String(performance.timeOrigin + performance.now());
let key = history.state?.key ?? entryKey(); // key of the current history entry; a page's fragments share it
let fetching = new AbortController();
let leave = () => true; // returns whether the user may leave the page

history.scrollRestoration = 'manual';
if (history.state?.key) scrollTo(0, scrolls.get(key) ?? 0); // a reload, or Back from a page that visit does not show
else history.replaceState({ key }, '');
addEventListener('pagehide', () => {
  scrolls.set(key, scrollY);
  sessionStorage.setItem('scrolls', JSON.stringify([...scrolls].slice(-maxScrolls)));
});

// isPage reports whether visit can show an address of this site. The browser follows other links.
export const isPage = (address) => /^\/($|genres$|import$|developers$|books\/(new|\d+(\/(edit|history))?)$)/.test(new URL(address, location).pathname);

// onLeave sets a function that asks the user before the page is left. The next page resets it.
export function onLeave(question) { leave = question; }

// visit shows the page at an address. It resolves to whether the page is shown.
export async function visit(address, { replace = false } = {}) {
  if (!leave()) return false;
  const next = await load(address, () => visit(address, { replace }));
  if (!next) return false;
  scrolls.set(key, scrollY);
  const again = replace || next.address === location.pathname + location.search;
  key = entryKey();
  history[again ? 'replaceState' : 'pushState']({ key }, '', next.address);
  show(next.page);
  return true;
}

// load fetches a page and its module. The next load aborts it. After a failure it says why and offers retry.
async function load(address, retry) {
  fetching.abort();
  const { signal } = fetching = new AbortController();
  const line = setTimeout(() => document.body.classList.add('loading'), 150);
  const fail = (reason) => announce(reason, true, { label: t('Try again'), act: retry, bad: true });
  try {
    const response = await fetch(address, { headers: { Accept: 'text/html' }, signal });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const main = page.getElementById('main');
    if (response.status >= 500 || response.status === 429 || !response.ok && !main) {
      return fail(main?.querySelector('.lead')?.textContent ?? t('The catalogue did not respond (status %s).', response.status));
    }
    if (!main || scriptOf(page) !== scriptOf(document) || page.documentElement.lang !== document.documentElement.lang || page.body.dataset.policy !== document.body.dataset.policy) { // not a page, the service was updated, another language or Content-Security-Policy
      sessionStorage.setItem('focus', document.activeElement.id); // of the search, while the user types
      return location.assign(address);
    }
    if (main.dataset.script) await import(main.dataset.script);
    const { pathname, search } = new URL(response.url);
    return signal.aborted ? null : { address: pathname + search, page };
  } catch {
    if (!signal.aborted) fail(t('The catalogue did not respond.'));
  } finally {
    clearTimeout(line);
    if (signal === fetching.signal) document.body.classList.remove('loading');
  }
}

const scriptOf = (page) => page.querySelector('script[src]').getAttribute('src');

// refresh loads the current page again, keeps the user's place and marks the books that differ. If keepsRows is set, other
// books do not replace those of a list before the user agrees. If the server fails, it throws the seconds of Retry-After or
// 0. If the service was updated, it offers to reload and throws Infinity.
export async function refresh(keepsRows = false) {
  const before = fetching;
  const address = location.pathname + location.search;
  const newest = new URL(location);
  for (const { name, value } of document.querySelectorAll('[data-find]')) if (value.trim()) newest.searchParams.set(name, value);
  const response = await fetch(newest, { headers: { Accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const main = page.getElementById('main');
  if (response.redirected && new URL(response.url).pathname === '/login') return location.assign(response.url); // the session has ended
  if (!main || response.status >= 500 || response.status === 429) throw Number(response.headers.get('Retry-After')) || 0;
  if (scriptOf(page) !== scriptOf(document)) {
    announce(t('The catalogue was updated.'), true, { label: t('Reload'), act: () => location.reload() });
    throw Infinity;
  }
  if (main.dataset.script) await import(main.dataset.script);
  if (fetching !== before || address !== location.pathname + location.search) return; // the user has left the page
  const versions = new Map([...document.querySelectorAll('main [data-version][data-book]')].map(({ dataset }) => [dataset.book, dataset.version]));
  const keeps = keepsRows && booksOf(document) && booksOf(page) && booksOf(page) !== booksOf(document);
  if (keeps) for (const part of ['.rows', '.shelf', '.pager']) page.querySelector(part)?.replaceWith(...[...document.querySelectorAll(part)].map((old) => old.cloneNode(true)));
  const top = () => document.querySelector('.rows')?.getBoundingClientRect().top;
  const place = top();
  show(page, { scroll: scrollY, quiet: true });
  if (keeps) {
    announce(t('The list has changed.'), true, { label: t('Show the new list'), act: refresh });
    return scrollBy(0, top() - place); // the message moves what is below it
  }
  let news = 0;
  for (const part of document.querySelectorAll('main [data-version][data-book]')) {
    if (versions.get(part.dataset.book) === part.dataset.version) continue;
    part.classList.add('fresh');
    news += 1;
  }
  if (news && !document.querySelector('#live.shown')) announce(t('The page was updated.'));
}

// booksOf returns the ids of the books of a list.
const booksOf = (page) => [...page.querySelectorAll('.row')].map(({ dataset }) => dataset.book).join();

// adopt shows in the head who has signed in, as the next page has it.
export function adopt(next) {
  const own = document.querySelector('.own');
  const nextOwn = next.querySelector('.own');
  if (!own || !nextOwn) return;
  const { account } = next.body.dataset;
  if (document.body.dataset.account === account) {
    const link = own.querySelector('[data-sign-in]');
    if (link) link.href = nextOwn.querySelector('a').href;
    return;
  }
  document.body.dataset.account = account;
  document.documentElement.classList.toggle('guarded', next.documentElement.classList.contains('guarded'));
  own.replaceWith(nextOwn);
  document.dispatchEvent(new Event('account'));
}

// show replaces the current page. The focus moves to the element with the same id; a quiet update also finds the same link.
// back has the scroll position for Back and for an update.
function show(next, back) {
  const active = document.activeElement;
  const inside = Boolean(active?.closest('main'));
  const id = inside ? active.id : '';
  const href = inside && back?.quiet && active.getAttribute('href');
  const sameSection = document.getElementById('main').dataset.page === next.getElementById('main').dataset.page;
  const open = document.querySelector('.fold')?.open;
  leave = () => true;
  if (!back?.quiet) document.getElementById('menu').hidePopover?.();
  document.title = next.title;
  const data = 'head > :is([rel=canonical], [rel=alternate], [property], [name^=citation_], [type="application/ld+json"])';
  document.querySelectorAll(data).forEach((old) => old.remove());
  document.head.append(...next.querySelectorAll(data));
  const links = document.querySelectorAll('.menu > a');
  next.querySelectorAll('.menu > a').forEach((link, i) => links[i].ariaCurrent = link.ariaCurrent);
  adopt(next);
  for (const part of ['main', '.languages', '.foot nav']) document.querySelector(part).replaceWith(next.querySelector(part));
  const main = document.getElementById('main');
  foldFilter(open && sameSection);
  const search = document.getElementById('q');
  if (active !== search || back) search.value = next.getElementById('q').value;
  const heir = id ? document.getElementById(id) : href && main.querySelector(`[href="${CSS.escape(href)}"]`);
  const first = !back && main.querySelector('[autofocus]');
  if (heir || first) (heir || first).focus({ preventScroll: true });
  else if (active !== search && (inside || !back?.quiet)) main.focus({ preventScroll: true });
  if (back) scrollTo(0, back.scroll);
  else if (!heir && active !== search) scrollTo(0, 0);
  if (!back?.quiet) announce(main.querySelector('h1')?.textContent ?? '');
  document.dispatchEvent(new Event('shown'));
}

// foldFilter folds the filter of a narrow list, unless it was open.
function foldFilter(open) {
  const fold = document.querySelector('.fold');
  if (fold && matchMedia('(max-width: 1023px)').matches) fold.open = Boolean(open);
}
foldFilter(false);

// announce reads text to screen readers. With news it also shows the text under the header, with a button if label is given.
// A button with seconds disappears after that time, and no page's title replaces it before.
export function announce(text, news = false, { label, act, bad = false, seconds } = {}) {
  const live = document.getElementById('live');
  if (!news && live.querySelector('[data-undo]')) return;
  live.replaceChildren(text);
  live.classList.toggle('shown', news);
  live.classList.toggle('bad', bad);
  if (!label) return;
  const button = document.createElement('button');
  button.className = 'text-button';
  button.textContent = label;
  button.onclick = () => { live.replaceChildren(); live.classList.remove('shown'); act(); };
  live.append(' ', button);
  if (!seconds) return;
  button.dataset.undo = '';
  const end = () => { if (button.matches(':hover, :focus')) setTimeout(end, 1000); else button.remove(); };
  setTimeout(end, seconds * 1000);
}

// toMessage moves the focus to the button of the announced message, or to the message.
export function toMessage() {
  const live = document.getElementById('live');
  (live.querySelector('button') ?? live).focus();
}

addEventListener('popstate', ({ state }) => {
  if (!state) return history.replaceState({ key }, ''); // a new fragment of the page
  if (state.key === key) return fetching.abort(); // another fragment, or the next page is not shown yet
  scrolls.set(key, scrollY);
  rebuild();
});

// rebuild shows the page of the current history entry.
async function rebuild() {
  const entry = history.state;
  const next = await load(location.pathname + location.search, rebuild);
  if (!next) return;
  ({ key } = entry);
  show(next.page, { scroll: scrolls.get(key) ?? 0 });
}
