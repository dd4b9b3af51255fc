import { type AmountUnit, amountUnits } from '../api/amount.ts';
import { isObject, type JsonObject, numberIn, own, textIn } from '../api/json.ts';
import { usualBatchRows } from './batches.ts';
import type { TableFlags } from './table-options.ts';
import { tableOptions } from './table-options.ts';

/** What decides the rows, keys and batches of an upload: with it the same file is the same upload. */
export interface UploadSource {
  /** Absolute; null for what came through a pipe. */
  readonly path: string | null;
  /** Of the file. */
  readonly sha256: string;
  readonly table: Omit<TableFlags, 'useMap' | 'saveMap' | 'own'>;
  readonly batchSize: number;
  readonly run: string;
  readonly skipInvalid: boolean;
  readonly notifies: boolean;
  /** The part of the file that it is: `3/8`; undefined for all of it. */
  readonly shard: string | undefined;
  /** Several workers send it, from a queue. */
  readonly isShared: boolean;
}

/** The rows of a file that an upload was sent without. */
export interface LeftOut {
  readonly count: number;
  /** The first of them, as a spreadsheet numbers them, as far as they are known. */
  readonly first: readonly number[];
}

/** Which rows an upload was sent without, as it was kept. */
export function leftOutOf(kept: JsonObject): LeftOut {
  const leftOut = own(kept, 'leftOut');
  const first = own(leftOut, 'first');
  return {
    count: numberIn(leftOut, 'count') ?? 0,
    first: Array.isArray(first) ? first.filter((row) => typeof row === 'number') : [],
  };
}

/** The source of an upload as the state keeps it. */
export const keptSource = (source: UploadSource, leftOut: LeftOut): JsonObject => ({ ...source, leftOut });

/** The source of an upload as it was kept. */
export function sourceOf(kept: JsonObject): UploadSource {
  const table = own(kept, 'table');
  const map = own(table, 'map');
  return {
    path: textIn(kept, 'path') ?? null,
    sha256: textIn(kept, 'sha256') ?? '',
    table: {
      preset: textIn(table, 'preset'),
      // Earlier versions did not ask what each heading is.
      isAsBefore: own(table, 'isAsBefore') !== false,
      map: isObject(map) ? Object.fromEntries(Object.entries(map).map(([key, to]) => [key, String(to)])) : {},
      amounts: oneOf<AmountUnit>(amountUnits, textIn(table, 'amounts')),
      locale: textIn(table, 'locale'),
      encoding: oneOf(tableOptions.encoding.values, textIn(table, 'encoding')),
      delimiter: oneOf(tableOptions.delimiter.values, textIn(table, 'delimiter')),
    },
    batchSize: numberIn(kept, 'batchSize') ?? usualBatchRows,
    run: textIn(kept, 'run') ?? '',
    skipInvalid: own(kept, 'skipInvalid') === true,
    notifies: own(kept, 'notifies') === true,
    shard: textIn(kept, 'shard'),
    isShared: own(kept, 'isShared') === true,
  };
}

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((value) => value === text);
