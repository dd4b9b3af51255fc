import { usStates } from '../../api/country.ts';
import type { AddressFields } from './options.ts';

/** Countries as people write them. */
const countries: Readonly<Record<string, string>> = {
  us: 'US',
  usa: 'US',
  'united states': 'US',
  'united states of america': 'US',
  de: 'DE',
  germany: 'DE',
  deutschland: 'DE',
  it: 'IT',
  italy: 'IT',
  italia: 'IT',
};

const phoneForm = /^(?:(?:tel|phone|telefon)\.?:?\s{0,3})?(\+?[\d\s()./-]{7,40})$/i;
const stateFirst = /^(?<city>.+?),?\s+(?<state>[A-Za-z]{2}|[A-Za-z ]{4,20}),?\s+(?<postal>\d{5}(?:-\d{4})?)$/;
const postalFirst = /^(?:(?:D|I)-)?(?<postal>\d{5})\s{1,3}(?<city>\D{1,100})$/;

/**
 * Parses an address that was pasted as a whole. The name comes first, then the street. Town, country and phone number
 * may come in any place, because their form identifies them. Undefined if the lines are not such an address.
 */
export function addressInBlock(given: readonly string[]): AddressFields | undefined {
  const pieces = given.length === 1 ? (given[0] ?? '').split(/,\s*/) : given;
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  for (const piece of joinedTowns(pieces.map((line) => line.trim().replace(/,$/, '')))) {
    const country = countries[piece.toLowerCase()];
    const phone = phoneForm.exec(piece)?.[1];
    const town = townIn(piece);
    if (piece === '') continue;
    if (country !== undefined) fields.country = country;
    else if (town) Object.assign(fields, town);
    else if (phone !== undefined && rest.length > 0) fields.phone_number = phone.trim();
    else rest.push(piece);
  }
  const [name = '', street, ...more] = rest;
  const [last = '', ...first] = name.split(/\s+/).reverse();
  if (street === undefined || fields.city === undefined || first.length === 0) return undefined;
  return {
    first_name: first.reverse().join(' '),
    last_name: last,
    address_line1: street,
    ...(more.length > 0 && { address_line2: more.join(', ') }),
    ...fields,
  };
}

/** Rejoins a town such as `Austin, TX 78701` if it was split at its comma. */
function joinedTowns(pieces: readonly string[]): string[] {
  return pieces.flatMap((piece, at) => {
    if (isStateAndCode(piece) && at > 0) return [];
    const next = pieces[at + 1];
    return [next !== undefined && isStateAndCode(next) ? `${piece}, ${next}` : piece];
  });
}

function isStateAndCode(text: string): boolean {
  const [, state = ''] = /^([A-Za-z]{2}|[A-Za-z ]{4,20}) \d{5}(?:-\d{4})?$/.exec(text) ?? [];
  return stateCode(state) !== undefined;
}

const stateCode = (state: string): string | undefined =>
  Object.keys(usStates).find(
    (one) => one === state.toUpperCase() || usStates[one]?.toLowerCase() === state.toLowerCase(),
  );

function townIn(text: string): Readonly<Record<string, string>> | undefined {
  const { city = '', state = '', postal = '' } = stateFirst.exec(text)?.groups ?? {};
  const code = stateCode(state);
  if (code !== undefined) return { city, state: code, postal_code: postal, country: 'US' };
  const german = postalFirst.exec(text)?.groups;
  return german ? { city: german.city?.trim() ?? '', postal_code: german.postal ?? '' } : undefined;
}
