// The playground's editor: request, variables, response and schema. It loads nothing from other servers.
import { ask } from './token.js';
import { examples, introspectionOff, withToken } from './examples.js';

const introspection = `query Schema { __schema { queryType { name } mutationType { name } types { name kind description
  fields(includeDeprecated: true) { name description args { name description defaultValue type { ...T } } type { ...T } }
  inputFields { name description type { ...T } } enumValues { name description } } } }
fragment T on __Type { name kind ofType { name kind ofType { name kind ofType { name kind } } } }`;

const typeText = (type) => type.kind === 'NON_NULL' ? `${typeText(type.ofType)}!` : type.kind === 'LIST' ? `[${typeText(type.ofType)}]` : type.name;
const namedType = (type) => type.ofType ? namedType(type.ofType) : type.name;

class QueryEditor extends HTMLElement {
  connectedCallback() {
    this.innerHTML = `<div class="tabs" role="tablist" aria-label="Examples"></div>
      <div class="editor"><div>
        <div class="code"><textarea data-query rows="18" spellcheck="false" aria-label="Query"></textarea><ul class="suggestions" role="listbox" hidden></ul></div>
        <div class="field"><label for="variables">Variables (JSON)</label><textarea id="variables" rows="6" spellcheck="false"></textarea></div>
        <div class="field"><label for="headers">Headers (JSON)</label><textarea id="headers" rows="2" spellcheck="false" placeholder='{"Idempotency-Key": "1"}'></textarea></div>
        <p class="buttons"><button type="button" class="button main" data-run>Run</button><button type="button" class="button" data-give>Token</button><span class="small soft" data-time></span></p>
      </div><pre class="answer" tabindex="0" aria-label="Response" role="region">Results appear here.</pre>
      <section class="schema"><h2>Schema</h2><p class="small soft" data-about>Loading the schema…</p><div class="field"><input type="search" data-find placeholder="Find a type or a field" aria-label="Find in the schema"></div><div data-types></div></section></div>`;
    this.query = this.querySelector('[data-query]');
    this.variables = this.querySelector('#variables');
    this.headers = this.querySelector('#headers');
    this.answer = this.querySelector('.answer');
    this.list = this.querySelector('.suggestions');
    this.types = new Map();
    this.tabs();
    this.begin();
    this.querySelector('[data-run]').onclick = () => this.run();
    this.querySelector('[data-give]').onclick = async () => { if (await ask() && !this.types.size) this.loadSchema(); };
    this.querySelector('[data-find]').oninput = (event) => this.drawSchema(event.target.value.trim().toLowerCase());
    this.addEventListener('keydown', (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') { event.preventDefault(); this.run(); }
    });
    this.query.addEventListener('input', () => this.suggest());
    this.query.addEventListener('blur', () => setTimeout(() => { this.list.hidden = true; }, 150));
    this.query.addEventListener('keydown', (event) => this.key(event));
    this.loadSchema();
  }

  tabs() {
    const bar = this.querySelector('.tabs');
    for (const [name, example] of Object.entries(examples)) {
      const tab = document.createElement('button');
      tab.type = 'button';
      tab.setAttribute('role', 'tab');
      tab.textContent = name;
      tab.onclick = () => {
        this.put(example.query, example.variables ?? '', example.headers ?? '');
        for (const other of bar.children) other.setAttribute('aria-selected', String(other === tab));
      };
      tab.setAttribute('aria-selected', 'false');
      bar.append(tab);
    }
  }

  // begin fills in the request of the URL, or the first example. It does not run the request, because anyone can make a
  // URL, and the request would carry the tab's token.
  begin() {
    const parameters = new URLSearchParams(location.search);
    if (!parameters.get('query')) return this.querySelector('.tabs button').click();
    this.put(parameters.get('query'), parameters.get('variables') ?? '', '');
  }

  put(query, variables, headers) {
    this.query.value = query;
    this.variables.value = variables;
    this.headers.value = headers;
  }

  parse(field, name) {
    try {
      return field.value.trim() ? JSON.parse(field.value) : undefined;
    } catch (error) {
      this.answer.textContent = `The ${name} are not JSON: ${error.message}`;
      field.focus();
      throw error;
    }
  }

  async run() {
    const variables = this.parse(this.variables, 'variables');
    const headers = withToken(this.parse(this.headers, 'headers'));
    const time = this.querySelector('[data-time]');
    const began = performance.now();
    try {
      const response = await fetch(this.dataset.endpoint, { method: 'POST', headers, body: JSON.stringify({ query: this.query.value, variables }) });
      const text = await response.text();
      time.textContent = `${response.status}, ${Math.round(performance.now() - began)} ms`;
      this.answer.textContent = JSON.stringify(JSON.parse(text), null, 2);
    } catch (error) {
      this.answer.textContent = `No response: ${error.message}`;
    }
    const address = new URLSearchParams({ query: this.query.value });
    if (this.variables.value.trim()) address.set('variables', this.variables.value);
    history.replaceState(history.state, '', `?${address}`);
  }

