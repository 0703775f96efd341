// The playground's form: it runs a request and shows the schema as text.
import { token } from './account.js';
import { ask } from './request.js';

const introspection = `{ __schema { types { kind name description interfaces { name } enumValues { name description }
  fields(includeDeprecated: true) { name description args { name type { ...T } } type { ...T } } inputFields { name description type { ...T } } } } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

const keywords = { OBJECT: 'type', INTERFACE: 'interface', INPUT_OBJECT: 'input', ENUM: 'enum', SCALAR: 'scalar' };
const nameOf = ({ kind, name, ofType }) => kind === 'NON_NULL' ? `${nameOf(ofType)}!` : kind === 'LIST' ? `[${nameOf(ofType)}]` : name;
const quote = (text, indent) => text ? `${indent}"""${text}"""\n` : '';

function member({ name, description, args = [], type }) {
  const list = args.map((arg) => `${arg.name}: ${nameOf(arg.type)}`).join(', ');
  return `${quote(description, '  ')}  ${name}${list && `(${list})`}${type ? `: ${nameOf(type)}` : ''}\n`;
}

// definition returns a type in GraphQL's schema language.
function definition({ kind, name, description, interfaces, fields, inputFields, enumValues }) {
  const members = [fields, inputFields, enumValues].flatMap((list) => list ?? []);
  const after = interfaces?.length ? ` implements ${interfaces.map((type) => type.name).join(' & ')}` : '';
  return `${quote(description, '')}${keywords[kind]} ${name}${after}${members.length ? ` {\n${members.map(member).join('')}}` : ''}\n`;
}

class QueryForm extends HTMLElement {
  // The request of the URL is filled in but not run, because anyone can make a URL, and it would run with the tab's token.
  connectedCallback() {
    const parameters = new URLSearchParams(location.search);
    for (const [name, value] of parameters) if (['query', 'variables'].includes(name)) this.querySelector(`#${name}`).value = value;
    const form = this.querySelector('form');
    form.addEventListener('submit', (event) => { event.preventDefault(); this.run(); });
    form.addEventListener('keydown', (event) => { if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') form.requestSubmit(); });
    this.querySelector('[data-give]').onclick = () => ask();
    this.querySelector('details').addEventListener('toggle', () => this.showSchema());
  }

  async send(body) {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json', ...(token() && { Authorization: `Bearer ${token()}` }) };
    return (await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify(body) })).json();
  }

  async run() {
    const [query, variables, output] = ['#query', '#variables', 'output'].map((selector) => this.querySelector(selector));
    let failure = 'The variables are not JSON';
    try {
      const request = { query: query.value, variables: JSON.parse(variables.value.trim() || '{}') };
      failure = 'The catalogue did not respond';
      history.replaceState(history.state, '', `?${new URLSearchParams({ query: query.value, variables: variables.value })}`);
      output.textContent = JSON.stringify(await this.send(request), null, 2);
    } catch (error) {
      output.textContent = `${failure}: ${error.message}`;
    }
  }

  async showSchema() {
    const { data, errors } = await this.send({ query: introspection }).catch((error) => ({ errors: [error] }));
    this.querySelector('pre').textContent = data ? data.__schema.types.filter(({ name }) => !name.startsWith('__')).map(definition).join('\n') : errors[0].message;
  }
}

customElements.define('query-form', QueryForm);
