// Scanning: the camera reads the barcode of a book, which leads to the book.
import { announce } from './visit.js';

const isISBN = (text) => /^97[89]\d{10}$/.test(text);
const pause = 150; // milliseconds between two looks

// scan shows the picture of the camera until it has an ISBN, or the user cancels.
export async function scan() {
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  } catch {
    return announce('The camera is not available. Allow it in the browser, or type the ISBN.', true, { bad: true });
  }
  const dialog = document.createElement('dialog');
  dialog.className = 'scan-dialog';
  dialog.setAttribute('aria-labelledby', 'scan-title');
  dialog.innerHTML = '<h2 id="scan-title">Hold the barcode before the camera</h2><video playsinline muted></video><p class="buttons"><button type="button" class="button">Cancel</button></p>';
  dialog.querySelector('button').onclick = () => dialog.close();
  dialog.addEventListener('close', () => {
    for (const track of stream.getTracks()) track.stop();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  const video = dialog.querySelector('video');
  video.srcObject = stream;
  await video.play();
  const detector = new BarcodeDetector({ formats: ['ean_13'] });
  while (dialog.open) {
    const codes = await detector.detect(video).catch(() => []); // before the first picture
    const isbn = codes.map(({ rawValue }) => rawValue).find(isISBN);
    if (isbn && dialog.open) {
      dialog.close();
      return location.assign(`/isbn/${isbn}`);
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}
