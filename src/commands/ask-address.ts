import type { Context } from '../context.ts';
import type { AddressFields } from './address-options.ts';

interface Question {
  readonly field: string;
  readonly message: string;
  readonly optional?: true;
  readonly default?: string;
}

const questions: readonly Question[] = [
  { field: 'first_name', message: 'First name' },
  { field: 'last_name', message: 'Last name' },
  { field: 'address_line1', message: 'Street and number' },
  { field: 'address_line2', message: 'Flat, floor, unit (optional)', optional: true },
  { field: 'city', message: 'City' },
  { field: 'state', message: 'State or province (optional)', optional: true },
  { field: 'postal_code', message: 'Postal code' },
  { field: 'country', message: 'Country, two letters', default: 'US' },
  { field: 'phone_number', message: 'Phone number' },
];

/** Asks for the fields of an address that are not given yet. */
export async function askAddress(context: Context, given: AddressFields = {}): Promise<AddressFields> {
  const prompt = await context.prompt();
  const address: Record<string, unknown> = { ...given };
  for (const { field, message, optional, default: preset } of questions) {
    if (address[field] !== undefined) continue;
    const answer = await prompt.askText(context, message, {
      ...(optional && { optional }),
      ...(preset !== undefined && { default: preset }),
    });
    if (answer !== '') address[field] = answer;
  }
  return address;
}