  async loadSchema() {
    const about = this.querySelector('[data-about]');
    try {
      const response = await fetch(this.dataset.endpoint, { method: 'POST', headers: withToken(), body: JSON.stringify({ query: introspection }) });
      const answer = await response.json();
      if (!answer.data) throw new Error(answer.errors[0].message);
      const schema = answer.data.__schema;
      this.roots = { query: schema.queryType.name, mutation: schema.mutationType?.name };
      for (const type of schema.types) if (!type.name.startsWith('__')) this.types.set(type.name, type);
      about.textContent = 'All types of this service.';
      this.drawSchema('');
    } catch (error) {
      about.textContent = `${introspectionOff} (${error.message})`;
    }
  }

  drawSchema(find) {
    const place = this.querySelector('[data-types]');
    place.replaceChildren();
    for (const type of this.types.values()) {
      const parts = type.fields ?? type.inputFields ?? type.enumValues ?? [];
      const matching = parts.filter((part) => part.name.toLowerCase().includes(find));
      if (find && !type.name.toLowerCase().includes(find) && !matching.length) continue;
      const details = document.createElement('details');
      const summary = document.createElement('summary');
      summary.textContent = `${type.kind.toLowerCase().replace('_object', '')} ${type.name}`;
      details.append(summary);
      details.addEventListener('toggle', () => { if (details.open && details.children.length === 1) details.append(this.describe(type, parts)); });
      if (find && matching.length && place.children.length < 3) details.open = true;
      place.append(details);
    }
  }

  describe(type, parts) {
    const list = document.createElement('ul');
    if (type.description) list.append(Object.assign(document.createElement('p'), { className: 'small soft', textContent: type.description }));
    for (const part of parts) {
      const item = document.createElement('li');
      const args = part.args?.length ? `(${part.args.map((arg) => `${arg.name}: ${typeText(arg.type)}`).join(', ')})` : '';
      item.textContent = part.type ? `${part.name}${args}: ${typeText(part.type)}` : part.name;
      if (part.description) item.append(Object.assign(document.createElement('p'), { textContent: part.description }));
      list.append(item);
    }
    return list;
  }

  // typeAt returns the type whose fields can follow text.
  typeAt(text) {
    const tokens = text.replace(/#[^\n]*/g, '').replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\])*"/g, '""').match(/\.\.\.|\w+|[{}()]/g) ?? [];
    const stack = [];
    let parens = 0;
    let next = this.roots.query; // type of the next brace
    tokens.forEach((word, i) => {
      if (word === '(') parens++;
      else if (word === ')') parens--;
      else if (parens) return;
      else if (word === '{') stack.push(next);
      else if (word === '}') { stack.pop(); next = this.roots.query; }
      else if (!stack.length) { if (word === 'mutation' || word === 'query') next = this.roots[word]; else if (tokens[i - 1] === 'on') next = word; }
      else if (tokens[i - 1] === 'on' && tokens[i - 2] === '...') next = word;
      else {
        const field = this.types.get(stack.at(-1))?.fields?.find((field) => field.name === word);
        if (field) next = namedType(field.type);
      }
    });
    return parens ? undefined : stack.at(-1);
  }

  suggest() {
    this.list.hidden = true;
    if (!this.types.size) return;
    const before = this.query.value.slice(0, this.query.selectionStart);
    const word = before.match(/\w+$/)?.[0];
    if (!word) return;
    const fields = this.types.get(this.typeAt(before.slice(0, -word.length)))?.fields ?? [];
    const fit = fields.filter((field) => field.name.toLowerCase().startsWith(word.toLowerCase()) && field.name !== word).slice(0, 8);
    if (!fit.length) return;
    this.list.replaceChildren(...fit.map((field, i) => {
      const item = document.createElement('li');
      item.setAttribute('role', 'option');
      item.setAttribute('aria-selected', String(i === 0));
      item.textContent = field.name;
      item.onmousedown = (event) => { event.preventDefault(); this.complete(field.name); };
      return item;
    }));
    const line = before.split('\n').length;
    this.list.style.top = `${Math.min(line * 20 + 10 - this.query.scrollTop, this.query.clientHeight)}px`;
    this.list.style.left = `${Math.min((before.length - before.lastIndexOf('\n')) * 7.8, this.query.clientWidth - 180)}px`;
    this.list.hidden = false;
  }

  key(event) {
    if (this.list.hidden) return;
    const items = [...this.list.children];
    const at = items.findIndex((item) => item.getAttribute('aria-selected') === 'true');
    const choose = (i) => items.forEach((item, j) => item.setAttribute('aria-selected', String(j === (i + items.length) % items.length)));
    switch (event.key) {
      case 'ArrowDown': choose(at + 1); break;
      case 'ArrowUp': choose(at - 1); break;
      case 'Tab': case 'Enter': if (event.ctrlKey || event.metaKey) return; this.complete(items[at].textContent); break;
      case 'Escape': this.list.hidden = true; break;
      default: return;
    }
    event.preventDefault();
  }

  complete(name) {
    const end = this.query.selectionStart;
    const begin = end - this.query.value.slice(0, end).match(/\w*$/)[0].length;
    this.query.setRangeText(name, begin, end, 'end');
    this.list.hidden = true;
  }
}

customElements.define('query-editor', QueryEditor);
