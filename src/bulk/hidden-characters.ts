import { invisibleAstral, invisibleBmp } from '../platform/redact/safe-text.ts';

const invisible = new RegExp(`[${invisibleBmp}${invisibleAstral}]`, 'gu');
/** Looks like a space and is none. */
const oddSpace = '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';
const hidden = new RegExp(`[${oddSpace}${invisibleBmp}${invisibleAstral}]`, 'gu');
const plain = /^[\x20-\x7e]*$/;

const names: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u00ad': 'a soft hyphen',
  '\u200b': 'a zero-width space',
  '\u200e': 'a left-to-right mark',
  '\u200f': 'a right-to-left mark',
  '\u202f': 'a narrow no-break space',
  '\ufeff': 'a byte order mark',
};

/** A text without what nobody sees in it. */
export const visible = (text: string): string => (plain.test(text) ? text : text.replace(invisible, ''));

/** The first character of a text that is not what a person sees: `a no-break space (U+00A0)`; undefined without one. */
export function hiddenIn(text: string): string | undefined {
  const [found] = plain.test(text) ? [] : (text.match(hidden) ?? []);
  if (found === undefined) return undefined;
  const number = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${names[found] ?? 'an invisible character'} (U+${number})`;
}
