import { base64Texts } from './base64-texts.ts';

/** A shorter secret is found only where it stands alone: within words it would be found everywhere. */
export const shortestWithinWords = 6;
const shortest = 3;

/** One way to write a secret. A pattern takes milliseconds to compile, so it is made for the first text that may need it. */
export interface Form {
  /** How it stands in a text without escapes and line breaks; undefined where that is no single text. */
  readonly literal?: string;
  /** Line breaks may interrupt base64; every other form may be escaped. */
  readonly isBase64?: boolean;
  readonly pattern: () => RegExp;
}

const lineBreaks = /\r?\n/g;

/** Replaces each form. */
export function withoutForms(text: string, forms: readonly Form[], instead: string): string {
  const isEscaped = /[%\\&+]/.test(text);
  const unbroken = text.replace(lineBreaks, '');
  return forms.reduce((rest, { literal, isBase64, pattern }) => {
    if (literal === undefined) return rest.replace(pattern(), instead);
    const needsPattern = isBase64 ? unbroken !== text && unbroken.includes(literal) : isEscaped;
    return needsPattern ? rest.replace(pattern(), instead) : rest.replaceAll(literal, instead);
  }, text);
}

function onDemand(make: () => RegExp): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= make();
    return pattern;
  };
}

/**
 * Patterns that find a secret however a URL, a form, JSON, HTML or base64 writes it. Each character of a pattern stands
 * for itself and its escapes, so that no mixture of them gets through, and none of the patterns can backtrack far.
 */
export function encodedForms(secret: string): Form[] {
  if (secret.length < shortest) return [];
  const plain = (): string => (secret.match(/\\+|./gsu) ?? []).map(tolerant).join('');
  if (secret.length < shortestWithinWords)
    return [{ pattern: onDemand(() => new RegExp(`(?<![\\p{L}\\p{N}])${plain()}(?![\\p{L}\\p{N}])`, 'gu')) }];
  // Base64 is of a text that may have been written as JSON or as a part of a URL before.
  const spelled = new Set([secret, JSON.stringify(secret).slice(1, -1), urlText(secret)]);
  return [
    { literal: secret, pattern: onDemand(() => new RegExp(plain(), 'g')) },
    ...[...spelled].flatMap(base64Forms),
  ];
}

/** Half of a surrogate pair cannot stand in a URL. */
const urlText = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A mail or a certificate breaks long base64 into lines. */
const lineBreak = '(?:\\r?\\n)?';

function base64Forms(text: string): Form[] {
  return base64Texts(text).flatMap((sure) => {
    if (sure.length < shortestWithinWords) return [];
    const pattern = onDemand(() => new RegExp(Array.from(sure, base64Character).join(lineBreak), 'g'));
    return [/[+/]/.test(sure) ? { pattern } : { literal: sure, isBase64: true, pattern }];
  });
}

/** base64url writes two characters differently, and a URL escapes what base64 has beside letters and digits. */
function base64Character(character: string): string {
  if (character === '+' || character === '-') return '(?:\\+|-|%2[Bb])';
  if (character === '/' || character === '_') return '(?:/|_|%2[Ff])';
  return character;
}

/** JSON within JSON doubles its backslashes each time. */
const backslashes = '\\\\{1,8}';

/** One character, or a run of backslashes, as itself and as it is written elsewhere. */
function tolerant(character: string): string {
  if (character.startsWith('\\')) return tolerantBackslashes(character.length);
  const itself = character.replace(/[$^.*+?()[\]{}|/-]/g, '\\$&');
  const form = formEscapes[character];
  return `(?:${[...escapes(character), ...(form === undefined ? [] : [form]), itself].join('|')})`;
}

/** A run is taken as one: of its backslashes each could be escaped or not, and trying all that takes for ever. */
const tolerantBackslashes = (count: number): string =>
  `(?:(?:${escapes('\\').join('|')}){${count}}|\\\\{${count},${8 * count}})`;

/** A character percent-encoded (once or more often), by its number as in JSON, and by its number as in HTML. */
function escapes(character: string): string[] {
  const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)*${hex(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const json = units.map((unit) => `${backslashes}u${hex(unit, 4)}`).join('');
  const code = character.codePointAt(0) ?? 0;
  return [percent, json, `&(?:amp;)*#(?:0*${code}|[xX]0*${hex(code, 1)});`];
}

/** What one notation has a short form for. */
const formEscapes: Readonly<Record<string, string>> = {
  ' ': '\\+',
  '"': `${backslashes}"|&(?:amp;)*quot;`,
  '&': '&(?:amp;)+',
  '<': '&(?:amp;)*lt;',
  '>': '&(?:amp;)*gt;',
  "'": '&(?:amp;)*apos;',
  '/': `${backslashes}/`,
  '\n': `${backslashes}n`,
  '\r': `${backslashes}r`,
  '\t': `${backslashes}t`,
  '\b': `${backslashes}b`,
  '\f': `${backslashes}f`,
};

/** A number in hexadecimal, in either case. */
function hex(value: number, digits: number): string {
  return Array.from(value.toString(16).padStart(digits, '0'), (digit) =>
    /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit,
  ).join('');
}
