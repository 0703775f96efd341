// The token is asked for when something is to be stored. It stays in this tab.
import { canLogIn, logIn } from './login.js';

const place = 'token';

export const token = () => sessionStorage.getItem(place) ?? '';

// claims returns what a token says of itself; whether it is true the server knows.
export function claims(text) {
  try {
    const part = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (c) => c.charCodeAt(0))));
  } catch {
    return {};
  }
}

const ended = (text) => claims(text).exp * 1000 < Date.now();

// holder returns whether somebody may write here, as far as the token says.
export function holder() {
  const text = token();
  const { exp, name, preferred_username, email, sub } = claims(text);
  return { known: Boolean(text) && !ended(text), ended: Boolean(text) && ended(text), ends: exp * 1000, name: name || preferred_username || email || sub || 'Writing' };
}

let ending = 0;

// showHolder says in the header who writes here, and tells forms.
export function showHolder() {
  const button = document.querySelector('[data-token]');
  const { known, ended, ends, name } = holder();
  clearTimeout(ending);
  if (known) ending = setTimeout(showHolder, Math.min(ends - Date.now() + 1000, 2 ** 31 - 1));
  button.hidden = false;
  button.classList.toggle('known', known);
  button.querySelector('[data-who]').textContent = known ? name : ended ? 'Token has ended' : 'Read only';
  button.onclick = () => ask();
  document.dispatchEvent(new Event('token'));
}

// isRefused asks the catalogue whether it refuses the token. Of no answer nothing follows.
export async function isRefused() {
  try {
    const response = await fetch('/graphql', {
      method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token()}` }, body: '{"query":"{ viewer { expiresAt } }"}',
    });
    return (await response.json()).errors?.[0].extensions.code === 'UNAUTHENTICATED';
  } catch {
    return false;
  }
}

// ask shows the dialog for a token. It resolves to the token, or to '' where none
// was given.
export function ask(message = '') {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'token-title');
  dialog.innerHTML = `<form method="dialog"><h2 id="token-title">${canLogIn() ? 'Log in' : 'A token'}</h2>
    <p class="note warn" hidden></p>
    ${canLogIn() ? '<p>Saving needs to know who you are. You come back here, and what a page has of yours is kept.</p><p><button type="button" class="button main" data-log-in>Log in</button></p><p>Or give a token that you have. It stays in this tab and goes with it.</p>'
    : '<p>Saving needs a token. Whoever runs the service makes one in a terminal, in the folder where it was started: <code>bin/catalogue token</code>, or <code>go run ./cmd/catalogue token</code>. It stays in this tab and goes with it.</p>'}
    <div class="field"><label for="token">Token</label><textarea id="token" rows="4" spellcheck="false" autocomplete="off"></textarea></div>
    <p class="buttons"><button class="button${canLogIn() ? '' : ' main'}" value="use">Use this token</button><button class="button" value="forget" hidden>${canLogIn() ? 'Log out' : 'Read only'}</button><button class="button" value="">Cancel</button></p></form>`;
  const field = dialog.querySelector('textarea');
  const note = dialog.querySelector('.note');
  if (message) { note.textContent = message; note.hidden = false; }
  dialog.querySelector('[value=forget]').hidden = !token();
  document.body.append(dialog);
  dialog.showModal();
  const login = dialog.querySelector('[data-log-in]');
  if (login) login.onclick = logIn;
  (login ?? field).focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const text = field.value.trim().replace(/^Bearer\s+/i, '');
      if (dialog.returnValue === 'use' && text) sessionStorage.setItem(place, text);
      if (dialog.returnValue === 'forget') sessionStorage.removeItem(place);
      const given = dialog.returnValue === 'use' ? text : '';
      dialog.remove();
      showHolder();
      resolve(given);
    });
  });
}

// GraphQLError is the first error of an answer.
export class GraphQLError extends Error {
  constructor({ message, extensions = {} }) {
    super(message);
    this.code = extensions.code;
    this.fields = extensions.fields ?? [];
  }
}

// request sends a GraphQL request. One that needs a token asks for it, as often as
// people give another; null is the answer where they do not.
export async function request(query, variables, { write = false, key } = {}) {
  let text = token();
  if (write && (!text || ended(text))) {
    text = await ask(text ? 'Your token has ended. What you wrote is still here.' : '');
    if (!text) return null;
  }
  for (;;) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
    if (write) headers.Authorization = `Bearer ${text}`;
    if (key) headers['Idempotency-Key'] = key;
    const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const answer = await response.json();
    const error = answer.errors?.[0];
    if (!error) return answer.data;
    if (!write || !['UNAUTHENTICATED', 'FORBIDDEN'].includes(error.extensions?.code)) throw new GraphQLError(error);
    text = await ask(`${error.message} What you wrote is still here.`);
    if (!text) return null;
  }
}
