// Requests with the token of this tab or the session, and the button in the header that shows which.
import { account, canLogIn, canWrite, claims, hasAccounts, isToken, token } from './account.js';
import { byKey, said, t } from './language.js';

// newKey returns a new Idempotency-Key. randomUUID is missing without TLS.
export const newKey = () => crypto.randomUUID?.() ?? String(Math.random());

// authorization returns the header with the token of this tab. Without a token the session counts.
export const authorization = () => token() ? { Authorization: `Bearer ${token()}` } : {};

const isExpired = (text) => !(claims(text).exp * 1000 >= Date.now());

// holder describes the token, unverified, or the session: whether it is known or expired, when it expires, and its
// user's name.
export function holder() {
  const text = token();
  if (!text && account()) return { known: true, expired: false, expires: Infinity };
  const { exp, name, preferred_username, email, sub } = claims(text);
  return { known: isToken(text) && !isExpired(text), expired: isToken(text) && isExpired(text), expires: exp * 1000, name: name || preferred_username || email || (canLogIn() && sub) || t('Can edit') };
}

let timer = 0;

// showHolder updates the user in the header and sends the event token to forms.
export function showHolder() {
  const button = document.querySelector('[data-token]');
  const { known, expired, expires, name } = holder();
  clearTimeout(timer);
  if (known) timer = setTimeout(showHolder, Math.min(expires - Date.now() + 1000, 2 ** 31 - 1));
  const own = document.querySelector('.own');
  if (own) own.hidden = Boolean(token());
  button.hidden = Boolean(own) && !token();
  button.classList.toggle('known', known);
  document.documentElement.classList.toggle('can-write', token() ? known : canWrite());
  button.querySelector('[data-who]').textContent = known ? name : expired ? t('Token has expired') : t('Read only');
  button.onclick = () => ask();
  document.dispatchEvent(new Event('token'));
}

document.addEventListener('account', showHolder);

// isRefused reports whether the catalogue refuses the token. It returns false if there is no response.
export async function isRefused() {
  try {
    const response = await fetch('/graphql', {
      method: 'POST', headers: { 'Content-Type': 'application/json', ...authorization() }, body: '{"query":"{ viewer { expiresAt } }"}',
    });
    const { data, errors } = await response.json();
    return errors?.[0].extensions.code === 'UNAUTHENTICATED' || data?.viewer === null;
  } catch {
    return false;
  }
}

// ask shows the dialog to sign in, or that for a token. It resolves to whether the user has done so.
export async function ask(message = '', byToken = !hasAccounts() || Boolean(token())) {
  const { askToken, askPassword } = await import('./signin.js'); // without it the write fails
  const given = await (byToken ? askToken(message) : askPassword(message));
  showHolder();
  return given;
}

// GraphQLError is the first error of a response.
export class GraphQLError extends Error {
  constructor({ message, path, extensions = {} }) {
    super(extensions.text ? said(extensions.text) : message);
    this.path = path; // of the field
    this.code = extensions.code;
    this.fields = extensions.fields ?? [];
  }
}

// refusal returns why a write was refused, for its user.
const refusal = ({ message, extensions }) => !account() || token() ? extensions.text ? said(extensions.text) : message
  : extensions?.code === 'FORBIDDEN' ? t('Your account can only read. Sign in with another one.') : t('You are signed out. Sign in again.');

// request sends a GraphQL request and returns its data. A write asks for a token or a login until the catalogue accepts it; it
// returns null if the user cancels. A read sends the token and never asks. Each attempt calls sending(true), and sending(false) if
// the catalogue refuses its token.
export async function request(query, variables, { write = false, read = false, key, sending } = {}) {
  if (write && !holder().known && !await ask(token() ? t('Your token has expired. Your changes are still here.') : '')) return null;
  for (;;) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', ...byKey };
    if (write || read) Object.assign(headers, authorization());
    if (key) headers['Idempotency-Key'] = key;
    sending?.(true);
    const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const answer = await response.json();
    const error = answer.errors?.[0];
    if (!error) return answer.data;
    if (!write || !['UNAUTHENTICATED', 'FORBIDDEN'].includes(error.extensions?.code)) throw new GraphQLError(error);
    sending?.(false);
    if (!await ask(`${refusal(error)} ${t('Your changes are still here.')}`)) return null;
  }
}
