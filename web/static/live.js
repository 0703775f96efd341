// Pages update themselves: while a page is visible, its query is live over one WebSocket.
import { refresh } from './visit.js';

const gather = 1000; // ms in which further changes join an update
const minDelay = 2000; // ms before the first try after a failure; each further failure doubles it
const maxDelay = 60_000;
const maxSilence = 20_000; // ms; the server pings every 15 s
const page = () => document.getElementById('main');
const queryOf = () => document.querySelector('a[href^="/playground?"]')?.href;
let socket = null;
let id = 0; // of the operation
let query = ''; // address of the playground with the query of the operation; empty: none
let state = ''; // hash of the newest data
let timer = 0;
let silence = 0; // timer that ends a lost connection
let failures = 0; // failed updates and sockets, one after another
let notBefore = 0; // performance.now() of the earliest next update

const isBusy = () => !getSelection().isCollapsed || Boolean(document.querySelector('dialog[open], .ticked:not([hidden]), .view[open], .menu:popover-open, body:has(.row) [data-undo]'))
  || document.activeElement.matches('input:not([type=checkbox]), textarea, select');

// hash returns the FNV-1a hash of a text, as the page has it of its data.
const hash = (text) => new TextEncoder().encode(text).reduce((sum, byte) => Math.imul(sum ^ byte, 16777619) >>> 0, 2166136261).toString(16);

// update refreshes the page soon, and later if that fails or the user is busy. A form is told instead.
function update() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (document.hidden) return; // close has ended the socket; the next one sends the state again
    const form = document.querySelector('book-form');
    if (!form && isBusy()) return update();
    try {
      await (form ? form.compare() : refresh(true));
      notBefore = 0;
      if (socket?.readyState === WebSocket.OPEN) failures = 0;
      open(); // if the socket is closed
    } catch (seconds) {
      if (seconds === Infinity) return close(); // until the user reloads
      backOff(Number(seconds) * 1000 || 0);
      update();
    }
  }, Math.max(gather, notBefore - performance.now()));
}

// backOff delays the next update after a failure, at least for a time in ms.
function backOff(least) {
  notBefore = performance.now() + Math.max(Math.min(minDelay * 2 ** failures, maxDelay), least);
  failures += 1;
}

function close() {
  const old = socket;
  socket = null;
  query = '';
  old?.close();
  clearTimeout(timer);
  clearTimeout(silence);
}

const send = (message) => socket.send(JSON.stringify(message));

// subscribe runs the query of the page in place of that of the page before.
function subscribe() {
  if (query === queryOf()) return;
  if (query) send({ type: 'complete', id: String(id) });
  query = queryOf();
  id += 1;
  const parameters = new URL(query).searchParams;
  send({ type: 'subscribe', id: String(id), payload: {
    query: parameters.get('query').replace(/^query \w+(\([^)]*\))?/, '$& @live(throttle: 1000)'),
    variables: JSON.parse(parameters.get('variables')),
  } });
}

// fail tries again later. A page whose session has ended is left then.
function fail(least = 0) {
  close();
  backOff(least);
  update();
}

// expect waits for the next message.
function expect() {
  clearTimeout(silence);
  silence = setTimeout(fail, maxSilence);
}

function receive({ type, id: of, payload }) {
  if (type === 'ping') send({ type: 'pong' });
  if (type === 'connection_ack') subscribe();
  if (of !== String(id)) return; // an earlier page
  if (type === 'error' || type === 'complete' || payload.errors) return fail((payload?.errors ?? payload)?.[0].extensions?.retryAfter * 1000 || 0);
  failures = 0;
  const newest = hash(JSON.stringify(payload.data));
  if (newest !== state) update();
  state = newest;
}

// open makes the page live. A page that has the newest data is not updated.
function open() {
  if (!page().dataset.state || !queryOf() || document.hidden) return close();
  if (query !== queryOf()) {
    state = page().dataset.state;
    clearTimeout(timer);
    if (query) subscribe();
  }
  if (socket) return;
  const opened = socket = new WebSocket(`${location.origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  expect();
  socket.onopen = () => send({ type: 'connection_init' });
  socket.onmessage = ({ data }) => {
    if (socket !== opened) return;
    expect();
    receive(JSON.parse(data));
  };
  socket.onclose = () => { if (socket === opened) fail(); };
}

document.addEventListener('shown', open);
document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else open(); });
open();
