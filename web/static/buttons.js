// Buttons that need scripts, and the one that copies the address of the page.
import { t } from './language.js';
import { announce } from './visit.js';

// TextButton is a custom element with a button that needs scripts.
export class TextButton extends HTMLElement {
  connectedCallback() {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = this.kind;
    button.textContent = this.label;
    if (this.dataset.name) button.setAttribute('aria-label', `${this.label.replace('…', '')} ${this.dataset.name}`);
    button.onclick = () => this.act();
    this.replaceChildren(button);
  }

  get kind() { return 'text-button'; }
  get label() { return this.words ??= this.textContent; }
}

// CopyButton copies the address of the page.
class CopyButton extends TextButton {
  async act() {
    try {
      await navigator.clipboard.writeText(location.href);
      announce(t('The link was copied.'), true);
    } catch {
      announce(t('The link was not copied. Copy the address of this page.'), true, { bad: true });
    }
  }
}

if (navigator.clipboard) customElements.define('copy-button', CopyButton); // none without TLS
