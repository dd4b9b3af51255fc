/** Format of a number in a cell, as far as it decides what the number means. */
export type NumberFormat =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date' | 'time' | 'date-time' | 'elapsed' }
  /** Digits at fixed places with text between them, such as `00000-0000` of a ZIP code. Zeros stand for the digits. */
  | { readonly kind: 'mask'; readonly mask: string }
  /** An amount, and the sign or code of its currency. */
  | { readonly kind: 'money'; readonly currency: string };

const plain: NumberFormat = { kind: 'plain' };

/** Formats that every workbook has, by their ids (ECMA-376, part 1, 18.8.30). */
const builtIn = new Map<number, NumberFormat>([
  ...[14, 15, 16, 17].map((id): [number, NumberFormat] => [id, { kind: 'date' }]),
  ...[18, 19, 20, 21, 45, 47].map((id): [number, NumberFormat] => [id, { kind: 'time' }]),
  [22, { kind: 'date-time' }],
  [46, { kind: 'elapsed' }],
  ...[5, 6, 7, 8, 44].map((id): [number, NumberFormat] => [id, { kind: 'money', currency: '$' }]),
]);

/** The format with an id. @param codes holds the codes of the workbook's own formats, by id. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): NumberFormat {
  const code = codes.get(id);
  return code === undefined ? (builtIn.get(id) ?? plain) : formatOfCode(code);
}

/** Maximum length of a format code in a spreadsheet, characters. */
const maxCodeLength = 255;

/** A part of a format's code: text that is shown as it stands, or a code. */
const partPattern =
  /"([^"]{0,255})"|\\(.)|\[\$([^\]-]{0,255})[^\]]{0,255}\]|_.|\*.|\[([^\]]{0,255})\]|([^"\\[_*])/gsu;

/** Reads the section of a format's code that is for positive numbers. */
export function formatOfCode(code: string): NumberFormat {
  let shown = '';
  let codes = '';
  let mask = '';
  let isElapsed = false;
  for (const [, quoted, escaped, currency, bracket, bare] of code
    .slice(0, maxCodeLength)
    .matchAll(partPattern)) {
    if (bare === ';') break;
    const text = quoted ?? escaped ?? currency;
    if (text !== undefined) {
      shown += text;
      // A zero in literal text is not a place for a digit.
      mask += text.replaceAll('0', '\u0000');
    } else if (bracket !== undefined) isElapsed ||= /^(?:h+|m+|s+)$/i.test(bracket);
    else if (bare !== undefined) {
      codes += bare;
      mask += bare;
      if (/\p{Sc}/u.test(bare)) shown += bare;
    }
  }
  if (isElapsed) return { kind: 'elapsed' };
  const currency = currencyOf(shown);
  if (currency !== undefined && /[0#?]/.test(codes)) return { kind: 'money', currency };
  if (/^[0 ()/-]+$/.test(codes) && /0{2,}/.test(codes)) return { kind: 'mask', mask: mask.trim() };
  const isGeneral = /general/i.test(codes);
  const [isDate, isTime] = [/[yd]/i.test(codes) && !isGeneral, /[hs]/i.test(codes) && !isGeneral];
  if (isDate) return { kind: isTime ? 'date-time' : 'date' };
  if (isTime) return { kind: 'time' };
  // Months alone.
  return /m/i.test(codes) && !/[0#?]/.test(codes) ? { kind: 'date' } : plain;
}

/** The currency that a text names: by a sign, or by a code of three letters. */
function currencyOf(shown: string): string | undefined {
  const text = shown.trim();
  return /\p{Sc}/u.test(text) || /^[A-Z]{3}$/.test(text) ? text : undefined;
}

const dayMs = 24 * 3600 * 1000;
/** Day 0 of the two calendars, in days before 1970. */
const epochs = { from1900: 25_569, from1904: 24_107 } as const;

/** The text of a number. A number that is invalid in its format is written without the format. */
export function numberText(stored: string, format: NumberFormat, isFrom1904: boolean): string {
  const value = Number(stored);
  // A spreadsheet holds 15 digits. More were written by a program, and stay as they are.
  if (stored.trim() === '' || !Number.isFinite(value) || Math.abs(value) >= 1e15) return stored;
  switch (format.kind) {
    case 'date':
    case 'time':
    case 'date-time':
      return dateText(value, format.kind, isFrom1904) ?? plainNumber(value);
    case 'elapsed':
      return elapsedText(value);
    case 'mask':
      return Number.isSafeInteger(value) && value >= 0 ? masked(value, format.mask) : plainNumber(value);
    case 'money':
      return value >= 0 ? moneyText(value, format.currency) : plainNumber(value);
    default:
      return plainNumber(value);
  }
}

/** Puts the digits of a number in the places of the zeros of a mask. Surplus digits go before the first place. */
function masked(value: number, mask: string): string {
  const places = [...mask].filter((one) => one === '0').length;
  const digits = [...String(value).padStart(places, '0')];
  const over = digits.splice(0, digits.length - places).join('');
  let isFirst = true;
  return [...mask]
    .map((one) => {
      if (one !== '0') return one === '\u0000' ? '0' : one;
      const digit = `${isFirst ? over : ''}${digits.shift()}`;
      isFirst = false;
      return digit;
    })
    .join('');
}

/** A sign stands before the amount, a code with a space. */
const moneyText = (value: number, currency: string): string =>
  `${currency}${/^\p{L}+$/u.test(currency) ? ' ' : ''}${decimals(value)}`;

/** Hours, minutes and seconds of a span of days. */
function elapsedText(days: number): string {
  const seconds = Math.round(days * 24 * 3600);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** At least two decimals, and no more digits than a cell holds. */
function decimals(value: number): string {
  const text = plainNumber(value);
  const places = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;
  return places < 2 && !text.includes('e') ? value.toFixed(2) : text;
}

/** A cell holds 15 digits; what is stored beyond them is noise. */
const plainNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(15)));

function dateText(
  value: number,
  kind: 'date' | 'time' | 'date-time',
  isFrom1904: boolean,
): string | undefined {
  // The calendar from 1900 has a 29 February 1900, day 60.
  const days = !isFrom1904 && value < 60 ? value + 1 : value;
  const ms = Math.round((days - (isFrom1904 ? epochs.from1904 : epochs.from1900)) * dayMs);
  const date = new Date(ms);
  const isDay = kind !== 'time' && value < 1;
  if (value < 0 || isDay || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return undefined;
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
  if (kind === 'time' && value < 1) return time;
  return time === '00:00:00' || (kind === 'date' && Number.isInteger(value)) ? day : `${day} ${time}`;
}
