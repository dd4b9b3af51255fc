import { namedCountry } from '../api/country.ts';
import { repairedText } from './damaged-text.ts';
import { bare } from './folded.ts';

/** Abbreviations of address words; `ST` stands for both saint and street. */
const shortWords: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      STREET: 'ST',
      STR: 'ST',
      SAINT: 'ST',
      AVENUE: 'AVE',
      AV: 'AVE',
      ROAD: 'RD',
      DRIVE: 'DR',
      LANE: 'LN',
    },
    ...{ BOULEVARD: 'BLVD', COURT: 'CT', PLACE: 'PL', SQUARE: 'SQ', TERRACE: 'TER', PARKWAY: 'PKWY' },
    ...{ HIGHWAY: 'HWY', CIRCLE: 'CIR', TRAIL: 'TRL', NORTH: 'N', SOUTH: 'S', EAST: 'E', WEST: 'W' },
    ...{ APARTMENT: 'APT', SUITE: 'STE', FLOOR: 'FL', BUILDING: 'BLDG', ROOM: 'RM', FORT: 'FT', MOUNT: 'MT' },
  }),
);

/** Words before a unit number: `Apt 4`, `Unit 4` and `#4` are the same unit. */
const unitWords: ReadonlySet<string> = new Set(['APT', 'UNIT', 'STE', 'RM', 'NO', 'NR', 'NUMBER']);

/** A unit number or letter. */
const isUnit = (word = ''): boolean => /\p{N}/u.test(word) || word.length === 1;

const betweenWords = /[\s,.;:/#()-]+/u;
const endsInNumber = /\p{N}$/u;
const beginsWithNumber = /^\p{N}/u;
const isPlain = /^[A-Za-z0-9]*$/;

/** Cache of folded words, because folding accents is expensive and only a few distinct words have accents. */
const knownWords = new Map<string, string>();
const maxKnownWords = 5000;

function bareWord(word: string): string {
  if (isPlain.test(word)) return word.toUpperCase();
  const found = knownWords.get(word);
  if (found !== undefined) return found;
  if (knownWords.size >= maxKnownWords) knownWords.clear();
  const made = bare(word);
  knownWords.set(word, made);
  return made;
}

const shortWord = (word: string): string => shortWords.get(word) ?? word.replace(/STRASSE$/u, 'STR');

/**
 * Normalizes a street address: abbreviates its words, drops unit words such as `Apt`, and joins the rest. Leaves a
 * space only between adjacent numbers.
 */
export function barePlace(text: string): string {
  const words = text.split(betweenWords);
  let place = '';
  for (const [at, given] of words.entries()) {
    const word = shortWord(bareWord(given));
    if (word === '' || (unitWords.has(word) && isUnit(words[at + 1]))) continue;
    place += endsInNumber.test(place) && beginsWithNumber.test(word) ? ` ${word}` : word;
  }
  return place;
}

const bareName = (text: string): string => text.split(' ').map(bareWord).join('');

/** Treats `Mueller` and `Müller` as equal, by dropping the `E` after `A`, `O` or `U`. */
const withoutUmlauts = (text: string): string => text.replace(/([AOU])E/g, '$1');

/**
 * Normalizes a postal code. A US ZIP code keeps only its first five digits. In other countries, a country prefix before
 * five digits is dropped.
 */
function canonicalPostalCode(text: string, country: string): string {
  const code = bare(text);
  if (country === 'US') return code.replace(/^(\d{5})\d{4}$/, '$1');
  return code.replace(/^[A-Z]{1,2}(?=\d{5}$)/, '');
}

/** The fields of an address that identify the recipient. */
export interface RecipientParts {
  readonly first_name?: string | null | undefined;
  readonly last_name?: string | null | undefined;
  readonly address_line1?: string | null | undefined;
  readonly address_line2?: string | null | undefined;
  readonly postal_code?: string | null | undefined;
  readonly country?: string | null | undefined;
}

const joined = (...parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(' ');

/**
 * Normalizes a recipient to name, street lines, postal code and country. City and state follow from these, and a phone
 * number identifies nobody.
 */
export function canonicalRecipient(address: RecipientParts): string {
  const country = bare(namedCountry(address.country ?? '') ?? address.country ?? '');
  const name = withoutUmlauts(bareName(repairedText(joined(address.first_name, address.last_name))));
  const street = withoutUmlauts(
    barePlace(repairedText(joined(address.address_line1, address.address_line2))),
  );
  return `${name}\n${street}\n${canonicalPostalCode(address.postal_code ?? '', country)}\n${country}`;
}
