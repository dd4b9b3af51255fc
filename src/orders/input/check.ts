import { checkShape } from '../../api/schemas/check.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { ValidationIssue } from '../../api/validation.ts';
import { ValidationError } from '../../http/errors.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { addressFlag } from '../addresses/options.ts';
import { eachOrderField } from './fields.ts';
import { wholeCents } from './whole-cents.ts';

const flagFor = (field: string): string | undefined =>
  eachOrderField.find(([name]) => name === field)?.[1].flag;

/**
 * Before an order is sent, validates the whole payload against the contract.
 * @throws UsageError naming each invalid field, the flag of the field, and the file it came from.
 */
export async function checkOrder(payload: unknown, file: string | undefined): Promise<Shape<'OrderCreate'>> {
  const checked = checkShape('OrderCreate', payload, 'body');
  if (checked.value) return wholeCents(checked.value, file);
  const lines = checked.issues.map((issue) => describeIssue(issue, file));
  const [first = '', ...more] = lines;
  const message = more.length === 0 ? first : `the order is not valid: ${lines.join('; ')}`;
  throw new UsageError(message, { code: 'validation_error', details: { detail: checked.issues } });
}

/** Places a validated order. If the service still rejects fields, the error also names the flags and the file. */
export async function inUsersWords<T>(file: string | undefined, place: () => Promise<T>): Promise<T> {
  try {
    return await place();
  } catch (error) {
    const validationError = validationErrorIn(error);
    if (!(error instanceof ErrandError) || validationError === undefined) throw error;
    const facts = { ...error.facts, cause: error };
    throw new ValidationError(validationError.issues, facts, (issue) => describeIssue(issue, file));
  }
}

/**
 * Returns the validation error in the given error: that error itself, or its cause if both have the same message.
 * Undefined if there is none.
 */
function validationErrorIn(error: unknown): ValidationError | undefined {
  if (error instanceof ValidationError) return error;
  const { message, cause } = error instanceof Error ? error : {};
  return cause instanceof ValidationError && cause.message === message ? cause : undefined;
}

function describeIssue({ loc, msg }: ValidationIssue, file: string | undefined): string {
  const [, top = '', next = ''] = loc.map(String);
  const path = loc.slice(1).join('.');
  const flag = top === 'shipping_address' ? (addressFlag(next) ?? flagFor(top)) : flagFor(top);
  const where = [flag, file === '-' ? 'stdin' : file].filter((place) => place !== undefined && place !== '');
  const message = msg.replace(/\brequires (\w+)(?:: true)?/, (words, name) => {
    const required = flagFor(name);
    return required === undefined ? words : `${words} (${required})`;
  });
  return `${path || 'the order'}${where.length > 0 ? ` (${where.join(', ')})` : ''}: ${message}`;
}
