// Scanning: the camera reads the barcodes of books.
import { t } from './language.js';
import { announce } from './visit.js';

const pause = 150; // milliseconds between two looks
const absence = 3000; // milliseconds without a code, before it counts again

// noCamera returns why there is no camera; empty: there may be one.
export const noCamera = () => navigator.mediaDevices ? '' : t('Browsers open the camera at https addresses only. Open the catalogue at one, or type the ISBN.');

// isISBN reports whether a barcode is an ISBN with a right check digit (ISO 2108).
const isISBN = (text) => /^97[89]\d{10}$/.test(text) && [...text].reduce((sum, digit, i) => sum + digit * (i % 2 ? 3 : 1), 0) % 10 === 0;

// scan shows the picture of the camera and calls take with each ISBN that it reads. The dialog closes unless take returns
// true or a promise of true, and when the page is hidden or left. The ISBN taken before counts as one that stays there.
export async function scan(take, before) {
  if (noCamera()) return announce(noCamera(), true, { bad: true });
  if (document.querySelector('.scan-dialog')) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'scan-dialog';
  dialog.setAttribute('aria-labelledby', 'scan-title');
  dialog.innerHTML = `<h2 id="scan-title">${t('Hold the barcode before the camera')}</h2><video playsinline muted></video><p class="soft" role="status"></p><p class="buttons"><button type="button" class="button">${t('Close')}</button></p>`;
  const close = () => dialog.close();
  const closed = new Promise((resolve) => dialog.addEventListener('close', resolve));
  const listening = new AbortController();
  const { signal } = listening;
  document.addEventListener('visibilitychange', close, { signal });
  addEventListener('popstate', close, { signal }); // Back shows another page
  dialog.querySelector('button').onclick = close;
  document.body.append(dialog);
  dialog.showModal();
  const sound = new AudioContext(); // at a press, because later ones stay silent
  closed.then(() => {
    listening.abort();
    dialog.remove();
    setTimeout(() => sound.close(), 500); // after the last tone
  });
  try {
    for await (const isbn of read(dialog.querySelector('video'), closed, before)) {
      beep(sound);
      dialog.querySelector('[role=status]').textContent = `ISBN ${isbn}`;
      if (!await take(isbn)) return;
    }
  } finally {
    close();
  }
}

// read yields the ISBNs before the camera until closed. A code that stays there, or is back soon, counts once.
async function* read(video, closed, before) {
  let problem = t('The camera is not available. Allow it in the browser, or type the ISBN.');
  let isOpen = true;
  closed.then(() => { isOpen = false; });
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: 1280 } } });
    closed.then(() => { for (const track of stream.getTracks()) track.stop(); });
    if (!isOpen) return;
    video.srcObject = stream;
    await video.play();
    problem = t('The barcode reader did not load. Try again in a moment, or type the ISBN.');
    const detect = await newDetector(closed);
    for (const seen = new Map([[before, Date.now()]]); isOpen; await new Promise((done) => setTimeout(done, pause))) {
      const isbn = (await Promise.race([detect(video), closed.then(() => [])])).find(isISBN);
      if (!isbn || !isOpen) continue;
      const isNew = Date.now() - (seen.get(isbn) ?? 0) > absence;
      seen.set(isbn, Date.now());
      if (isNew) yield isbn;
    }
  } catch {
    if (isOpen) closed.then(() => announce(problem, true, { bad: true }));
  }
}

// newDetector returns a function that reads the EAN-13 codes of a picture: that of the browser, or a worker until closed.
async function newDetector(closed) {
  const formats = await globalThis.BarcodeDetector?.getSupportedFormats() ?? [];
  if (formats.includes('ean_13')) {
    const detector = new BarcodeDetector({ formats: ['ean_13'] });
    return async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue);
  }
  const worker = new Worker(new URL('./barcodes.js', import.meta.url));
  closed.then(() => worker.terminate());
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return (video) => new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data }) => data ? resolve(data) : reject();
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    context.drawImage(video, 0, 0);
    const picture = context.getImageData(0, 0, canvas.width, canvas.height);
    worker.postMessage(picture, [picture.data.buffer]);
  });
}

// beep makes a short tone and vibrates.
function beep(sound) {
  const tone = sound.createOscillator();
  const volume = sound.createGain();
  tone.frequency.value = 1000;
  volume.gain.value = 0.2;
  tone.connect(volume).connect(sound.destination);
  tone.start();
  tone.stop(sound.currentTime + 0.1);
  navigator.vibrate?.(100);
}
