import { domainToUnicode } from 'node:url';
import { unescapedTwice, withPlainLetters } from '../../platform/net/urls.ts';

/** A scheme, a plain host with or without a port, then what belongs to the host alone. */
const plainSpelling = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

/**
 * Whether every reader of a URL finds the same host in it: a user name, a backslash or a blank is read in several ways,
 * so that what is judged here need not be what is ordered there.
 */
export const isPlainUrl = (url: string): boolean => plainSpelling.test(url) && URL.canParse(url);

/** A URL in one spelling: host without a dot at its end, no user name, usual escapes. The text itself where it is no URL. */
export function plainUrl(text: string): string {
  const url = parsed(text);
  return url ? url.href : text;
}

/** The same for comparing products: besides, neither scheme nor fragment, and letters and digits are not escaped. */
export function productOf(text: string): string {
  const url = parsed(text);
  if (!url) return text;
  const path = withPlainLetters(url.pathname).replace(/%[0-9a-f]{2}/gi, (found) => found.toUpperCase());
  return `${url.host}${path}${url.search}`;
}

/** In lower case, without a dot at its end; the text itself where it is no URL. */
export const hostOf = (text: string): string => parsed(text)?.hostname ?? text;

/** Every spelling of a URL that a pattern may be written for, in lower case. */
export function spellingsOf(text: string): string[] {
  const url = parsed(text);
  const forms = [text];
  if (url) {
    const unicode = `${url.protocol}//${domainToUnicode(url.hostname)}${url.pathname}${url.search}${url.hash}`;
    forms.push(url.href, unicode, `${url.protocol}//${url.hostname}${url.pathname}${url.search}${url.hash}`);
  }
  return [...new Set(forms.flatMap((form) => [form, unescapedTwice(form)]).map(comparable))];
}

/** What is compared: however it is capitalised, and however its accents are composed. */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase();

function parsed(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.username = '';
  url.password = '';
  const host = url.hostname.replace(/(?<!\.)\.+$/, '');
  if (host !== '') url.hostname = host;
  return url;
}
