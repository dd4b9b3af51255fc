import { countryCodePattern } from './limits.ts';

/** Common names for the countries the service delivers to, mapped to their codes. */
const countryNames: Readonly<Record<string, string>> = {
  usa: 'US',
  'u.s.': 'US',
  'u.s.a.': 'US',
  'united states': 'US',
  'united states of america': 'US',
  america: 'US',
  deu: 'DE',
  germany: 'DE',
  deutschland: 'DE',
  ita: 'IT',
  italy: 'IT',
  italia: 'IT',
};

/**
 * Explains why a text is not a country code and suggests the right code if known; undefined if the text has the form of
 * a code.
 */
export function countryProblem(text: string): string | undefined {
  if (countryCodePattern.test(text)) return undefined;
  const code = namedCountry(text);
  return code === undefined
    ? 'country takes a two-letter ISO 3166-1 code such as US'
    : `country takes a two-letter code: use ${code} in place of ${text}`;
}

/** Maps a country name to its code; undefined if the name is unknown. */
export function namedCountry(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return Object.hasOwn(countryNames, name) ? countryNames[name] : undefined;
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
