/** Format of a number in a cell. It includes only what affects the meaning of the number. */
export type NumberFormat =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date' | 'time' | 'date-time' | 'elapsed' }
  /**
   * Digits at fixed places, with text in between, such as `00000-0000` for a ZIP code. Each zero stands for a digit.
   */
  | { readonly kind: 'mask'; readonly mask: string }
  /** An amount in a currency. The format shows the currency by its sign or code. */
  | { readonly kind: 'money'; readonly currency: string };

const plain: NumberFormat = { kind: 'plain' };

/** Formats that every workbook has, by id (ECMA-376, part 1, 18.8.30). */
const builtIn = new Map<number, NumberFormat>([
  ...[14, 15, 16, 17].map((id): [number, NumberFormat] => [id, { kind: 'date' }]),
  ...[18, 19, 20, 21, 45, 47].map((id): [number, NumberFormat] => [id, { kind: 'time' }]),
  [22, { kind: 'date-time' }],
  [46, { kind: 'elapsed' }],
  ...[5, 6, 7, 8, 44].map((id): [number, NumberFormat] => [id, { kind: 'money', currency: '$' }]),
]);

/** The format with an id. @param codes holds the codes of the formats that the workbook itself defines, by id. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): NumberFormat {
  const code = codes.get(id);
  return code === undefined ? (builtIn.get(id) ?? plain) : formatOfCode(code);
}

/** Maximum length of a format code in a spreadsheet, in characters. */
const maxCodeLength = 255;

/** A part of a format code: literal text, or a code. */
const partPattern =
  /"([^"]{0,255})"|\\(.)|\[\$([^\]-]{0,255})[^\]]{0,255}\]|_.|\*.|\[([^\]]{0,255})\]|([^"\\[_*])/gsu;

/** Reads the section of a format code that applies to positive numbers. */
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
      // A zero in literal text does not stand for a digit.
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
  // A format with only months is a date.
  return /m/i.test(codes) && !/[0#?]/.test(codes) ? { kind: 'date' } : plain;
}

/** The currency that a text contains, as a sign or as a code of three letters. */
function currencyOf(shown: string): string | undefined {
  const text = shown.trim();
  return /\p{Sc}/u.test(text) || /^[A-Z]{3}$/.test(text) ? text : undefined;
}

const dayMs = 24 * 3600 * 1000;
/** Number of days from day 0 of each calendar to the year 1970. */
const epochs = { from1900: 25_569, from1904: 24_107 } as const;

/** The text of a number. If the number is invalid in its format, the format is ignored. */
export function numberText(stored: string, format: NumberFormat, isFrom1904: boolean): string {
  const value = Number(stored);
  // A spreadsheet stores at most 15 digits. If there are more, another program has written the number, so leave it as
  // it is.
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

/**
 * Puts the digits of a number in place of the zeros of a mask. If there are too many digits, the surplus comes before
 * the first place.
 */
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

/** Puts the sign or code of the currency before the amount. A code is followed by a space. */
const moneyText = (value: number, currency: string): string =>
  `${currency}${/^\p{L}+$/u.test(currency) ? ' ' : ''}${decimals(value)}`;

/** Hours, minutes and seconds of a duration given in days. */
function elapsedText(days: number): string {
  const seconds = Math.round(days * 24 * 3600);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Formats a number with at least two decimals, and with no more digits than a cell stores. */
function decimals(value: number): string {
  const text = plainNumber(value);
  const places = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;
  return places < 2 && !text.includes('e') ? value.toFixed(2) : text;
}

/** A cell stores 15 digits. Any further digits are noise. */
const plainNumber = (value: number): string =>
  Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(15)));

function dateText(
  value: number,
  kind: 'date' | 'time' | 'date-time',
  isFrom1904: boolean,
): string | undefined {
  // The calendar from 1900 contains a day that did not exist: 29 February 1900 (day 60). Earlier days are off by one.
  const days = !isFrom1904 && value < 60 ? value + 1 : value;
  const ms = Math.round((days - (isFrom1904 ? epochs.from1904 : epochs.from1900)) * dayMs);
  const date = new Date(ms);
  const isDay = kind !== 'time' && value < 1;
  if (value < 0 || isDay || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return undefined;
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
  if (kind === 'time' && value < 1) return time;
  return time === '00:00:00' || (kind === 'date' && Number.isInteger(value)) ? day : `${day} ${time}`;
}
