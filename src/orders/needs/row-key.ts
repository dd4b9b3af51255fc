import { limits } from '../../api/limits.ts';

/** The form of idempotency keys that are derived from content. */
const derived = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;
const further = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})-\d{1,3}$/;

/**
 * Key of an attempt at a row, derived from the key of the first attempt. Every machine derives the same key, so that
 * processes that order at the same time do not order twice. If the file gives the key, all attempts use that key.
 */
export function rowKey(first: string, number: number): string {
  if (number <= 1 || !derived.test(first)) return first;
  return `${first.replaceAll('-', '')}-${number}`.slice(0, limits.idempotencyKeyLength.max);
}

/** Key of the first attempt at a row, computed from the key of any attempt at that row. */
export const firstKeyOf = (key: string): string => key.replace(further, '$1-$2-$3-$4-$5');

/** Maximum number of attempts at a row for which keys are looked up. */
const maxFurther = 9;

/** Keys of the attempts at a row, from the key of any attempt. */
export const keysOfRow = (key: string): string[] =>
  Array.from({ length: maxFurther }, (_, at) => rowKey(firstKeyOf(key), at + 1));

/** Number of an attempt, read from its key. */
export const attemptNumberOf = (key: string): number =>
  further.test(key) ? Number(key.slice(key.lastIndexOf('-') + 1)) : 1;

/** Key of the attempt that follows the attempt with the given key. */
export const nextRowKey = (key: string): string => rowKey(firstKeyOf(key), 1 + attemptNumberOf(key));
