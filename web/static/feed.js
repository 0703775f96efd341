// Lists and books update themselves: they follow the feed of changes while they are visible.
import { refresh } from './visit.js';

const gather = 1000; // ms in which further changes join an update
const minDelay = 2000; // ms before the first try after a failure; each further failure doubles it
const maxDelay = 60_000;
const page = () => document.getElementById('main');
let source = null;
let address = ''; // address of source
let timer = 0;
let failures = 0; // failed updates and streams, one after another
let notBefore = 0; // performance.now() of the earliest next update

const isBusy = () => !getSelection().isCollapsed || Boolean(document.querySelector('dialog[open], .ticked:not([hidden]), .view[open], .menu:popover-open'))
  || document.activeElement.matches('input:not([type=checkbox]), textarea, select');

// matters reports whether the page may differ after a change. It has the user's own changes already.
function matters({ type, id, operation, version }) {
  const shown = type === 'book' && page().querySelector(`[data-book="${id}"][data-version]`);
  return !shown || operation === 'DELETE' || version > Number(shown.dataset.version);
}

// update refreshes the page soon, and later if that fails or the user is busy.
function update() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (document.hidden) return; // close has ended the stream; the next one sends the change again
    if (isBusy()) return update();
    try {
      await refresh();
      notBefore = 0;
      if (source?.readyState === EventSource.OPEN) failures = 0;
      open(); // if the stream has ended
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
  source?.close();
  source = null;
  clearTimeout(timer);
}

// open follows what the page shows, a book or all, from the position of the page, which has all changes before it.
function open() {
  const { live, position = '' } = page().dataset;
  const next = live && `/api/changes?${live === 'all' ? '' : `types=book&ids=${live}&`}after=${encodeURIComponent(position)}`;
  if (source && next === address) return;
  close();
  if (!live || document.hidden) return;
  address = next;
  source = new EventSource(address);
  source.onopen = () => { failures = 0; };
  source.onmessage = ({ data }) => { if (matters(JSON.parse(data))) update(); };
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return; // the browser connects again
    close();
    backOff(0);
    update(); // the server may not keep the position any more
  };
}

document.addEventListener('shown', open);
document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else open(); });
open();
