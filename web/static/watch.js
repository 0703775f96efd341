// Forms warn in time that saving needs a token, or that the token has expired or expires soon.
import { account, canLogIn, hasAccounts, token } from './account.js';
import { t, time } from './language.js';
import { holder, ask, isRefused } from './request.js';

const warnBefore = 2 * 60_000; // ms before a token expires

// watchToken shows problems of the token above a form, until the form is removed.
export function watchToken(form) {
  const box = document.createElement('p');
  box.className = 'note warn token-note';
  box.setAttribute('role', 'status');
  const text = document.createElement('span');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'text-button';
  button.onclick = () => ask();
  box.append(text, button);
  let timer = 0;
  let checked = ''; // the token or session that isRefused has checked last
  let refused = false;

  const wrong = () => {
    const { known, expired, expires } = holder();
    if (expired) return t('Your token has expired.');
    if (!known) return hasAccounts() ? t('Sign in to save.') : canLogIn() ? t('To save, log in.') : t('You need an access token to save.');
    if (refused) return token() ? t('Your token is not accepted.') : t('You are signed out.');
    return expires - Date.now() <= warnBefore ? t('Your token expires at %s.', time(expires)) : '';
  };
  const show = () => {
    const message = wrong();
    if (!message) return box.remove();
    text.textContent = `${message} `;
    button.textContent = hasAccounts() && !token() ? t('Sign in') : canLogIn() ? t('Log in') : holder().known ? t('Enter another token') : t('Enter token');
    if (!box.isConnected) form.prepend(box);
  };
  const look = async () => {
    clearTimeout(timer);
    if (!form.isConnected) {
      document.removeEventListener('token', look);
      document.removeEventListener('visibilitychange', look);
      return;
    }
    const { known, expires } = holder();
    if (known) {
      const left = expires - Date.now();
      timer = setTimeout(look, Math.min(left > warnBefore ? left - warnBefore : left, 2 ** 31 - 1));
    }
    if (known && checked !== (token() || account())) {
      checked = token() || account();
      refused = false;
      refused = await isRefused();
    }
    show();
  };
  document.addEventListener('token', look);
  document.addEventListener('visibilitychange', look); // timers are delayed in background tabs
  look();
}
