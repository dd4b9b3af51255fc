/** How many columns of a terminal a text takes. */
export type Measure = (text: string) => number;

/**
 * Texts whose every UTF-16 unit takes one column: ASCII, Latin, typographic punctuation, currency signs, and the
 * pictures that `safeText` writes. Most texts are such, and then nothing need be loaded (25 ms).
 */
const narrow =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u203b\u203d-\u2048\u204a-\u205e\u20a0-\u20c0\u23ce\u2400-\u2426]*$/;

export const isNarrow = (text: string): boolean => narrow.test(text);

/** A measure that is right for these texts, and for any once one of them needed it. */
export async function measureFor(texts: Iterable<string>): Promise<Measure> {
  for (const text of texts) if (!isNarrow(text)) return await fullMeasure();
  return (text) => text.length;
}

/** A measure that is right for any text. */
export async function fullMeasure(): Promise<Measure> {
  const { default: stringWidth } = await import('string-width');
  return (text) => (isNarrow(text) ? text.length : stringWidth(text));
}

/** The text within `width` columns, ending in `…` where it was cut; never half a character, nor half an emoji. */
export function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  if (width < 1) return '';
  if (isNarrow(text)) return `${text.slice(0, width - 1)}…`;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += measure(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The end of the text within `width` columns, beginning with `…` where it was cut. */
export function cutStart(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text;
  if (width < 1) return '';
  const segments = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  let used = 0;
  const kept = segments.findLastIndex((segment) => {
    used += measure(segment);
    return used > width - 1;
  });
  return `…${segments.slice(kept + 1).join('')}`;
}

/** The text with spaces up to `width` columns; longer text stays as it is. */
export function pad(text: string, width: number, side: 'left' | 'right', measure: Measure): string {
  const spaces = ' '.repeat(Math.max(0, width - measure(text)));
  return side === 'left' ? text + spaces : spaces + text;
}
