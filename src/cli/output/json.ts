import type { Format } from '../../format/result.ts';
import { invisibleBmp, invisiblePairs } from '../../platform/redact/safe-text.ts';

/**
 * Fast pre-check that runs on every record. It is a single character class, which V8 matches at memory speed. It may
 * also match surrogates that need no escape.
 */
const mayHide = new RegExp(`[${invisibleBmp}\\ud82f\\ud834\\udb40-\\udb43]`);
const hidden = new RegExp(`[${invisibleBmp}]|${invisiblePairs}`, 'g');

/**
 * Serializes to JSON. Every character that a terminal would interpret or hide is escaped as `\uXXXX` (JSON itself
 * already escapes C0). The result is the same document, but safe to display.
 */
export const toJson = (value: unknown): string => escapeHidden(spell(value));

const spell = (value: unknown, indent?: number): string => JSON.stringify(value, undefined, indent) ?? 'null';

const escapeHidden = (json: string): string => (mayHide.test(json) ? json.replace(hidden, escaped) : json);

const escaped = (found: string): string =>
  Array.from(
    { length: found.length },
    (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');

/** Prints a single array, byte-identical to `JSON.stringify(all, null, 2)` but written record by record. */
export function jsonFormat(project: (row: unknown) => unknown): Format {
  return {
    row: (value, index) => (index === 0 ? '[\n' : ',\n') + element(project(value)),
    end: (count) => (count === 0 ? '[]\n' : '\n]\n'),
    whole: (value) => `${spell(project(value), 2)}\n`,
    scrub: escapeHidden,
  };
}

/** Formats a value as an indented array element, without the array's brackets and line breaks. */
const element = (value: unknown): string => spell([value], 2).slice(2, -2);

/** One record per line. */
export function ndjsonFormat(project: (row: unknown) => unknown): Format {
  const line = (value: unknown): string => `${spell(project(value))}\n`;
  return { row: line, end: () => '', whole: line, scrub: escapeHidden };
}
