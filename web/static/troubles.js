// The page of what may be set right: pairs that are not the same.
import { TextButton } from './buttons.js';
import { t } from './language.js';
import { request, GraphQLError } from './request.js';
import { visit, announce } from './visit.js';

// mark marks a pair as different, or takes the mark back, and offers Undo.
async function mark(input) {
  try {
    if (!await request('mutation Mark($input: MarkDifferentInput!) { markDifferent(input: $input) { different } }', { input }, { write: true })) return;
    await visit(location.pathname, { replace: true });
    const undo = () => mark({ ...input, different: !input.different });
    announce(input.different ? t('Marked as not the same.') : t('The mark was taken back.'), true, { label: t('Undo'), act: undo, seconds: 10 });
  } catch (error) {
    announce(error instanceof GraphQLError ? error.message : t('The catalogue did not respond.'), true, { label: t('Try again'), act: () => mark(input), bad: true });
  }
}

class DifferButton extends TextButton {
  act() {
    const { kind, first, second, back } = this.dataset;
    mark({ kind, one: first, other: second, different: back === undefined });
  }
}
customElements.define('differ-button', DifferButton);
