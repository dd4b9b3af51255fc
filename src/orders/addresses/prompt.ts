import type { Row } from '../../format/result.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { addressInBlock } from './block.ts';
import {
  type AddressFields,
  addressColumns,
  addressFlag,
  addressLine,
  addressProblems,
  addressWords,
  normalised,
} from './options.ts';

const otherAddress = 'another address';

/** Prompts for the shipping address: a saved one, or a new one that may be saved. */
export async function promptShipTo(
  context: Context,
): Promise<{ readonly address: AddressFields; readonly words: readonly string[] }> {
  const store = await context.store();
  const prompt = await context.prompt();
  const names = await offeredAddresses(context);
  const rows = names.map((name): Row & { name: string } => ({ ...store.address(name), name }));
  const columns = addressColumns.filter(({ name }) => name !== 'default');
  const first = rows.find(({ name }) => name === store.defaultAddress()?.name);
  const chosen =
    rows.length > 0
      ? await prompt.askRow(context, 'Ship to', rows, columns, { others: [otherAddress], first })
      : otherAddress;
  if (chosen !== otherAddress) {
    const { name, ...address } = chosen;
    return { address, words: ['--ship-to', name] };
  }
  const address = await askAddress(context);
  const name = await offerToSave(context, address);
  return { address, words: name === undefined ? addressWords(address) : ['--ship-to', name] };
}

/** Names of the saved addresses to which an order can be sent. */
export async function offeredAddresses(context: Context): Promise<string[]> {
  const store = await context.store();
  // The sandbox's example address is fictional, so do not offer it when real money is spent.
  return store.addressNames().filter((name) => context.isRehearsal() || !store.isExample(name));
}

/** @returns the name under which the address was saved, if any. If saving fails, the order continues. */
export async function offerToSave(context: Context, address: AddressFields): Promise<string | undefined> {
  if (context.previewsRequests) return undefined;
  const store = await context.store();
  const prompt = await context.prompt();
  const name = await prompt.askText(context, 'Save this address as (a name; Enter: not saved)', {
    optional: true,
    check: (text) => (isYes(text) ? 'type a name for it, such as home' : store.newNameProblem(text)),
  });
  if (name === '' || isNo(name)) return undefined;
  const { checkedAddress } = await import('./checked.ts');
  try {
    await store.addAddress(name, checkedAddress(address), { asDefault: false, replace: false });
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    await context.report(error);
    return undefined;
  }
  const isDefault = store.defaultAddress()?.name === name;
  context.note(
    isDefault
      ? `saved as ${name}, the default: orders without --ship-to go there`
      : `saved as ${name}: --ship-to ${name} uses it`,
  );
  return name;
}

// A yes or no answers the question. The answer is not a name for the address.
const isYes = (text: string): boolean => /^(?:y|yes)$/i.test(text);
const isNo = (text: string): boolean => /^(?:n|no)$/i.test(text);

interface Question {
  readonly field: string;
  readonly message: string;
  /** The field that this field supplements. If that other field was given, this question is skipped. */
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

/** The first question of a whole address. */
const firstQuestion = 'First name (or paste a whole address)';

/**
 * Placeholders for fields that were not asked for yet. With them, each answer can be checked at once. The question for
 * the country comes before the question for the postal code, because the country determines the format of the postal
 * code.
 */
const anyAddress: AddressFields = {
  first_name: '-',
  last_name: '-',
  address_line1: '-',
  city: '-',
  country: 'US',
  postal_code: '00000',
  phone_number: '-',
};

/** Whether a required field is missing. */
export const lacksFields = (address: AddressFields): boolean =>
  questions.some(({ field, adds }) => adds === undefined && address[field] === undefined);

/** Whether a field was given and can be checked now. A postal code can be checked only if the country is known. */
const isWrong = (given: AddressFields, field: string): boolean =>
  Object.hasOwn(given, field) && (field !== 'postal_code' || given.country !== undefined);

/**
 * Prompts for missing address fields, in the order of the form. Checks each answer as soon as it is given, so that
 * earlier answers are not lost.
 * @throws UsageError if a given field is invalid. This happens before any prompt.
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
  // Also report problems of earlier fields, because this answer may have caused them. For example, a country can make a
  // postal code or a state invalid.
  const problemWith = (prompted: string, answer: string): string | undefined =>
    problems({ [prompted]: answer }).find(({ field }) => field === prompted || Object.hasOwn(address, field))
      ?.message;
  const wrong = problems({}).find(({ field }) => isWrong(given, field));
  if (wrong) throw new UsageError(`${addressFlag(wrong.field) ?? wrong.field}: ${wrong.message}`);
  const prompt = await context.prompt();
  const isWhole = Object.keys(given).length === 0;
  /** Lines that were typed ahead. */
  let typed: string[] = [];
  let isPasted = false;
  for (const { field, message, adds, default: preset } of questions) {
    const skipsLine2 = isPasted && adds !== undefined;
    if (address[field] !== undefined || skipsLine2 || (adds !== undefined && given[adds] !== undefined))
      continue;
    const isFirst = isWhole && field === 'first_name';
    const [ahead] = typed;
    const isTyped = ahead !== undefined && problemWith(field, ahead) === undefined;
    const answer = isTyped
      ? ahead
      : await prompt.askText(context, isFirst ? firstQuestion : message, {
          // Accept a pasted address here; it is parsed below.
          check: (text) => (isFirst && text.includes(',') ? undefined : problemWith(field, text)),
          optional: adds !== undefined,
          ...(preset !== undefined && { default: preset }),
        });
    typed = isTyped ? typed.slice(1) : typed;
    if (isFirst) {
      typed = await prompt.takeTyped(context);
      const block = addressInBlock([answer, ...typed]);
      if (block) {
        isPasted = true;
        typed = [];
        const usable = Object.entries(block).filter(
          ([name, value]) => problemWith(name, String(value)) === undefined,
        );
        Object.assign(address, Object.fromEntries(usable));
        context.note(
          `taken apart: ${addressLine(address)}${address.phone_number ? `, ${address.phone_number}` : ''}`,
        );
        continue;
      }
    }
    if (answer !== '') address[field] = answer;
  }
  return normalised(address);
}
