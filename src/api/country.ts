import { countryCodePattern } from './limits.ts';

/** What people write in place of the code of a country that the service delivers to. */
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

/** Why a text is not a country code, and which one is meant where that is known; undefined for one in its form. */
export function countryProblem(text: string): string | undefined {
  if (countryCodePattern.test(text)) return undefined;
  const code = namedCountry(text);
  return code === undefined
    ? 'country takes a two-letter ISO 3166-1 code such as US'
    : `country takes a two-letter code: use ${code} in place of ${text}`;
}

/** The code of a country that is written as a name; undefined where the name is not known. */
export function namedCountry(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return Object.hasOwn(countryNames, name) ? countryNames[name] : undefined;
}
