// Reads the barcodes of pictures with zxing-wasm, as a worker of scan.js. Only this worker may run WebAssembly, by its own
// Content-Security-Policy.
importScripts('zxing_reader.js');

ZXingWASM.prepareZXingModule({ overrides: { locateFile: (name) => name } });

onmessage = async ({ data }) => {
  const codes = await ZXingWASM.readBarcodes(data, { formats: ['EAN13'] }).catch(() => null);
  postMessage(codes?.map(({ text }) => text)); // nothing: the reader did not load
};
