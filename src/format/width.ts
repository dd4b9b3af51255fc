/** Returns the width of a text in terminal columns. */
export type Measure = (text: string) => number;

/**
 * Matches texts in which every UTF-16 unit takes one column: ASCII, Latin, typographic punctuation, currency signs, and
 * the symbols that `safeText` and statuses use. Most texts match. For these, the width library (25 ms) need not be
 * loaded.
 */
const narrow =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u20a0-\u20c0\u23ce\u2400-\u2426\u25cb\u25cf\u2714\u2716]*$/;

export const isNarrow = (text: string): boolean => narrow.test(text);

/** Returns a measure that is correct for the given texts. Loads the full measure only if one of the texts needs it. */
export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) if (!isNarrow(text)) return await fullMeasure();
  return (text) => text.length;
}

/** Returns a measure that is correct for any text. */
export async function fullMeasure(): Promise<Measure> {
  const { default: stringWidth } = await import('string-width');
  return (text) => {
    if (isNarrow(text)) return text.length;
    return chunks(text).reduce((width, chunk) => width + stringWidth(chunk), 0);
  };
}

let segmenter: Intl.Segmenter | undefined;
/** Creates the segmenter only when it is needed. Creating it takes 13 ms, more than the rest of a cold start. */
const segmentsOf = (text: string): Intl.Segments => {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
};
/** Number of UTF-16 units to segment at once. It is limited, because the segmenter takes quadratic time. */
const chunkLength = 512;

/** Splits a text into parts, but never inside a character. */
function chunks(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const part = text.slice(at, at + chunkLength);
    const isLast = at + chunkLength >= text.length;
    const end = isLast ? part.length : lastBoundary(part);
    parts.push(part.slice(0, end));
    at += end;
  }
  return parts;
}

/**
 * Index at which a part's last character starts. The cut may have split that character. If the part is a single
 * character, the character counts as complete.
 */
function lastBoundary(part: string): number {
  let last = 0;
  for (const { index } of segmentsOf(part)) last = index;
  return last === 0 ? part.length : last;
}

const characters = (text: string): string[] =>
  chunks(text).flatMap((chunk) => Array.from(segmentsOf(chunk), ({ segment }) => segment));

/** Truncates a text to `width` columns, with `…` at the end. Never splits a character or an emoji. */
export function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  if (width < 1) return '';
  if (isNarrow(text)) return `${text.slice(0, width - 1)}…`;
  let fitting = '';
  let used = 0;
  for (const character of characters(text)) {
    used += measure(character);
    if (used > width - 1) break;
    fitting += character;
  }
  return `${fitting}…`;
}

/** Schemes that are not displayed: `https://`, and `http://` for this machine. */
const secure = /^(?:https:\/\/|http:\/\/(?=(?:127\.0\.0\.1|localhost|\[::1\])(?:[:/]|$)))/i;

/** Host of an address with the slash after it; undefined for other text, such as a title. */
function hostOf(text: string): string | undefined {
  const scheme = /^http:\/\//i.exec(text)?.[0] ?? '';
  const slash = text.indexOf('/', scheme.length);
  const host = text.slice(0, slash < 0 ? text.length : slash + 1);
  return /\s/.test(text) || !/[.:]/.test(host.slice(scheme.length)) ? undefined : host;
}

/** Matches `2 x https://shop.example/p/tea`: quantity and product. */
const product = /^(\d{1,9} x )?(.*)$/s;
const separator = ', ';
const more = `${separator}…`;

/**
 * Minimum number of columns in which the host stays visible, if a text starts with an address; 0 if it starts with
 * anything else.
 */
export function minUrlWidth(text: string, measure: Measure): number {
  const [first = '', ...others] = text.split(separator);
  const [, count = '', name = ''] = product.exec(first) ?? [];
  const bare = name.replace(secure, '');
  const host = hostOf(bare);
  if (host === undefined) return 0;
  const end = others.length > 0 ? more.length : 0;
  return count.length + Math.min(measure(bare), measure(host) + 1) + end;
}

/**
 * Fits an address, or products such as `2 x ADDRESS, TITLE`, into `width` columns. Drops schemes first, then cuts paths
 * in the middle. If the host of an address does not fit, omits the address; of the first address, keeps the end of the
 * host instead. Cuts any other text at its end.
 */
export function cutUrl(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  const products = text.split(separator).map((one) => one.replace(product, withoutScheme));
  let line = '';
  for (const [at, name] of products.entries()) {
    const before = at === 0 ? '' : line + separator;
    const end = at === products.length - 1 ? '' : more;
    const room = width - measure(before) - end.length;
    if (measure(name) <= room) {
      line = before + name;
      continue;
    }
    const minWidth = minUrlWidth(name, measure);
    if (minWidth === 0) line = before + products.slice(at).join(separator);
    else if (at > 0 && minWidth > room) line += more;
    else line = before + cutProduct(name, room, measure) + end;
    break;
  }
  return cut(line, width, measure);
}

const withoutScheme = (_: string, count = '', name = ''): string => count + name.replace(secure, '');

function cutProduct(text: string, width: number, measure: Measure): string {
  const [, count = '', bare = ''] = product.exec(text) ?? [];
  return count + cutAddress(bare, width - count.length, measure);
}

function cutAddress(bare: string, width: number, measure: Measure): string {
  const host = hostOf(bare);
  if (host === undefined) return cut(bare, width, measure);
  const room = width - measure(host);
  if (host === bare || room < 1) return cutStart(host, width, measure);
  return `${host}${cutStart(bare.slice(host.length), room, measure)}`;
}

/** Truncates a text to its last `width` columns, with `…` at the start. */
export function cutStart(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  if (width < 1) return '';
  if (isNarrow(text)) return `…${text.slice(text.length - width + 1)}`;
  const all = characters(text);
  let used = 0;
  const fitting = all.findLastIndex((character) => {
    used += measure(character);
    return used > width - 1;
  });
  return `…${all.slice(fitting + 1).join('')}`;
}

/** Truncates a text to `width` columns, with `…` in the middle. */
export function cutMiddle(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  const end = Math.floor(Math.max(0, width - 1) / 2);
  return cut(text, width - end, measure) + cutStart(text, end + 1, measure).slice(1);
}

/** Pads a text with spaces to `width` columns. A longer text stays unchanged. */
export function pad(text: string, width: number, side: 'left' | 'right', measure: Measure): string {
  const spaces = ' '.repeat(Math.max(0, width - measure(text)));
  return side === 'left' ? text + spaces : spaces + text;
}

/** Wraps a text between words to lines of at most `width` columns. A longer word stays whole. */
export function breakWords(text: string, width: number, measure: Measure): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && measure(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Wraps a cell between words, then inside compound names such as `out_of_stock`. Truncates what still does not fit. */
export function breakCell(text: string, width: number, measure: Measure): string[] {
  return breakWords(text, width, measure).flatMap((line) => {
    if (measure(line) <= width) return [line];
    const lines: string[] = [];
    for (const part of line.split(/(?<=[_-])/)) {
      const longer = (lines.at(-1) ?? '') + part;
      if (lines.length > 0 && measure(longer) <= width) lines[lines.length - 1] = longer;
      else lines.push(part);
    }
    return lines.map((part) => cut(part, width, measure));
  });
}
