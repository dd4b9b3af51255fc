import { base64Texts } from './base64-texts.ts';

/** A stretch of a secret as long as this is as good as the secret to whoever guesses the rest. */
const stretch = 12;
/** A shorter secret has no part that is worth finding; a longer one is no key, and its parts are text like any. */
const [minLength, maxLength] = [20, 256];

/** Every run of characters that betrays a part of a secret: of itself in any case, and of its base64 forms. */
export function stretchesOf(secret: string): string[] {
  if (secret.length < minLength || secret.length > maxLength) return [];
  const cases = [secret, secret.toLowerCase(), secret.toUpperCase()];
  const written = [secret, ...cases.flatMap(base64Texts)].map(folded);
  return written.flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - stretch + 1) }, (_, at) => text.slice(at, at + stretch)),
  );
}

/** One case, and one alphabet for base64 and base64url. Only ASCII, so that each character keeps its place. */
const folded = (text: string): string =>
  text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

/** Replaces what is covered by stretches; the time is linear in the text. */
export function withoutStretches(text: string, stretches: ReadonlySet<string>, instead: string): string {
  if (stretches.size === 0 || text.length < stretch) return text;
  const { plain, startOf } = unescaped(text);
  const searched = folded(plain);
  let kept = '';
  let done = 0;
  for (let at = 0; at + stretch <= searched.length; at += 1) {
    if (!stretches.has(searched.slice(at, at + stretch))) continue;
    let end = at + stretch;
    while (end < searched.length && stretches.has(searched.slice(end - stretch + 1, end + 1))) end += 1;
    kept += text.slice(done, startOf(at)) + instead;
    done = startOf(end);
    at = end - 1;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** A character written by its number in a URL (encoded once or more often), in JSON or in HTML. */
const numbered =
  /%(?:25)*([0-9a-f]{2})|\\{1,8}u00([0-9a-f]{2})|&(?:amp;)*#(?:x0{0,4}([0-9a-f]{2})|0{0,4}(\d{2,3}));/gi;

/** A text without such escapes, and where each of its characters starts in the text as it was given. */
function unescaped(text: string): { readonly plain: string; readonly startOf: (at: number) => number } {
  if (!/[%\\&]/.test(text)) return { plain: text, startOf: (at) => at };
  const starts: number[] = [];
  let plain = '';
  let done = 0;
  const copy = (until: number): void => {
    for (let at = done; at < until; at += 1) starts.push(at);
    plain += text.slice(done, until);
    done = until;
  };
  for (const match of text.matchAll(numbered)) {
    copy(match.index);
    const [whole, inUrl, inJson, inHtml, decimal = ''] = match;
    const code = Number.parseInt(inUrl ?? inJson ?? inHtml ?? decimal, decimal === '' ? 16 : 10);
    starts.push(match.index);
    plain += String.fromCharCode(code);
    done = match.index + whole.length;
  }
  copy(text.length);
  return { plain, startOf: (at) => starts[at] ?? text.length };
}
