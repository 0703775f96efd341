// The words of the pages for what the server says.
const labels = Object.entries(JSON.parse(document.body.dataset.labels)); // labels of fields, by the words of the server

// inWords returns a message of the server with the labels of the pages.
export const inWords = (text) => labels.reduce((text, [key, label]) => text.replaceAll(key, label).replaceAll(key.replaceAll(' ', '_'), label), text);

// known returns a day as the pages show it: 1 January as the year, because that stands for a year without month and day.
export const known = (text) => text.replace(/^(\d{4})-01-01$/, '$1');

const number = (text) => Number(text).toLocaleString('en');

// isbnProblem returns what is wrong with an ISBN (ISO 2108).
function isbnProblem(text) {
  const signs = text.normalize('NFKC').toUpperCase().replace(/^\s*(URN:)?ISBN(-1[03])?:?/, '').replace(/[\s\p{Pd}]/gu, '');
  if (!/^\d*[\dX]$/.test(signs)) return 'An ISBN has digits and hyphens only. The last of 10 may be X.';
  if (![10, 13].includes(signs.length)) return `This has ${signs.length} ${signs.length === 1 ? 'digit' : 'digits'}. An ISBN has 10 or 13.`;
  if (signs.length === 13 && !/^97[89]/.test(signs)) return 'An ISBN of 13 digits begins with 978 or 979.';
  const sum = [...signs.slice(0, -1)].reduce((sum, digit, i) => sum + digit * (signs.length === 10 ? 10 - i : i % 2 ? 3 : 1), 0);
  const check = signs.length === 10 ? (11 - sum % 11) % 11 : (10 - sum % 10) % 10;
  return `The last digit should be ${check === 10 ? 'X' : check}, or another digit is wrong.`;
}

// problems are the messages of the server about fields, and what pages say of the value instead.
const problems = [
  [/^The .+ field is required\.$/, () => 'Required'],
  [/^The selected .+ is invalid\.$/, () => 'Choose one that exists.'],
  [/^The .+ field must be an integer\.$/, () => 'Write a whole number, like 304.'],
  [/^The .+ field must be a number\.$/, () => 'Write an amount, like 15.71.'],
  [/^The .+ field must be a valid date\.$/, () => 'Write a year or a day, like 1969 or 1969-01-31.'],
  [/^The .+ field must be a valid ISBN\.$/, isbnProblem],
  [/^The .+ field must be a valid language\.$/, (value) => `“${value}” is not a language. Write its name or its code, like German or de.`],
  [/^The .+ field must be at least (\S+)\.$/, (value, least) => `Write ${number(least)} or more.`],
  [/^The .+ field must not be greater than (\d+) characters\.$/, (value, most) => `Shorten this to ${number(most)} characters. It has ${number([...value].length)}.`],
  [/^The .+ field must not be greater than (\S+)\.$/, (value, most) => `Write ${number(most)} or less.`],
];

// fieldProblem says what is wrong with the value of a field, for a message of the server.
export function fieldProblem(message, value = '') {
  for (const [pattern, words] of problems) {
    const match = pattern.exec(message);
    if (match) return words(value.trim(), match[1]);
  }
  return inWords(message);
}
