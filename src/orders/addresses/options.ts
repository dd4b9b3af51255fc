import { usStates } from '../../api/country.ts';
import { destinationCountries } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import type { Column } from '../../format/result.ts';
import type { Options } from '../../run/option.ts';

const group = 'Address';

/** Flags for each field of the contract's address. */
export const addressOptions = {
  firstName: { kind: 'text', group, description: "recipient's first name" },
  lastName: { kind: 'text', group, description: "recipient's last name" },
  addressLine1: { kind: 'text', group, description: 'street and number' },
  addressLine2: { kind: 'text', group, description: 'flat, floor, unit' },
  city: { kind: 'text', group, description: 'city' },
  state: { kind: 'text', group, description: 'state or province' },
  postalCode: { kind: 'text', group, description: 'postal code; 5 digits in the US' },
  country: { kind: 'text', offers: destinationCountries, group, description: 'two-letter code: US' },
  phoneNumber: { kind: 'text', group, description: 'phone number for the carrier' },
} as const satisfies Options;

const wireNames = {
  firstName: 'first_name',
  lastName: 'last_name',
  addressLine1: 'address_line1',
  addressLine2: 'address_line2',
  city: 'city',
  state: 'state',
  postalCode: 'postal_code',
  country: 'country',
  phoneNumber: 'phone_number',
} as const satisfies Record<keyof typeof addressOptions, string>;

type AddressFlags = { readonly [K in keyof typeof addressOptions]?: string };
export type AddressFields = Readonly<Record<string, unknown>>;

/** Address fields that were given as flags, by their wire names. */
export function addressFields(flags: AddressFlags): AddressFields {
  const names = Object.entries(wireNames) as [keyof AddressFlags, string][];
  return Object.fromEntries(
    names.filter(([key]) => flags[key] !== undefined).map(([key, name]) => [name, flags[key]]),
  );
}

/** Flag of an address field: `postal_code` becomes `--postal-code`. */
export const addressFlag = (field: string): string | undefined =>
  Object.values(wireNames).some((name) => name === field) ? `--${field.replaceAll('_', '-')}` : undefined;

/** An address as command line flags. */
export const addressWords = (address: AddressFields): string[] =>
  Object.entries(address).flatMap(([field, value]) => {
    const flag = addressFlag(field);
    return flag === undefined || typeof value !== 'string' || value === '' ? [] : [flag, value];
  });

/** An address on one line. */
export const addressLine = (address: AddressFields): string => {
  const of = (...fields: readonly string[]): string =>
    fields
      .map((field) => address[field])
      .filter((value) => typeof value === 'string' && value !== '')
      .join(' ');
  return [
    of('first_name', 'last_name'),
    of('address_line1', 'address_line2'),
    of('city', 'state', 'postal_code', 'country'),
  ]
    .filter((part) => part !== '')
    .join(', ');
};

export const addressColumns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 10 },
  { name: 'default', path: 'default', kind: 'flag', weight: 5 },
  {
    name: 'recipient',
    path: 'recipient',
    weight: 9,
    value: ({ first_name, last_name }) => joined(first_name, last_name),
  },
  {
    name: 'street',
    path: 'address_line1',
    weight: 8,
    value: (it) => joined(it.address_line1, it.address_line2),
  },
  { name: 'postal code', path: 'postal_code', weight: 6 },
  { name: 'city', path: 'city', weight: 7 },
  { name: 'state', path: 'state', weight: 4 },
  { name: 'country', path: 'country', weight: 6 },
  { name: 'phone', path: 'phone_number', weight: 3 },
];

const joined = (...parts: unknown[]): string =>
  parts.filter((part) => typeof part === 'string' && part !== '').join(' ');

/** Digits with common separators, and an optional extension. */
const phoneForm = /^\+?[\d\s()./-]+(?:(?:x|ext\.?)\s?\d{1,6})?$/i;
const phoneDigits = { min: 7, max: 15 };
const maxPhoneLength = 40;

/** Codes of states, and both codes and names in lower case. */
const states = new Set(
  Object.entries(usStates).flatMap(([code, name]) => [code, code.toLowerCase(), name.toLowerCase()]),
);

/**
 * An address in the form that carriers use: the country in capitals, a US state as two letters, no spaces around a
 * value.
 */
export function normalised(address: AddressFields): AddressFields {
  const fields = Object.fromEntries(
    Object.entries(address).map(([field, value]) => [
      field,
      typeof value === 'string' ? value.trim() : value,
    ]),
  );
  const { country, state } = fields;
  if (typeof country === 'string') fields.country = country.toUpperCase();
  if (typeof state === 'string' && fields.country === 'US') fields.state = stateCode(state) ?? state;
  return fields;
}

const stateCode = (text: string): string | undefined =>
  Object.keys(usStates).find(
    (code) => code === text.toUpperCase() || usStates[code]?.toLowerCase() === text.toLowerCase(),
  );

/**
 * Checks a field for problems that the service accepts but a carrier cannot handle. Used if a person enters the
 * address.
 */
function addressProblem(field: string, { [field]: value, country }: AddressFields): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  if (field === 'phone_number') return phoneProblem(value.trim());
  if (field === 'postal_code') return postalProblem(value.trim(), country);
  return field === 'state' && typeof country === 'string'
    ? stateProblem(value.trim(), country.trim())
    : undefined;
}

/** All problems that `addressProblem` finds in the given fields. */
export const addressProblems = (address: AddressFields): { field: string; message: string }[] =>
  Object.keys(address).flatMap((field) => {
    const message = addressProblem(field, address);
    return message === undefined ? [] : [{ field, message }];
  });

export function phoneProblem(text: string): string | undefined {
  if (text.length <= maxPhoneLength && phoneForm.test(text)) {
    const digits = digitsIn(text);
    if (digits >= phoneDigits.min && digits <= phoneDigits.max) return undefined;
  }
  return `"${shortened(text)}" is not a phone number: ${phoneDigits.min} to ${phoneDigits.max} digits`;
}

/** Counts the digits before an extension. Allocates no strings, because it is called for each row of a file. */
function digitsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code | 0x20) === letterX) break;
    if (code >= zero && code <= nine) count += 1;
  }
  return count;
}

const [zero, nine, letterX] = [0x30, 0x39, 0x78];

export function stateProblem(text: string, country: string): string | undefined {
  if (country.toUpperCase() !== 'US' || states.has(text) || states.has(text.toLowerCase())) return undefined;
  return `"${shortened(text)}" is not a US state; write its two letters, such as TX`;
}

const fiveDigits: Readonly<Record<string, string>> = { DE: 'German', IT: 'Italian' };

function postalProblem(text: string, country: unknown): string | undefined {
  const whose = typeof country === 'string' ? fiveDigits[country.trim().toUpperCase()] : undefined;
  if (whose === undefined || /^\d{5}$/.test(text)) return undefined;
  return `"${shortened(text)}" is not ${whose === 'Italian' ? 'an' : 'a'} ${whose} postal code, which has 5 digits`;
}

const emailForm = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;

/** Describes the problem of an invalid email address; undefined if the address is valid. */
export function emailProblem(text: string): string | undefined {
  if (text.length <= limits.userEmailLength.max && emailForm.test(text)) return undefined;
  return `"${shortened(text)}" is not an email address`;
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
