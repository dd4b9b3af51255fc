import { namedCountry } from '../api/country.ts';
import { bare } from './folded.ts';

/** What a word of an address is shortened to; a saint and a street look alike then. */
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

/** What stands before the number of a flat: `Apt 4`, `Unit 4` and `#4` are one door. */
const unitWords: ReadonlySet<string> = new Set(['APT', 'UNIT', 'STE', 'RM', 'NO', 'NR', 'NUMBER']);

/** A flat's number, or its letter. */
const isUnit = (word = ''): boolean => /\p{N}/u.test(word) || word.length === 1;

const betweenWords = /[\s,.;:/#()-]+/u;
const endsInNumber = /\p{N}$/u;
const beginsWithNumber = /^\p{N}/u;
const isPlain = /^[A-Za-z0-9]*$/;

/** Words with accents are few in one file, and cost most. */
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

/** Lines of a street with their words shortened and joined; two numbers side by side stay two. */
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

/** `Mueller` for `Müller`: where both are written without the accent they are equal. */
const withoutUmlauts = (text: string): string => text.replace(/([AOU])E/g, '$1');

/** A postal code as it sorts letters: the first five digits of a ZIP code, no country before a German or Italian one. */
function canonicalPostalCode(text: string, country: string): string {
  const code = bare(text);
  if (country === 'US') return code.replace(/^(\d{5})\d{4}$/, '$1');
  return code.replace(/^[A-Z]{1,2}(?=\d{5}$)/, '');
}

/** The parts of an address that decide who gets a parcel, and where. */
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
 * Somebody at an address, in the spelling in which two of one person are equal: name, street lines, postal code and country.
 * City and state follow from these, and a phone number tells nobody apart.
 */
export function canonicalRecipient(address: RecipientParts): string {
  const country = bare(namedCountry(address.country ?? '') ?? address.country ?? '');
  const name = withoutUmlauts(bareName(joined(address.first_name, address.last_name)));
  const street = withoutUmlauts(barePlace(joined(address.address_line1, address.address_line2)));
  return `${name}\n${street}\n${canonicalPostalCode(address.postal_code ?? '', country)}\n${country}`;
}
