import { createHash } from 'node:crypto';
import type { BulkIssue } from '../../api/bulk-row.ts';
import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { UsageError } from '../../platform/errors.ts';
import { countPrice, emptyPrices, type PriceTally } from '../csv/amounts.ts';
import { repeatedReference } from '../csv/reference-columns.ts';
import { noReadings, type Readings } from '../csv/shop-export-quirks.ts';
import { type FileRow, RowKeys, type RowsOptions, readRows } from '../rows.ts';
import { AmountSpread } from './outliers.ts';
import { parcelWarnings } from './parcel-text.ts';
import { rowsText } from './row-sample.ts';

/** An issue with one cell of a file, as shown to the user. */
export type ShownIssue = Output<'BulkIssue'> & { readonly row: number };

/** Totals of a file. */
export interface Tally {
  rows: number;
  invalid: number;
  issues: number;
  /** Numbers of the first invalid rows that have a stray quote. The quote may have swallowed the rows below. */
  readonly holding: number[];
  /** Numbers of the first rows that lack a valid or unique reference. Filled only if the file gives references. */
  readonly unnamed: number[];
  /** Sum in cents of the ceilings of the valid rows that are paid from the wallet. */
  ceilings: number;
  /** Number of valid rows. If only a shard is read, rows of other shards do not count. */
  orders: number;
  /** Number of valid rows in other shards. */
  elsewhere: number;
  /** Number of rows for which the file gives an idempotency key. */
  ownKeys: number;
  /** Tally of all prices, which shows whether all of them use the same unit. */
  readonly prices: PriceTally;
  /** Distribution of the ceilings of valid rows. */
  readonly spread: AmountSpread;
  /** Cells whose text was interpreted instead of taken literally. */
  readonly readings: Readings;
  /** Receives warnings about the texts of valid rows; undefined if the caller needs no warnings. */
  readonly warn: ((issue: ShownIssue) => void) | undefined;
}

const maxListed = 3;

export const emptyTally = (warn?: Tally['warn']): Tally => ({
  warn,
  rows: 0,
  invalid: 0,
  issues: 0,
  holding: [],
  unnamed: [],
  ceilings: 0,
  orders: 0,
  elsewhere: 0,
  ownKeys: 0,
  prices: emptyPrices(),
  spread: new AmountSpread(),
  readings: noReadings(),
});

/** The shard to read, and the run that seeds the keys by which rows are sharded. */
export interface Part {
  readonly shard: Shard;
  readonly run: string;
  /** Receives the key of each valid row that belongs to another shard. */
  readonly onElsewhere?: ((key: string) => void) | undefined;
}

/** One chunk of checked rows. */
interface CheckedRows {
  /** The valid rows. If only a shard is read, just the rows of that shard. */
  readonly valid: readonly FileRow[];
  /** The invalid rows, each with all its issues. */
  readonly invalid: readonly FileRow[];
  readonly issues: readonly ShownIssue[];
}

/**
 * Validates a file locally and reports every issue of every row. Streams the rows and retains nothing. @param tally is
 * updated while the file is read. @param part limits the valid rows to a shard, and adds each row's key. The key
 * depends on the number of equal rows above the row in the whole file. @throws UsageError for a problem with the file
 * as a whole.
 */
export async function* checkFile(
  chunks: AsyncIterable<Uint8Array>,
  options: RowsOptions,
  tally: Tally,
  part?: Part,
): AsyncGenerator<CheckedRows> {
  const keys = new Map<string, number>();
  const references = new Map<string, number>();
  const rowKeys = part && new RowKeys(part.run);
  for await (const rows of readRows(chunks, { ...options, readings: tally.readings })) {
    const issues: ShownIssue[] = [];
    const valid: FileRow[] = [];
    const invalid: FileRow[] = [];
    for (const read of rows) {
      const repeated = repeatedIn(read, references);
      const own = withSameKey(read, keys);
      const found = repeated.length === 0 ? own : [...own, ...repeated];
      for (const { column, value, message } of found)
        issues.push({ row: read.number, column, value, message });
      tally.rows += 1;
      tally.issues += found.length;
      tally.ownKeys = keys.size;
      if (read.openPrice) countPrice(tally.prices, read.number, read.openPrice);
      const key = found.length > 0 ? undefined : rowKeys?.key(read);
      if (read.mayHoldOthers) addListed(tally.holding, read.number);
      if (read.plan.reference && (!read.reference || repeated.length > 0))
        addListed(tally.unnamed, read.number);
      if (found.length > 0) {
        tally.invalid += 1;
        invalid.push(found === read.issues ? read : { ...read, issues: found });
      } else if (part && key !== undefined && !isInShard(part.shard, key)) {
        tally.elsewhere += 1;
        part.onElsewhere?.(key);
      } else {
        valid.push(key === undefined ? read : { ...read, key });
        tally.orders += 1;
        tally.spread.add(read.number, read.row.maxPrice ?? 0);
        if (tally.warn)
          for (const { column, value, message } of parcelWarnings(read))
            tally.warn({ row: read.number, column, value, message });
        if (read.row.cell('retailer_credentials_id') === '') tally.ceilings += read.row.maxPrice ?? 0;
      }
    }
    yield { valid, invalid, issues };
  }
}

