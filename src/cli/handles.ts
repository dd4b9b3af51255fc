import type { Completable } from '../run/option.ts';
import { isRowNumber } from '../run/row-references.ts';
import type { AnyCommand } from './define.ts';
import type { Values } from './mount.ts';

/** Whether a text is a listing id from a search across retailers. The service chooses the prefix of such ids. */
export const isListingId = (text: string): boolean => /^[A-Za-z0-9]+_sku_[A-Za-z0-9]+$/.test(text);

/** Finds a command's arguments and options whose values refer to records. */
export const naming = ({
  arguments: given = [],
  options = {},
}: AnyCommand): (readonly [string, Completable])[] =>
  [
    ...given.map((argument): [string, Completable] => [argument.name, argument]),
    ...Object.entries(options),
  ].filter(([, { names }]) => names !== undefined);

const whole = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/**
 * Whether any value may need a lookup. If no value does, nothing has to be loaded. This is the normal case, because
 * values are mostly whole ids and URLs.
 */
export function hasHandles(command: AnyCommand, input: Values): boolean {
  return naming(command).some(([name, { names }]) => {
    const isHandle = names === 'products' ? isListingId : (text: string) => !whole.test(text) && text !== '-';
    return textsOf(input[name]).some((text) => isRowNumber(text) || isHandle(text));
  });
}

export const textsOf = (value: unknown): readonly string[] =>
  [value].flat().filter((text) => typeof text === 'string');
