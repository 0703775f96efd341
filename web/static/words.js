// What pages say of the values of fields.
import { n, point, said, t } from './language.js';

// known returns a day as the pages show it: 1 January as the year, because that stands for a year without month and day.
export const known = (text) => text.replace(/^(\d{4})-01-01$/, '$1');

// shown returns a value of a field in a file as the pages show it.
export const shown = (field, text) => field === 'price' ? text.replace('.', point) : known(text);

// isbnSigns returns the digits of an ISBN, the last of which may be X.
export const isbnSigns = (text) => text.normalize('NFKC').toUpperCase().replace(/^\s*(URN:)?ISBN(-1[03])?:?/, '').replace(/[\s\p{Pd}]/gu, '');

// isbnProblem returns what is wrong with an ISBN (ISO 2108).
function isbnProblem(text) {
  const signs = isbnSigns(text);
  if (!/^\d*[\dX]$/.test(signs)) return t('An ISBN has digits and hyphens only. The last of 10 may be X.');
  if (![10, 13].includes(signs.length)) return n('This has %s digits. An ISBN has 10 or 13.', signs.length);
  if (signs.length === 13 && !/^97[89]/.test(signs)) return t('An ISBN of 13 digits begins with 978 or 979.');
  const sum = [...signs.slice(0, -1)].reduce((sum, digit, i) => sum + digit * (signs.length === 10 ? 10 - i : i % 2 ? 3 : 1), 0);
  const check = signs.length === 10 ? (11 - sum % 11) % 11 : (10 - sum % 10) % 10;
  return t('The last digit should be %s, or another digit is wrong.', check === 10 ? 'X' : check);
}

// problems are messages of the server about fields by key, and what pages say of the value instead.
const problems = {
  'The %s field is required.': () => t('Required'),
  'The selected %s is invalid.': () => t('Choose one that exists.'),
  'The %s field must be an integer.': () => t('Write a whole number, like 304.'),
  'The %s field must be a number.': () => t('Write an amount, like 15.71.'),
  'The %s field must be a valid date.': () => t('Write a year or a day, like 1969 or 1969-01-31.'),
  'The %s field must be a valid ISBN.': isbnProblem,
  'The %s field must be a valid language.': (value) => t('“%s” is not a language. Write its name or its code, like German or de.', value),
  'The %s field must be at least %s.': (value, least) => t('Write %s or more.', Number(least)),
  'The %s field must not be greater than %d characters.': (value, most) => t('Shorten this to %s characters. It has %s.', most, [...value].length),
  'The %s field must not be greater than %s.': (value, most) => t('Write %s or less.', Number(most)),
};

// fieldProblem says what is wrong with the value of a field, for a message of the server.
export const fieldProblem = (message, value = '') => problems[message.key]?.(value.trim(), message.args[1]) ?? said(message);
