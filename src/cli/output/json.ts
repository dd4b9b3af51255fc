import type { Format } from '../../format/result.ts';
import { invisibleBmp, invisiblePairs } from '../../platform/redact/safe-text.ts';

/** Every record is tested, so this is one class, which V8 runs at memory speed; it lets a few pairs through in vain. */
const mayHide = new RegExp(`[${invisibleBmp}\\ud82f\\ud834\\udb40-\\udb43]`);
const hidden = new RegExp(`[${invisibleBmp}]|${invisiblePairs}`, 'g');

/** JSON with what a terminal would obey or hide written as `\uXXXX` (C0 is so already): the same document, safe to look at. */
export const toJson = (value: unknown): string => escapeHidden(spell(value));

const spell = (value: unknown, indent?: number): string => JSON.stringify(value, undefined, indent) ?? 'null';

const escapeHidden = (json: string): string => (mayHide.test(json) ? json.replace(hidden, escaped) : json);

const escaped = (found: string): string =>
  Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');

/** One array, byte for byte what `JSON.stringify(all, null, 2)` gives, written record by record. */
export function jsonFormat(project: (row: unknown) => unknown): Format {
  return {
    row: (value, index) => (index === 0 ? '[\n' : ',\n') + element(project(value)),
    end: (count) => (count === 0 ? '[]\n' : '\n]\n'),
    whole: (value) => `${spell(project(value), 2)}\n`,
    scrub: escapeHidden,
  };
}

/** A value indented as an element of the array: the array's own brackets and breaks cut off. */
const element = (value: unknown): string => spell([value], 2).slice(2, -2);

/** One record a line. */
export function ndjsonFormat(project: (row: unknown) => unknown): Format {
  const line = (value: unknown): string => `${spell(project(value))}\n`;
  return { row: line, end: () => '', whole: line, scrub: escapeHidden };
}
