// The dialogs to sign in and to enter a token. A page loads them when it needs them.
import { canLogIn, hasAccounts, isToken, keepToken, logIn, signIn, token } from './account.js';
import { t } from './language.js';

// askPassword shows the dialog to sign in with an account.
export function askPassword(message) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'sign-in-title');
  dialog.innerHTML = `<form method="post" action="/login"><h2 id="sign-in-title">${t('Sign in')}</h2><p class="note warn" role="alert" hidden></p>
    <div class="field"><label for="dialog-email">${t('Name or email address')}</label><input id="dialog-email" name="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="200" required></div>
    <div class="field"><label for="dialog-password">${t('Password')}</label><input id="dialog-password" name="password" type="password" autocomplete="current-password" maxlength="1000" required></div>
    <p class="buttons"><button class="button main">${t('Sign in')}</button><button type="button" class="button" data-log-in hidden>${t('Sign in with your organisation')}</button><button type="button" class="button" data-close>${t('Cancel')}</button></p>
    <p class="small"><button type="button" class="text-button" data-enter-token>${t('Enter an access token instead')}</button></p></form>`;
  const note = dialog.querySelector('.note');
  const say = (text) => { note.textContent = text; note.hidden = !text; };
  say(message);
  const provider = dialog.querySelector('[data-log-in]');
  provider.hidden = !canLogIn();
  provider.onclick = logIn;
  dialog.querySelector('[data-close]').onclick = () => dialog.close();
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    let done = false;
    let other = null;
    dialog.querySelector('[data-enter-token]').onclick = () => { other = askToken(''); dialog.close(); };
    dialog.querySelector('form').addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = dialog.querySelector('.main');
      if (button.disabled) return;
      button.disabled = true;
      try {
        await signIn(new FormData(event.target));
        done = true;
        dialog.close();
      } catch (error) {
        say(error.status ? error.message : t('The catalogue did not respond. Try again in a moment.'));
        dialog.querySelector('[type=password]').select();
      } finally {
        button.disabled = false;
      }
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(other ?? done);
    });
  });
}

// tokenWords says what a token is and where one comes from.
function tokenWords() {
  const kept = t('It is kept in this tab only, until you close it.');
  if (canLogIn() && !hasAccounts()) return `<p>${t('Log in to save. You then return to this page, and what you typed is kept.')}</p><p><button type="button" class="button main" data-log-in>${t('Log in')}</button></p><p>${t('Or paste an access token.')} ${kept}</p>`;
  if (hasAccounts()) return `<p>${t('With an access token this tab saves without your password. You can make one on the page “Your account”.')} ${kept}</p>`;
  return `<p>${t('You need an access token to save: a long text that works like a password. Ask the person who runs this catalogue for one, and paste it here.')} ${kept}</p>
    <details class="small"><summary>${t('I run this catalogue')}</summary><p>${t('Make a token with the command <code>catalogue token</code>, in the directory where the catalogue was started.')}</p></details>`;
}

// askToken shows the dialog for a token.
export function askToken(message) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'token-title');
  dialog.innerHTML = `<form method="dialog"><h2 id="token-title">${canLogIn() && !hasAccounts() ? t('Log in') : t('Enter an access token')}</h2>
    <p class="note warn" hidden></p>
    ${tokenWords()}
    <div class="field"><label for="token">${t('Token')}</label><textarea id="token" rows="4" spellcheck="false" autocomplete="off"></textarea></div>
    <p class="buttons"><button class="button${canLogIn() && !hasAccounts() ? '' : ' main'}" value="use">${t('Use token')}</button><button class="button" value="forget" hidden>${canLogIn() ? t('Log out') : t('Remove token')}</button><button class="button" value="">${t('Cancel')}</button></p></form>`;
  const field = dialog.querySelector('textarea');
  const note = dialog.querySelector('.note');
  if (message) { note.textContent = message; note.hidden = false; }
  dialog.querySelector('[value=forget]').hidden = !token();
  document.body.append(dialog);
  dialog.showModal();
  const login = dialog.querySelector('[data-log-in]');
  if (login) login.onclick = logIn;
  (login ?? field).focus();
  const entered = () => field.value.trim().replace(/^Bearer\s+/i, '');
  dialog.querySelector('form').addEventListener('submit', (event) => {
    if (event.submitter?.value !== 'use' || !entered() || isToken(entered())) return;
    event.preventDefault();
    note.textContent = t('This is not an access token. Copy the whole token.');
    note.hidden = false;
    field.focus();
  });
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const text = entered();
      const given = dialog.returnValue === 'use' && Boolean(text);
      if (given) keepToken(text);
      if (dialog.returnValue === 'forget') keepToken('');
      dialog.remove();
      resolve(given);
    });
  });
}
