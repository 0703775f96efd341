// The forms of accounts. They work without scripts too; scripts show errors at the fields, and secrets as links.
import { send, AccountError, keepToken, origin } from './account.js';
import { t } from './language.js';
import { ask } from './request.js';
import { announce, refresh } from './visit.js';

const link = 'link'; // key in sessionStorage: the secret of a link, until it is used
const minPassword = 10; // characters, as at the server

let common; // a promise of the common passwords, in lower case

// weakness returns what is wrong with a new password, or ''.
async function weakness(password, name) {
  const text = password.normalize('NFC');
  if ([...text].length < minPassword) return t('Choose a longer password: at least %s characters.', minPassword);
  const folded = text.toLowerCase();
  const seen = folded.normalize('NFKC').replace(/[\s\p{Default_Ignorable_Code_Point}]/gu, '');
  if (new Set(seen).size < 2) return t('Choose a password that is not one character again and again, or only spaces.');
  const own = name.trim().normalize('NFC').toLowerCase();
  if ([own, own.split('@')[0]].includes(folded)) return t('Choose a password that is not your name.');
  common ??= fetch(new URL('./passwords.txt', import.meta.url)).then((response) => response.text());
  const known = await common.catch(() => ''); // the catalogue looks too
  return known.split('\n').includes(folded) ? t('This is one of the most common passwords. Choose another one.') : '';
}

// refuse shows messages by field, and others above the form. button sent the form.
function refuse(form, message, fields, button) {
  for (const [name, messages] of Object.entries(fields)) {
    const input = form.elements[name];
    const place = (input?.length ? input[0] : input)?.closest?.('.field');
    if (!place) { message = [messages].flat()[0]; continue; }
    place.hidden = false;
    place.classList.add('wrong');
    const text = Object.assign(document.createElement('p'), { className: 'wrong-text', id: `${name}-wrong`, textContent: [messages].flat()[0] });
    place.append(text);
    const target = place.querySelector('input, select');
    target.setAttribute('aria-invalid', 'true');
    target.setAttribute('aria-describedby', [place.querySelector('.hint')?.id, text.id].join(' ').trim());
  }
  const wrong = form.querySelector('.wrong :is(input, select)');
  let box = form.querySelector('.problems');
  if (!box) form.append(box = Object.assign(document.createElement('p'), { className: 'problems note bad', role: 'alert' }));
  box.hidden = Boolean(wrong);
  box.textContent = message;
  (wrong ?? form.querySelector('input:not([type=hidden], .hidden)') ?? button)?.focus();
}

function clear(form) {
  const box = form.querySelector('.problems');
  if (box) box.hidden = true;
  for (const place of form.querySelectorAll('.wrong')) {
    place.classList.remove('wrong');
    place.querySelector('.wrong-text').remove();
    const input = place.querySelector('[aria-invalid]');
    input.removeAttribute('aria-invalid');
    input.setAttribute('aria-describedby', place.querySelector('.hint')?.id ?? '');
  }
}

// showSecret shows a link, a token or the secret of a webhook once.
function showSecret(kind, text) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'secret-title');
  dialog.innerHTML = `<form method="dialog"><h2 id="secret-title"></h2><p></p><div class="field"><label for="secret"></label><input id="secret" readonly></div>
    <p class="buttons"><button type="button" class="button main" data-copy>${t('Copy')}</button><button class="button">${t('Close')}</button><span role="status"></span></p></form>`;
  const [title, words, label] = {
    secret: [t('Give them this link'), t('It is good once, for 48 hours. It is not shown again.'), t('Link')],
    token: [t('Copy the token now'), t('It is not shown again.'), t('Token')],
    signing: [t('Copy the secret now'), t('The receiver checks with it that a change comes from this catalogue. It is not shown again.'), t('Secret')],
  }[kind];
  dialog.querySelector('h2').textContent = title;
  dialog.querySelector('p').textContent = words;
  dialog.querySelector('label').textContent = label;
  const field = dialog.querySelector('input');
  field.value = kind === 'secret' ? `${location.origin}/welcome#${text}` : text;
  dialog.querySelector('[data-copy]').onclick = async () => {
    field.select();
    const copied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
    dialog.querySelector('[role=status]').textContent = copied ? t('Copied.') : t('Press Ctrl+C to copy.');
  };
  dialog.addEventListener('close', () => location.reload());
  document.body.append(dialog);
  dialog.showModal();
  field.select();
}

// sendForm sends a form. It asks to sign in if the session has ended.
async function sendForm(form, fields) {
  for (;;) {
    try {
      return await send(form.getAttribute('action'), fields);
    } catch (error) {
      if (error.status !== 401 || ['/login', '/welcome'].includes(location.pathname)) throw error;
      if (!await ask(`${error.message} ${t('What you entered is still here.')}`, false)) throw error;
    }
  }
}

