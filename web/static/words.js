// The words of the pages for what the server says.
const labels = Object.entries(JSON.parse(document.body.dataset.labels)); // of fields, by the words of the server

// inWords returns a message of the server with the labels of the pages.
export const inWords = (text) => labels.reduce((text, [key, label]) => text.replaceAll(key, label).replaceAll(key.replaceAll(' ', '_'), label), text);

// known returns a day as the pages show it: 1 January as the year, because that stands for a year without month and day.
export const known = (text) => text.replace(/^(\d{4})-01-01$/, '$1');
