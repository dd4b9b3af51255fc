import type { Completable } from '../run/option.ts';
import { isRowNumber } from '../run/row-references.ts';
import type { AnyCommand } from './define.ts';
import type { Values } from './mount.ts';

/** The id that a search across retailers gives a listing; its prefix is the service's own. */
export const isListingId = (text: string): boolean => /^[A-Za-z0-9]+_sku_[A-Za-z0-9]+$/.test(text);

/** The arguments and options of a command that name records. */
export const naming = ({
  arguments: given = [],
  options = {},
}: AnyCommand): (readonly [string, Completable])[] =>
  [
    ...given.map((argument): [string, Completable] => [argument.name, argument]),
    ...Object.entries(options),
  ].filter(([, { names }]) => names !== undefined);

const whole = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Whether a value may have to be looked up: most are whole ids and URLs, and nothing need be loaded for them. */
export function hasHandles(command: AnyCommand, input: Values): boolean {
  return naming(command).some(([name, { names }]) => {
    const isHandle = names === 'products' ? isListingId : (text: string) => !whole.test(text) && text !== '-';
    return textsOf(input[name]).some((text) => isRowNumber(text) || isHandle(text));
  });
}

export const textsOf = (value: unknown): readonly string[] =>
  [value].flat().filter((text) => typeof text === 'string');