// showDone shows the page again after a form of it, with a message and the focus where it was.
async function showDone({ dataset: { sent, done } }, button) {
  try {
    await refresh();
  } catch {
    return location.assign(sent);
  }
  announce(done, true);
  (document.getElementById(button?.id) ?? document.getElementById('main')).focus({ preventScroll: true });
}

document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event;
  if (!form.matches('main [data-sent], main [data-secret]')) return;
  event.preventDefault();
  if (form.inert) return; // it is being sent
  clear(form);
  form.inert = true;
  const fresh = form.querySelector('[data-new]');
  const weak = fresh && await weakness(fresh.value, fresh.dataset.new || form.elements.name?.value || '');
  if (weak) {
    form.inert = false;
    return refuse(form, '', { password: [weak] }, submitter);
  }
  let failed = null;
  try {
    const fields = new FormData(form);
    const secret = form.closest('welcome-form')?.secret;
    if (secret) fields.set('secret', secret);
    const data = await sendForm(form, fields);
    if (secret) sessionStorage.removeItem(link);
    if (form.dataset.secret) return showSecret(form.dataset.secret, data[form.dataset.secret]);
    if (form.getAttribute('action') === '/login') keepToken('');
    if (form.dataset.done) return await showDone(form, submitter);
    location.assign(form.dataset.sent);
  } catch (error) {
    failed = error;
  } finally {
    form.inert = false;
  }
  if (failed) refuse(form, failed instanceof AccountError ? failed.message : t('The catalogue did not respond. Try again in a moment.'), failed.fields ?? {}, submitter);
});

// enterToken asks for a token on the page to sign in, and goes on to the page that needs it.
async function enterToken() {
  if (await ask('', true)) location.assign(document.querySelector('main [data-sent]').dataset.sent);
}

// checkAddress says before a password is typed that the browser would not keep the session. An empty login fails.
async function checkAddress(form) {
  const refused = await send('/login', {}).catch((error) => error);
  if (refused.status === 403 && !form.elements.password.value) refuse(form, refused.message, {});
}
const login = document.querySelector('main form[action="/login"]');
if (login && !isSecureContext) checkAddress(login);

document.addEventListener('click', ({ target }) => {
  if (target.closest('main [data-enter-token]')) enterToken();
  const provider = target.closest('[data-provider]');
  if (provider) sessionStorage.setItem(origin, provider.dataset.provider);
});

// WelcomeForm uses a link up, which is in the fragment of the address or kept from before a reload.
class WelcomeForm extends HTMLElement {
  connectedCallback() {
    this.form = this.innerHTML;
    this.open(location.hash.slice(1) || sessionStorage.getItem(link));
    addEventListener('hashchange', this.onhash = () => { // a link pasted into this tab
      const secret = location.hash.slice(1);
      if (!secret || document.getElementById(secret)) return;
      this.innerHTML = this.form;
      this.open(secret);
    });
  }

  disconnectedCallback() { removeEventListener('hashchange', this.onhash); }

  // open shows the form for a link. The check uses nothing up.
  async open(secret) {
    this.secret = secret;
    history.replaceState(history.state, '', location.pathname); // it does not stay in the history
    if (!secret) return this.end(t('This link is not whole. Open the whole link that you got.'));
    sessionStorage.setItem(link, secret);
    try {
      const { name } = await send('/welcome/check', { secret });
      if (this.secret === secret) this.ask(name);
    } catch (error) {
      if (this.secret !== secret) return; // another link was opened
      if (error.status === 409) sessionStorage.removeItem(link);
      this.end(error instanceof AccountError ? error.message : t('The catalogue did not respond. Reload the page in a moment.'));
    }
  }

  // ask asks for the password of an account, and for the name of the first.
  ask(name) {
    const [first, known] = ['first', 'known'].map((part) => this.querySelector(`[data-${part}]`));
    (name ? first : known).remove();
    if (name) {
      known.hidden = false;
      known.querySelector('strong').textContent = known.querySelector('input').value = name;
    } else {
      first.hidden = false;
      first.querySelector('input').required = true;
    }
    this.querySelector('[data-new]').dataset.new = name;
    this.querySelector('.field input').focus();
  }

  end(message) {
    this.innerHTML = `<p class="note warn" role="alert"></p><p class="buttons"><a class="button main" href="/login">${t('Sign in')}</a> <a class="button" href="/">${t('All books')}</a></p>`;
    this.querySelector('p').textContent = message;
  }
}

customElements.define('welcome-form', WelcomeForm);
