// The dialog to sign in, which a page loads when it needs it.
import { signIn } from './account.js';
import { askToken, canLogIn, logIn } from './token.js';

// askPassword shows the dialog to sign in with an account.
export function askPassword(message) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'sign-in-title');
  dialog.innerHTML = `<form method="post" action="/login"><h2 id="sign-in-title">Sign in</h2><p class="note warn" role="alert" hidden></p>
    <div class="field"><label for="dialog-email">Name or email address</label><input id="dialog-email" name="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="200" required></div>
    <div class="field"><label for="dialog-password">Password</label><input id="dialog-password" name="password" type="password" autocomplete="current-password" maxlength="1000" required></div>
    <p class="buttons"><button class="button main">Sign in</button><button type="button" class="button" data-log-in hidden>Sign in with your organisation</button><button type="button" class="button" data-close>Cancel</button></p>
    <p class="small"><button type="button" class="text-button" data-enter-token>Enter an access token instead</button></p></form>`;
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
        say(error.status ? error.message : 'The catalogue did not respond. Try again in a moment.');
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
