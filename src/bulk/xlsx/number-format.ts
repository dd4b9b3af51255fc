/** How the number in a cell is shown, as far as that decides what it means. */
export type NumberFormat =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date' | 'time' | 'date-time' }
  /** A whole number with leading zeros, such as a ZIP code. */
  | { readonly kind: 'padded'; readonly digits: number }
  /** An amount in dollars. */
  | { readonly kind: 'dollars' };

const plain: NumberFormat = { kind: 'plain' };

/** Formats that every workbook has, by their ids (ECMA-376, part 1, 18.8.30). */
const builtIn = new Map<number, NumberFormat>([
  ...[14, 15, 16, 17].map((id): [number, NumberFormat] => [id, { kind: 'date' }]),
  ...[18, 19, 20, 21, 45, 46, 47].map((id): [number, NumberFormat] => [id, { kind: 'time' }]),
  [22, { kind: 'date-time' }],
  ...[5, 6, 7, 8, 44].map((id): [number, NumberFormat] => [id, { kind: 'dollars' }]),
]);

/** The format of an id. @param codes of the workbook's own formats, by id. */
export function formatOf(id: number, codes: ReadonlyMap<number, string>): NumberFormat {
  const code = codes.get(id);
  return code === undefined ? (builtIn.get(id) ?? plain) : formatOfCode(code);
}

/** Reads a format's code: its section for positive numbers, without quoted text, escapes, colours and fillers. */
export function formatOfCode(code: string): NumberFormat {
  const [section = ''] = code
    .replace(/"[^"]*"|\\.|_.|\*./g, (part) => (part === '"$"' || part === '\\$' ? '$' : ''))
    .split(';');
  const isDollars = /\[\$(?:US)?\$|\$/.test(section) && !/\[\$[^\]$]*[^\]$US-][^\]]*\]/.test(section);
  const bare = section.replace(/\[(?:h+|m+|s+)\]/gi, (part) => part.slice(1, -1)).replace(/\[[^\]]*\]/g, '');
  if (/^0{2,20}$/.test(bare.trim())) return { kind: 'padded', digits: bare.trim().length };
  const isDate = /[yd]/i.test(bare) && !/general/i.test(bare);
  const isTime = /[hs]/i.test(bare) && !/general/i.test(bare);
  if (isDate) return { kind: isTime ? 'date-time' : 'date' };
  if (isTime) return { kind: 'time' };
  // Months alone.
  if (/m/i.test(bare) && !/[0#?]/.test(bare)) return { kind: 'date' };
  return isDollars ? { kind: 'dollars' } : plain;
}

const dayMs = 24 * 3600 * 1000;
/** Day 0 of the two calendars, in days before 1970. */
const epochs = { from1900: 25_569, from1904: 24_107 } as const;

/** The text of a number. A number that is no valid one in its format is written as it is stored. */
export function numberText(stored: string, format: NumberFormat, isFrom1904: boolean): string {
  const value = Number(stored);
  if (stored.trim() === '' || !Number.isFinite(value)) return stored;
  switch (format.kind) {
    case 'date':
    case 'time':
    case 'date-time':
      return dateText(value, format.kind, isFrom1904) ?? plainNumber(value);
    case 'padded':
      return Number.isSafeInteger(value) && value >= 0
        ? String(value).padStart(format.digits, '0')
        : plainNumber(value);
    case 'dollars':
      return value >= 0 ? `$${decimals(value)}` : plainNumber(value);
    default:
      return plainNumber(value);
  }
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
  if (value < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return undefined;
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
  if (kind === 'time' && value < 1) return time;
  return time === '00:00:00' || (kind === 'date' && Number.isInteger(value)) ? day : `${day} ${time}`;
}
