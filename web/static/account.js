// The session of a person who signs in, and the access token of this tab. All tabs show the same session.
import { byKey, n, said, t } from './language.js';
import { adopt, refresh, announce } from './visit.js';

// hasAccounts reports whether people can sign in.
export const hasAccounts = () => 'account' in document.body.dataset;

// account returns the state of the session that the page shows, or ''.
export const account = () => document.body.dataset.account ?? '';

export const canWrite = () => Boolean(account()) && !document.documentElement.classList.contains('guarded');

export const origin = 'login-from'; // key in sessionStorage: the page to return to after the login

// canLogIn reports whether users log in instead of entering a token.
export const canLogIn = () => 'login' in document.querySelector('[data-token]').dataset;

// leaving is true while the browser goes to the login. Forms then do not ask, because they keep the input.
export let leaving = false;

// logIn goes to the login, which returns to this page.
export function logIn() {
  leaving = true;
  sessionStorage.setItem(origin, location.pathname + location.search);
  location.assign('/login?with=provider');
}

const tokenKey = 'token'; // in sessionStorage

// token returns the access token of this tab, or ''.
export const token = () => sessionStorage.getItem(tokenKey) ?? '';

// keepToken replaces the access token of this tab, or removes it for ''.
export function keepToken(text) {
  if (text) sessionStorage.setItem(tokenKey, text);
  else sessionStorage.removeItem(tokenKey);
}

// claims returns the unverified claims of a token. One that a person made has none; the catalogue knows when it expires.
export function claims(text) {
  if (text.startsWith('cat_')) return { exp: Infinity };
  try {
    const part = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

// isToken reports whether a text is a token that a person made, or a JWT with an expiry, which the catalogue demands.
export const isToken = (text) => claims(text).exp > 0;

const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('account') : null;

// hasInput reports whether the page may have input of the user, which a new page would lose.
const hasInput = () => document.querySelector('book-form, book-import, dialog[open]');

// isChanged reports whether a field has another value than the page gave it.
const isChanged = (field) => field.options
  ? field.selectedIndex !== Math.max([...field.options].findIndex((option) => option.defaultSelected), 0)
  : field.value !== field.defaultValue || field.checked !== field.defaultChecked;

// isBusy reports whether a form is being sent, has input, or a dialog is open.
const isBusy = () => Boolean(document.querySelector('main form[inert], dialog[open]')) || [...document.querySelectorAll('main :is(input, select)')].some(isChanged);

// sync shows the state that the server knows.
export async function sync() {
  const before = account();
  try {
    const isForm = Boolean(document.querySelector('main [method=post]'));
    if (isForm && !isBusy()) {
      return location.reload();
    } else if (isForm || hasInput()) {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
      adopt(new DOMParser().parseFromString(await response.text(), 'text/html'));
    } else {
      await refresh();
    }
  } catch {
    return; // the next focus asks again
  }
  if (account() === before) return;
  channel?.postMessage(account());
  const live = document.getElementById('live');
  if (account() && live.textContent === signedOut()) announce('');
  if (hasInput() && !account()) announce(signedOut(), true);
}

const signedOut = () => t('You are signed out. What you typed is still here.');

// check asks for the state, which may have changed elsewhere.
async function check() {
  if (!hasAccounts() || document.hidden) return;
  try {
    const response = await fetch('/graphql', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"{ viewer { subject scopes } }"}' });
    const { data } = await response.json();
    if (data && (data.viewer ? [data.viewer.subject, ...data.viewer.scopes].join(' ') : '') !== account()) await sync();
  } catch {
    // the next focus asks again
  }
}

// send sends the fields of a form of an account. It returns the data, or throws an AccountError.
export async function send(address, fields) {
  const response = await fetch(address, { method: 'POST', headers: { Accept: 'application/json', ...byKey }, body: new URLSearchParams(fields) });
  const answer = await response.json();
  if (response.ok) return answer.data ?? {};
  throw new AccountError(response, answer);
}

// AccountError has a message for the user, and messages by field.
export class AccountError extends Error {
  constructor({ status, headers, url }, { text, texts = {} }) {
    const minutes = Math.ceil(Number(headers.get('Retry-After')) / 60);
    const isLogin = new URL(url).pathname === '/login';
    super(status === 401 ? isLogin ? t('The name or the password is not right. Try again, or ask an admin for a new link.') : t('You are signed out. Sign in again.')
      : status === 429 ? n('Too many tries. Try again in %s minutes.', minutes) : text ? said(text) : t('The catalogue refused this.'));
    this.status = status;
    this.fields = Object.fromEntries(Object.entries(texts).map(([name, problem]) => [name, said(problem)]));
  }
}

// signIn signs in, and forgets the token of this tab.
export async function signIn(fields) {
  await send('/login', fields);
  keepToken('');
  await sync();
}

if (hasAccounts()) {
  channel?.postMessage(account()); // this page may follow a login or a logout
  channel?.addEventListener('message', ({ data }) => { if (data !== account()) sync(); });
  addEventListener('focus', check);
  document.addEventListener('visibilitychange', check);
  addEventListener('pageshow', ({ persisted }) => { if (persisted) check(); });
}
