import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type AddressFields, addressFlag } from './options.ts';
import { addressProblems } from './rules.ts';

interface Question {
  readonly field: string;
  readonly message: string;
  /** The field that it adds to: whoever gave that one has given this, or has none. */
  readonly adds?: string;
  readonly default?: string;
}

const questions: readonly Question[] = [
  { field: 'first_name', message: 'First name' },
  { field: 'last_name', message: 'Last name' },
  { field: 'address_line1', message: 'Street and number' },
  { field: 'address_line2', message: 'Flat, floor, unit (optional)', adds: 'address_line1' },
  { field: 'city', message: 'City' },
  { field: 'state', message: 'State or province (optional)', adds: 'city' },
  { field: 'country', message: 'Country, two letters', default: 'US' },
  { field: 'postal_code', message: 'Postal code' },
  { field: 'phone_number', message: 'Phone number' },
];

/** Stands for what is not prompted for yet while one answer is checked; the country comes before the code that it decides on. */
const anyAddress: AddressFields = {
  first_name: '-',
  last_name: '-',
  address_line1: '-',
  city: '-',
  country: 'US',
  postal_code: '00000',
  phone_number: '-',
};

/** Whether an address lacks what no address can do without. */
export const lacksFields = (address: AddressFields): boolean =>
  questions.some(({ field, adds }) => adds === undefined && address[field] === undefined);

/** Whether a field was given and can be checked yet: a postal code only with its country. */
const isWrong = (given: AddressFields, field: string): boolean =>
  Object.hasOwn(given, field) && (field !== 'postal_code' || given.country !== undefined);

/**
 * Asks for the fields of an address that are not given yet, in the order of the form. An answer that the service would refuse is refused at once,
 * so that those before it are not lost. @throws UsageError, before any prompt, for a field given that is wrong.
 */
export async function askAddress(context: Context, given: AddressFields = {}): Promise<AddressFields> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const address: Record<string, unknown> = { ...given };
  const problems = (more: AddressFields) => [
    ...(checkShape('Address', { ...anyAddress, ...address, ...more }, 'body').issues ?? []).map(
      ({ loc, msg }) => ({ field: String(loc[1]), message: msg }),
    ),
    ...addressProblems({ ...address, ...more }),
  ];
  // What is there already was right until this answer came: a country can make a postal code or a state wrong.
  const refusal = (asked: string, answer: string): string | undefined =>
    problems({ [asked]: answer }).find(({ field }) => field === asked || Object.hasOwn(address, field))
      ?.message;
  const wrong = problems({}).find(({ field }) => isWrong(given, field));
  if (wrong) throw new UsageError(`${addressFlag(wrong.field) ?? wrong.field}: ${wrong.message}`);
  const prompt = await context.prompt();
  for (const { field, message, adds, default: preset } of questions) {
    if (address[field] !== undefined || (adds !== undefined && given[adds] !== undefined)) continue;
    const answer = await prompt.askText(context, message, {
      check: (text) => refusal(field, text),
      optional: adds !== undefined,
      ...(preset !== undefined && { default: preset }),
    });
    if (answer !== '') address[field] = answer;
  }
  return address;
}
