/**
 * Characters that a terminal interprets or hides: C1 controls and DEL, bidirectional controls, zero-width and other
 * default-ignorable characters, line separators, tags. For use inside a character class.
 *
 * The variation selectors U+FE00–FE0F are not included, because they may be part of an emoji.
 */
export const invisibleBmp =
  '\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb';

/** Same as `invisibleBmp`, but for characters beyond the BMP. For expressions with the `u` flag. */
export const invisibleAstral = '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/**
 * Same as `invisibleAstral`, but as surrogate pairs. For expressions without the `u` flag, which are several times
 * faster.
 */
export const invisiblePairs =
  '\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|[\\udb40-\\udb43][\\udc00-\\udfff]';

const plain = /^[\x20-\x7e]*$/;
const pictograph = '\\p{Extended_Pictographic}(?:\\ufe0f|[\\u{1f3fb}-\\u{1f3ff}])?';
/** An emoji sequence, including its joiners. */
const joinedEmoji = `${pictograph}(?:\\u200d${pictograph})+`;
const unsafe = new RegExp(
  `${joinedEmoji}|\\r\\n|[\\ufe00-\\ufe0f]{2,}|[\\x00-\\x1f${invisibleBmp}${invisibleAstral}\\ud800-\\udfff]`,
  'gu',
);

/**
 * Sanitizes untrusted text for one line of a terminal. Replaces every character that a terminal would interpret or hide
 * by something visible: a line break by `⏎`, other C0 controls by their picture (`␛`), and anything else by its code
 * point (`<U+202E>`). Takes linear time, and reads at most `limit` UTF-16 units.
 */
export function safeText(text: string, limit = 10_000): string {
  const short = text.length > limit ? `${cutWhole(text, limit)}…` : text;
  return plain.test(short) ? short : short.replace(unsafe, show);
}

/** Same as `safeText`, but for text of several lines. Line breaks and tabs stay, and nothing is truncated. */
export function safeLines(text: string): string {
  return text.replace(unsafe, (found) => {
    if (found === '\r\n') return '\n';
    return found === '\n' || found === '\t' ? found : show(found);
  });
}

function show(found: string): string {
  if (found === '\n' || found === '\r\n') return '⏎';
  const code = found.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  if (joined.test(found)) return found;
  return Array.from(found, numbered).join('');
}

const joined = new RegExp(`^${joinedEmoji}$`, 'u');

const numbered = (character: string): string =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;

/** The first `limit` UTF-16 units, without splitting a surrogate pair. */
function cutWhole(text: string, limit: number): string {
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}
