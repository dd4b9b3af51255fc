/** Named HTML entities that occur in exports of shops. */
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', mdash: '—', hellip: '…' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', deg: '°', ordm: 'º', ordf: 'ª', middot: '·' },
  ...{ szlig: 'ß', AElig: 'Æ', aelig: 'æ', OElig: 'Œ', oelig: 'œ', Oslash: 'Ø', oslash: 'ø', Aring: 'Å' },
  ...{
    aring: 'å',
    Ccedil: 'Ç',
    ccedil: 'ç',
    Ntilde: 'Ñ',
    ntilde: 'ñ',
    Atilde: 'Ã',
    atilde: 'ã',
    Otilde: 'Õ',
  },
  ...{ otilde: 'õ', Scaron: 'Š', scaron: 'š', Yacute: 'Ý', yacute: 'ý', ETH: 'Ð', eth: 'ð', THORN: 'Þ' },
  thorn: 'þ',
};

/** Accents of entities such as `&eacute;`, as combining characters. */
const accents: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  uml: '\u0308',
};

const entity = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi;
const accented = /^([AEIOU])(grave|acute|circ|uml)$/i;

function entityText(decimal: string | undefined, hex: string | undefined, name = ''): string | undefined {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  if (Number.isInteger(code)) return code >= 32 && code < 0xd800 ? String.fromCodePoint(code) : undefined;
  const [, letter, accent = ''] = accented.exec(name) ?? [];
  if (letter !== undefined) return `${letter}${accents[accent.toLowerCase()]}`.normalize('NFC');
  return Object.hasOwn(entities, name) ? entities[name] : undefined;
}

/** Whether a text has HTML entities. */
export const hasEntities = (text: string): boolean => text.includes('&') && text.search(entity) >= 0;

/** Decodes HTML entities. Leaves entities with unknown names unchanged. */
export const withoutEntities = (text: string): string =>
  text.includes('&')
    ? text.replace(entity, (whole, decimal?: string, hex?: string, name?: string) =>
        whole === '&nbsp;' ? ' ' : (entityText(decimal, hex, name) ?? whole),
      )
    : text;

/**
 * Windows-1252 characters of the bytes 0x80 to 0x9f. If a byte has no character, its own code point stands in its
 * place.
 */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const byteOf = (character: string): number | undefined => {
  const code = character.charCodeAt(0);
  const at = windows1252.indexOf(character);
  if (at >= 0) return 0x80 + at;
  return code < 0x100 ? code : undefined;
};

/** A sequence of UTF-8 bytes that was decoded as Windows-1252, such as `Ã¶`. */
const misread = /[\u00c2-\u00f4][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/;

/**
 * Repairs a text whose UTF-8 bytes were decoded as Windows-1252. @returns undefined unless the whole text can be
 * repaired in this way.
 */
export function withoutMojibake(text: string): string | undefined {
  if (!misread.test(text)) return undefined;
  const bytes = [...text].map(byteOf);
  if (!bytes.every((byte) => byte !== undefined)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

const maybeDamaged = /[&\u00c2-\u00f4]/;

/** Repairs damage that exports do to a text. Decodes HTML entities, and UTF-8 that was decoded as Windows-1252. */
export function repairedText(text: string): string {
  if (!maybeDamaged.test(text)) return text;
  const decoded = withoutEntities(text);
  return withoutMojibake(decoded) ?? decoded;
}
