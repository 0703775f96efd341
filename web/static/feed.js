// Lists and books update themselves: they follow the feed of changes while they are visible.
import { refresh } from './visit.js';

const gather = 1000; // ms in which further changes join an update
const restart = 15_000; // ms before a new stream after one that ended
const page = () => document.getElementById('main');
let source = null;
let address = ''; // of source, without its position
let position = ''; // after which the stream resumes; the page has all changes before it
let timer = 0;

const isBusy = () => !getSelection().isCollapsed || Boolean(document.querySelector('dialog[open], .tick:checked, .view[open], .menu:popover-open'))
  || document.activeElement.matches('input:not([type=checkbox]), textarea, select');

// matters reports whether the page may differ after a change. It has the user's own changes already.
function matters({ type, id, operation, version }) {
  const shown = type === 'book' && page().querySelector(`[data-book="${id}"][data-version]`);
  return !shown || operation === 'DELETE' || version > Number(shown.dataset.version);
}

function update() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (document.hidden) return; // close has ended the stream
    if (isBusy() || !await refresh().catch(() => false)) update();
  }, gather);
}

function close() {
  source?.close();
  source = null;
  clearTimeout(timer);
}

// open follows what the page shows: a book, or all.
function open() {
  const { live, position: start = '' } = page().dataset;
  const next = live && `/api/changes?${live === 'all' ? '' : `types=book&ids=${live}&`}after=`;
  if (source && next === address) return;
  close();
  if (!live || document.hidden) return;
  address = next;
  position ||= start;
  source = new EventSource(address + encodeURIComponent(position));
  source.onmessage = ({ data, lastEventId }) => {
    position = lastEventId;
    if (matters(JSON.parse(data))) update();
  };
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return; // the browser connects again
    close();
    position = ''; // it may not be kept any more
    timer = setTimeout(() => refresh().catch(() => false).then(open), restart);
  };
}

document.addEventListener('shown', open);
document.addEventListener('visibilitychange', () => { if (document.hidden) close(); else open(); });
open();
