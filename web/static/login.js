// Login at an OpenID provider: authorization code with PKCE (RFC 7636). The page goes to the provider and comes back;
// sessionStorage has the state of the login.
import { claims, keepToken, origin } from './account.js';
import { t } from './language.js';

const place = 'login'; // key of state, nonce and verifier

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => base64(crypto.getRandomValues(new Uint8Array(32)));

// LoginError has a message for the user.
class LoginError extends Error {}

class LogIn extends HTMLElement {
  async connectedCallback() {
    const answer = new URLSearchParams(location.search);
    const begun = JSON.parse(sessionStorage.getItem(place) ?? 'null');
    sessionStorage.removeItem(place);
    try {
      if (!answer.has('state') && !answer.has('error')) return await this.begin();
      history.replaceState(history.state, '', location.pathname); // the code is used once
      await this.finish(answer, begun);
      const from = sessionStorage.getItem(origin) ?? '/';
      sessionStorage.removeItem(origin);
      location.replace(from);
    } catch (error) {
      this.fail(error instanceof LoginError ? error.message : t('The login service did not respond.'));
    }
  }

  fail(message) {
    this.innerHTML = `<p class="note bad" role="alert"></p><p class="buttons"><button class="button main">${t('Log in again')}</button> <a class="button">${t('Continue without logging in')}</a></p>`;
    this.querySelector('p').textContent = message;
    this.querySelector('button').onclick = () => location.assign('/login');
    this.querySelector('a').href = sessionStorage.getItem(origin) ?? '/';
  }

  async begin() {
    if (!crypto.subtle) throw new LoginError(t('Logging in needs https. Open this page with an https address.'));
    const begun = { state: random(), nonce: random(), verifier: random() };
    const challenge = base64(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier)));
    sessionStorage.setItem(place, JSON.stringify(begun));
    const { client, scopes, audience, authorization } = this.dataset;
    const address = new URL(authorization);
    const parameters = {
      response_type: 'code', client_id: client, redirect_uri: location.origin + '/login', scope: scopes,
      state: begun.state, nonce: begun.nonce, code_challenge: challenge, code_challenge_method: 'S256',
    };
    if (audience) parameters.audience = audience;
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    location.replace(address);
  }

  async finish(answer, begun) {
    const { issuer, client, tokenEndpoint } = this.dataset;
    if (!answer.has('state')) throw new LoginError(t('You are not logged in: the login service reported an error without saying to which login it belongs.'));
    if (!begun || answer.get('state') !== begun.state) throw new LoginError(t('This login was started in another tab.'));
    if (answer.has('iss') && answer.get('iss') !== issuer) throw new LoginError(t('The response comes from another login service.')); // RFC 9207
    if (answer.has('error')) throw new LoginError(t('You are not logged in: %s.', answer.get('error_description') ?? answer.get('error')));
    const response = await fetch(tokenEndpoint, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: location.origin + '/login', client_id: client, code_verifier: begun.verifier,
      }),
    });
    const tokens = await response.json();
    if (!response.ok) throw new LoginError(t('You are not logged in: %s.', tokens.error_description ?? tokens.error));
    const id = claims(tokens.id_token ?? '');
    if (id.nonce !== begun.nonce || id.iss !== issuer || ![id.aud].flat().includes(client)) throw new LoginError(t('The response belongs to another login.')); // OpenID Connect Core 1.0, section 3.1.3.7
    keepToken(await this.accepted([tokens.access_token, tokens.id_token]));
  }

  // accepted returns the first token that the catalogue accepts. Access tokens of some providers have another audience.
  // The retries are for new keys of the provider, which the catalogue learns after some seconds.
  async accepted(tokens) {
    for (let tries = 0; tries < 8; tries++) {
      for (const token of tokens) {
        const response = await fetch('/graphql', {
          method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }, body: '{"query":"{ viewer { subject } }"}',
        });
        if ((await response.json()).data?.viewer) return token;
      }
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
    throw new LoginError(t('You are logged in, but the catalogue does not accept the token. The administrator can find the reason in the log.'));
  }
}

customElements.define('log-in', LogIn);
