// The playground with GraphiQL, built by make web into dist/.
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { examples, introspectionOff, withToken } from './examples.js';

// send is GraphiQL's fetcher.
async function send(request, { headers } = {}) {
  const response = await fetch('/graphql', { method: 'POST', headers: withToken(headers), body: JSON.stringify(request) });
  const answer = await response.json();
  if (request.operationName === 'IntrospectionQuery') document.querySelector('[data-schema]').textContent = answer.data ? '' : introspectionOff;
  return answer;
}

// keep puts the editor's request into the URL.
function keep({ query, variables }) {
  const address = new URLSearchParams();
  if (query) address.set('query', query);
  if (variables?.trim()) address.set('variables', variables);
  history.replaceState(null, '', `?${address}`);
}

const parameters = new URLSearchParams(location.search);
const first = parameters.get('query') ? [{ query: parameters.get('query'), variables: parameters.get('variables') ?? '' }] : [];

createRoot(document.getElementById('graphiql')).render(createElement(GraphiQL, {
  fetcher: send,
  defaultTabs: [...first, ...Object.values(examples)],
  variables: first[0]?.variables, // GraphiQL ignores the variables of the first tab
  // Nothing is stored, so that no token stays in the browser.
  storage: { length: 0, getItem: () => null, setItem() {}, removeItem() {}, clear() {} },
  shouldPersistHeaders: false,
  showPersistHeadersSettings: false,
  defaultEditorToolsVisibility: true,
  onTabChange: ({ tabs, activeTabIndex }) => keep(tabs[activeTabIndex]),
}));
