import { countryCodePattern } from './limits.ts';

/** Other names of countries, in lower case without spaces and punctuation, mapped to their codes. */
const otherNames: Readonly<Record<string, string>> = {
  us: 'US',
  usa: 'US',
  unitedstatesofamerica: 'US',
  america: 'US',
  deu: 'DE',
  deutschland: 'DE',
  ita: 'IT',
  italia: 'IT',
  uk: 'GB',
  greatbritain: 'GB',
  czechrepublic: 'CZ',
  thenetherlands: 'NL',
};

/**
 * Explains why a text is not a country code, and suggests the right code if it is known; undefined if the text has the
 * form of a code.
 */
export function countryProblem(text: string): string | undefined {
  if (countryCodePattern.test(text)) return undefined;
  const code = namedCountry(text);
  return code === undefined
    ? 'country takes a two-letter ISO 3166-1 code such as US'
    : `country takes a two-letter code: use ${code} in place of ${text}`;
}

/**
 * Maps a country's English, German or Italian name, or another common name, to the country's code; undefined for a code
 * or an unknown name.
 */
export function namedCountry(text: string): string | undefined {
  const given = text.trim();
  if (given === '' || (countryCodePattern.test(given) && given.toLowerCase() !== 'uk')) return undefined;
  const name = lettersOf(given);
  if (name === '') return undefined;
  if (Object.hasOwn(otherNames, name)) return otherNames[name];
  codes ??= codesByName();
  return codes.get(name);
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}]/gu, '');

let codes: ReadonlyMap<string, string> | undefined;

function codesByName(): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at));
  const pairs = letters.flatMap((one) => letters.map((other) => one + other));
  // Skip deprecated codes. A deprecated code has the same name as the code that replaced it.
  const current = pairs.filter((code) => new Intl.Locale(`und-${code}`).region === code);
  for (const language of ['en', 'de', 'it']) {
    const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    for (const code of current) {
      const name = lettersOf(names.of(code) ?? '');
      if (name !== '' && !known.has(name)) known.set(name, code);
    }
  }
  return known;
}

/** Two-letter codes and names of US states, territories and military destinations. */
export const usStates: Readonly<Record<string, string>> = {
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  DC: 'District of Columbia',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
  AS: 'American Samoa',
  GU: 'Guam',
  MP: 'Northern Mariana Islands',
  PR: 'Puerto Rico',
  VI: 'U.S. Virgin Islands',
  AA: 'Armed Forces Americas',
  AE: 'Armed Forces Europe',
  AP: 'Armed Forces Pacific',
};
