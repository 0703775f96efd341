// The token is asked for when something is to be stored. It stays in this tab.

const place = 'token';

export const token = () => sessionStorage.getItem(place) ?? '';

// claims returns what a token says of itself; whether it is true the server knows.
function claims(text) {
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
  return { known: Boolean(text) && !ended(text), ended: Boolean(text) && ended(text), name: claims(text).sub || 'Writing' };
}

// showHolder says in the header who writes here.
export function showHolder() {
  const button = document.querySelector('[data-token]');
  const { known, ended, name } = holder();
  button.hidden = false;
  button.classList.toggle('known', known);
  button.querySelector('[data-who]').textContent = known ? name : ended ? 'Token has ended' : 'Read only';
  button.onclick = () => ask();
}

// ask shows the dialog for a token. It resolves to the token, or to '' where none
// was given.
export function ask(message = '') {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'token-title');
  dialog.innerHTML = `<form method="dialog"><h2 id="token-title">A token</h2>
    <p class="note warn" hidden></p>
    <p>Storing needs a token. Whoever runs the service makes one in a terminal: <code>catalogue token</code>. It stays in this tab and goes with it.</p>
    <div class="field"><label for="token">Token</label><textarea id="token" rows="4" spellcheck="false" autocomplete="off"></textarea></div>
    <p class="buttons"><button class="button main" value="use">Use this token</button><button class="button" value="forget" hidden>Read only</button><button class="button" value="">Cancel</button></p></form>`;
  const field = dialog.querySelector('textarea');
  const note = dialog.querySelector('.note');
  if (message) { note.textContent = message; note.hidden = false; }
  dialog.querySelector('[value=forget]').hidden = !token();
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
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
