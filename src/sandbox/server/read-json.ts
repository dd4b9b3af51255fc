import { Invalid } from './refusal.ts';

const deepest = 100;
const decoder = new TextDecoder('utf-8', { fatal: true });

export interface JsonLimits {
  /** Of any one list or object. */
  readonly entries: number;
  /** Of all of them together. */
  readonly values: number;
}

/**
 * The JSON of a request body. Refused with 422: text that is not UTF-8 or not JSON, a key given twice, `__proto__`,
 * nesting deeper than 100 levels, and more than there may be in it. @throws Invalid.
 */
export function readJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw malformed('the body is not UTF-8 text', 'json_invalid');
  }
  guard(text, limits);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed(
      `JSON decode error: ${error instanceof Error ? error.message : String(error)}`,
      'json_invalid',
    );
  }
}

const malformed = (msg: string, type: string): Invalid => new Invalid([{ loc: ['body'], msg, type }]);

const marks = '{}[]:,';

/** A list or an object that is not closed yet. */
interface Open {
  /** The key that it stands under; undefined in a list. */
  readonly name: string | undefined;
  /** Of an object. */
  readonly keys: Set<string> | undefined;
  entries: number;
}

/** One pass over the text, before anything is built of it: depth, and the keys and entries of each list and object. */
function guard(text: string, limits: JsonLimits): void {
  const open: Open[] = [];
  // The last string, where nothing but space has come behind it; its end is 0 for none.
  let [start, end] = [0, 0];
  let name: string | undefined;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') {
      [start, end] = [at, endOfString(text, at)];
      at = end - 1;
      continue;
    }
    if (!marks.includes(mark)) continue;
    const within = open.at(-1);
    if (mark === '{' || mark === '[') {
      open.push({ name, keys: mark === '{' ? new Set() : undefined, entries: 1 });
      if (open.length > deepest) throw malformed(`nested deeper than ${deepest} levels`, 'recursion_loop');
    } else if (mark === '}' || mark === ']') open.pop();
    else if (mark === ',' && within) {
      within.entries += 1;
      values += 1;
      if (within.entries > limits.entries) throw tooLong(open, limits.entries);
      if (values > limits.values)
        throw malformed(`the body should have at most ${limits.values} values`, 'too_long');
    } else if (mark === ':' && end > 0) name = noteKey(within?.keys, text.slice(start, end));
    if (mark !== ':') name = undefined;
    end = 0;
  }
}

function tooLong(open: readonly Open[], most: number): Invalid {
  const names = open.flatMap(({ name }) => (name === undefined ? [] : [name]));
  const what = open.at(-1)?.keys ? 'Dictionary' : 'List';
  return new Invalid([
    { loc: ['body', ...names], msg: `${what} should have at most ${most} items`, type: 'too_long' },
  ]);
}

/** The index behind the string that begins at `start`; the text's end where it is not closed. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote;
  }
  return text.length;
}

/** @returns the key. */
function noteKey(keys: Set<string> | undefined, token: string): string {
  const key = unquoted(token);
  if (key === '__proto__') throw malformed('the key __proto__ is not permitted', 'extra_forbidden');
  if (keys?.has(key)) throw malformed(`the key ${token} is given twice`, 'duplicate_key');
  keys?.add(key);
  return key;
}

function unquoted(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
