// The playground with GraphiQL. Its files come from this server or a CDN; without them the browser goes to the form.
import { examples } from './examples.js';

const token = () => sessionStorage.getItem('token') ?? ''; // like account.js, which needs the layout of the other pages
const maxWait = 4000; // milliseconds for files from a CDN
const introspectionOff = 'The schema is hidden. The administrator can enable it with CATALOGUE_INTROSPECTION=true, or =token for requests with a token.';
const root = document.getElementById('graphiql');
const status = document.querySelector('[data-schema]');

// load adds a style or script to the page. The CDN learns neither the address of the page nor a cookie.
const load = ({ URL, Integrity }) => new Promise((resolve, reject) => {
  const isStyle = URL.endsWith('.css');
  const part = document.createElement(isStyle ? 'link' : 'script');
  Object.assign(part, { integrity: Integrity, crossOrigin: 'anonymous', referrerPolicy: 'no-referrer', onload: resolve, onerror: reject });
  Object.assign(part, isStyle ? { rel: 'stylesheet', href: URL } : { async: false, src: URL });
  document.head[isStyle ? 'prepend' : 'append'](part);
});

// withToken returns headers with the token of this tab, unless they have another token.
function withToken({ authorization, Authorization = authorization, ...others } = {}) {
  const own = Authorization && Authorization !== 'Bearer TOKEN' ? Authorization : token() && `Bearer ${token()}`;
  return { ...others, ...(own && { Authorization: own }) };
}

// keep puts the editor's request into the URL.
function keep({ query, variables }) {
  const address = new URLSearchParams();
  if (query) address.set('query', query);
  if (variables?.trim()) address.set('variables', variables);
  history.replaceState(null, '', `?${address}`);
}

// show draws GraphiQL. It fills in the request of the URL and does not run it, because anyone can make a URL, and the
// request would run with the tab's token.
function show({ GraphiQL, React, ReactDOM }) {
  status.textContent = '';
  const fetcher = GraphiQL.createFetcher({
    url: '/graphql', headers: { Accept: 'application/json' }, enableIncrementalDelivery: false,
    subscriptionUrl: `${location.origin.replace('http', 'ws')}/graphql`, // with the headers as connectionParams
  });
  const send = async (request, options) => {
    const answer = await fetcher(request, { ...options, headers: withToken(options?.headers) });
    if (request.operationName === 'IntrospectionQuery') status.textContent = answer.data ? '' : introspectionOff;
    return answer;
  };
  const parameters = new URLSearchParams(location.search);
  const first = parameters.get('query') ? [{ query: parameters.get('query'), variables: parameters.get('variables') ?? '' }] : [];
  ReactDOM.createRoot(root).render(React.createElement(GraphiQL, {
    fetcher: send,
    defaultTabs: [...first, ...examples],
    variables: first[0]?.variables, // GraphiQL ignores the variables of the first tab
    // Nothing is stored, so that no token stays in the browser.
    storage: { length: 0, getItem: () => null, setItem() {}, removeItem() {}, clear() {} },
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
    defaultEditorToolsVisibility: true,
    onTabChange: ({ tabs, activeTabIndex }) => keep(tabs[activeTabIndex]),
  }));
}

const toForm = () => location.replace(`/playground/form${location.search}`);
const files = JSON.parse(root.dataset.files);
const end = files[0].URL.startsWith('/') ? 0 : setTimeout(toForm, maxWait);
status.textContent = 'Loading GraphiQL.';
try {
  await Promise.all(files.map(load));
  show(globalThis);
} catch {
  toForm();
} finally {
  clearTimeout(end);
}
