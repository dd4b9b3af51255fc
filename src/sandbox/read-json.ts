import { Invalid } from './refusal.ts';

const deepest = 100;

/**
 * The JSON of a request body. Refused with 422: text that is not UTF-8 or not JSON, a key given twice, `__proto__`,
 * and nesting deeper than 100 levels. @throws Invalid.
 */
export function readJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed('the body is not UTF-8 text', 'json_invalid');
  }
  guard(text);
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

const marks = /["{}[\]:,]/g;

/** One pass over the marks, before anything is built of them: depth, and the keys of each open object. */
function guard(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let lastString: string | undefined;
  marks.lastIndex = 0;
  for (let found = marks.exec(text); found; found = marks.exec(text)) {
    const [mark] = found;
    if (mark === '"') {
      const end = endOfString(text, found.index);
      lastString = text.slice(found.index, end);
      marks.lastIndex = end;
      continue;
    }
    if (mark === '{' || mark === '[') {
      open.push(mark === '{' ? new Set() : undefined);
      if (open.length > deepest) throw malformed(`nested deeper than ${deepest} levels`, 'recursion_loop');
    } else if (mark === '}' || mark === ']') open.pop();
    else if (mark === ':' && lastString !== undefined) noteKey(open.at(-1), lastString);
    lastString = undefined;
  }
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

function noteKey(keys: Set<string> | undefined, token: string): void {
  const key = unquoted(token);
  if (key === '__proto__') throw malformed('the key __proto__ is not permitted', 'extra_forbidden');
  if (keys?.has(key)) throw malformed(`the key ${token} is given twice`, 'duplicate_key');
  keys?.add(key);
}

function unquoted(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