function addListed(rows: number[], row: number): void {
  if (rows.length < maxListed) rows.push(row);
}

/** The issue of a row whose reference an earlier row already has. */
function repeatedIn({ plan, reference, number }: FileRow, rows: Map<string, number>): readonly BulkIssue[] {
  if (!plan.reference || !reference) return [];
  const before = rows.get(reference.text);
  if (before !== undefined) return [repeatedReference(plan.reference, reference, before)];
  rows.set(reference.text, number);
  return [];
}

/** The issues of a row. If an earlier row already uses its idempotency key, there is one more issue. */
function withSameKey({ row, number, issues }: FileRow, keys: Map<string, number>): readonly BulkIssue[] {
  const key = row.cell('idempotency_key');
  if (key === '') return issues;
  const before = keys.get(key);
  if (before === undefined) {
    keys.set(key, number);
    return issues;
  }
  return [...issues, { column: 'idempotency_key', value: key, message: `is that of row ${before} already` }];
}

/** One of the equal parts into which a file is divided: `3/8`. Parts are counted from 1. */
export interface Shard {
  readonly part: number;
  readonly of: number;
}

/** Maximum number of shards. For more machines, a queue is the better tool. */
const maxShards = 1000;

export const shardOption = {
  shard: {
    kind: 'text',
    placeholder: 'i/n',
    description: 'only the rows of this part: 3/8 is the third of eight, by the hash of their keys',
  },
} as const;

/** Parses `3/8`. @throws UsageError. */
function parseShard(text: string): Shard {
  const [, part = '', of = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (of === '')
    throw new UsageError(
      `--shard takes a part and how many there are, such as 3/8, not ${JSON.stringify(text)}`,
    );
  const shard = { part: Number(part), of: Number(of) };
  if (shard.of < 1 || shard.of > maxShards)
    throw new UsageError(`--shard ${text}: a file is divided into 1 to ${countText(maxShards)} parts`);
  if (shard.part >= 1 && shard.part <= shard.of) return shard;
  const parts =
    shard.of === 1 ? 'the only part is 1/1' : `the parts are 1/${shard.of} to ${shard.of}/${shard.of}`;
  throw new UsageError(`--shard ${text}: ${parts}`);
}

/** Parses the shard option of a command. @throws UsageError. */
export const shardOf = (text: string | undefined): Shard | undefined =>
  text === undefined ? undefined : parseShard(text);

/** Whether a row belongs to a shard. Only the row's key decides, not its position or its neighbors. Pure. */
export function isInShard({ part, of }: Shard, key: string): boolean {
  const hash = createHash('sha256').update(key).digest();
  return (hash.readUIntBE(0, 6) % of) + 1 === part;
}

/** Formats `3/8`. */
export const shardText = ({ part, of }: Shard): string => `${part}/${of}`;

/** Formats a name such as `december-3-of-8`, because each shard is an upload of its own. */
export const shardName = (name: string, shard: Shard | undefined): string =>
  shard === undefined ? name : `${name}-${shard.part}-of-${shard.of}`;

/** Formats `shard 3/8: 2,512 of 20,000 rows`. */
export const shardLine = (shard: Shard, own: number, rows: number): string =>
  `shard ${shardText(shard)}: ${countText(own)} of ${rowsText(rows)}`;
