// A form says in time that saving needs a token, and that the one there is has ended, or
// soon will.
import { token, holder, ask, isRefused } from './token.js';
import { canLogIn } from './login.js';

const early = 2 * 60_000; // ms before a token ends

const time = (at) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

// watchToken shows above a form what is wrong with the token, as long as the form is
// there.
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
  let asked = ''; // the token of which the catalogue has said what it thinks
  let refused = false;

  const wrong = () => {
    const { known, ended, ends } = holder();
    if (ended) return 'Your token has ended. ';
    if (!known) return canLogIn() ? 'To save, log in. ' : 'Saving needs a token. ';
    if (refused) return 'Your token is not accepted. ';
    return ends - Date.now() <= early ? `Your token ends at ${time(ends)}. ` : '';
  };
  const show = () => {
    const message = wrong();
    if (!message) return box.remove();
    text.textContent = message;
    button.textContent = canLogIn() ? 'Log in' : holder().known ? 'Give another' : 'Give one now';
    if (!box.isConnected) form.prepend(box);
  };
  const look = async () => {
    clearTimeout(timer);
    if (!form.isConnected) {
      document.removeEventListener('token', look);
      document.removeEventListener('visibilitychange', look);
      return;
    }
    const { known, ends } = holder();
    if (known) {
      const left = ends - Date.now();
      timer = setTimeout(look, Math.min(left > early ? left - early : left, 2 ** 31 - 1));
    }
    if (known && asked !== token()) {
      asked = token();
      refused = false;
      refused = await isRefused();
    }
    show();
  };
  document.addEventListener('token', look); // there is another, or none
  document.addEventListener('visibilitychange', look); // timers rest while nobody looks
  look();
}
