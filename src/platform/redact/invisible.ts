/**
 * Characters that a terminal obeys or does not show: C1 controls and DEL, bidirectional controls, zero-width and other
 * default-ignorable characters, line separators, tags. Written as the inside of a character class.
 *
 * Variation selectors U+FE00–FE0F are not among them: after an emoji they are part of its spelling.
 */
export const invisibleBmp =
  '\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb';

/** The same beyond the first plane; for expressions with the `u` flag. */
export const invisibleAstral = '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';

/** The same as pairs of surrogates; for expressions without the `u` flag, which are several times faster. */
export const invisiblePairs =
  '\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]|[\\udb40-\\udb43][\\udc00-\\udfff]';
