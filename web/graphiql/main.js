// The playground with GraphiQL, built by make web into dist/.
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import { examples, introspectionOff, withToken } from '../static/examples.js';

// send is GraphiQL's fetcher.
async function send(request, { headers } = {}) {
  const response = await fetch('/graphql', { method: 'POST', headers: withToken(headers), body: JSON.stringify(request) });
  const answer = await response.json();
  if (request.operationName === 'IntrospectionQuery') document.querySelector('[data-schema]').textContent = answer.data ? '' : introspectionOff;
  return answer;
}

// keep has the address lead to what is in the editor.
function keep({ query, variables }) {
  const address = new URLSearchParams();
  if (query) address.set('query', query);
  if (variables?.trim()) address.set('variables', variables);
  history.replaceState(null, '', `?${address}`);
}

const asked = new URLSearchParams(location.search);
const first = asked.get('query') ? [{ query: asked.get('query'), variables: asked.get('variables') ?? '' }] : [];

createRoot(document.getElementById('graphiql')).render(createElement(GraphiQL, {
  fetcher: send,
  defaultTabs: [...first, ...Object.values(examples)],
  variables: first[0]?.variables, // of the first tab, which GraphiQL does not take from it
  // Tabs last as long as this page, and so does a token in them.
  storage: { length: 0, getItem: () => null, setItem() {}, removeItem() {}, clear() {} },
  shouldPersistHeaders: false,
  showPersistHeadersSettings: false,
  defaultEditorToolsVisibility: true,
  onTabChange: ({ tabs, activeTabIndex }) => keep(tabs[activeTabIndex]),
}));
