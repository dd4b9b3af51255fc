import { destinationCountries } from '../../api/enums.ts';
import type { Options } from '../../run/option.ts';

const group = 'Address';

/** The address given field by field; every field of the contract's address. */
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

export type AddressFlags = { readonly [K in keyof typeof addressOptions]?: string };
export type AddressFields = Readonly<Record<string, unknown>>;

/** The address fields that were given as flags, under their wire names. */
export function addressFields(flags: AddressFlags): AddressFields {
  const names = Object.entries(wireNames) as [keyof AddressFlags, string][];
  return Object.fromEntries(
    names.filter(([key]) => flags[key] !== undefined).map(([key, name]) => [name, flags[key]]),
  );
}

/** The flag that gives a field of the address: `postal_code` to `--postal-code`. */
export const addressFlag = (field: string): string | undefined =>
  Object.values(wireNames).some((name) => name === field) ? `--${field.replaceAll('_', '-')}` : undefined;

/** An address as flags. */
export const addressWords = (address: AddressFields): string[] =>
  Object.entries(address).flatMap(([field, value]) => {
    const flag = addressFlag(field);
    return flag === undefined || typeof value !== 'string' || value === '' ? [] : [flag, value];
  });

/** An address in one line. */
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
