// The texts of the scripts in the language of the page. The key of a text is its English format, with the verbs of fmt.
const english = {}; // the server puts in the file of English
const tag = document.documentElement.lang;
const texts = tag === 'en' ? english : await fetch(new URL(`./${tag}.json`, import.meta.url)).then((response) => response.json()).catch(() => english);
const rules = new Intl.PluralRules(tag);

// number returns a number as the language writes it.
export const number = (value) => value.toLocaleString(tag);

// point is the sign before decimals.
export const point = number(1.5)[1];

// time returns the time of a moment as the language writes it.
export const time = (moment, properties) => new Date(moment).toLocaleTimeString(tag, { hour: '2-digit', minute: '2-digit', ...properties });

const dates = new Intl.DateTimeFormat(tag === 'en' ? 'en-GB' : tag, { dateStyle: 'long', timeZone: 'UTC' });

// date returns a day, or a moment in UTC, as the language writes it. Its text is in the format of ISO 8601.
export function date(text) {
  const day = dates.format(new Date(text));
  return text.includes('T') ? `${day}, ${time(text, { hourCycle: 'h23', timeZone: 'UTC' })} UTC` : day;
}

// places returns the parts of a format, with arguments in place of its verbs. An argument may be a node of the page.
export function places(format, ...args) {
  let next = 0;
  return format.split(/(%(?:\[\d\])?[sdq])/).map((part, i) => {
    if (i % 2 === 0) return part;
    const arg = args[part[1] === '[' ? part[2] - 1 : next++];
    return part.endsWith('q') ? `"${arg}"` : arg;
  });
}

// plain returns an argument as a text. One of a message of the server may be a message too.
const plain = (arg) => typeof arg === 'number' ? number(arg) : arg?.key ? said(arg) : arg;

const format = (text, args) => args.length ? places(text, ...args.map(plain)).join('') : text;

// t returns the text of a key with arguments.
export const t = (key, ...args) => format(texts[key]?.other ?? (texts[key] || key), args);

// n returns the text of a key for a count, which is its first argument.
export const n = (key, count, ...args) => format(texts[key]?.[rules.select(count)] || texts[key]?.other || key, [count, ...args]);

// said returns the text of a message of the server.
export const said = ({ key, args }) => t(key, ...args);

// byKey is the header of requests whose errors have messages by key beside those in English.
export const byKey = { 'Catalogue-Texts': 'report' };
