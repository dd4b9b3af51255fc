import { createHash } from 'node:crypto';
import { countText } from '../format/counts.ts';
import { UsageError } from '../platform/errors.ts';
import { rowsText } from './spend.ts';

/** One of the equal parts that a file is divided into, counted from 1: `3/8`. */
export interface Shard {
  readonly part: number;
  readonly of: number;
}

/** More machines than that need a queue. */
const mostShards = 1000;

export const shardOption = {
  shard: {
    kind: 'text',
    placeholder: 'i/n',
    description: 'only the rows of this part: 3/8 is the third of eight, by the hash of their keys',
  },
} as const;

/** Reads `3/8`. @throws UsageError. */
export function parseShard(text: string): Shard {
  const [, part = '', of = ''] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  if (of === '')
    throw new UsageError(
      `--shard takes a part and how many there are, such as 3/8, not ${JSON.stringify(text)}`,
    );
  const shard = { part: Number(part), of: Number(of) };
  if (shard.of < 1 || shard.of > mostShards)
    throw new UsageError(`--shard ${text}: a file is divided into 1 to ${countText(mostShards)} parts`);
  if (shard.part >= 1 && shard.part <= shard.of) return shard;
  const parts =
    shard.of === 1 ? 'the only part is 1/1' : `the parts are 1/${shard.of} to ${shard.of}/${shard.of}`;
  throw new UsageError(`--shard ${text}: ${parts}`);
}

/** Those of a command's options. @throws UsageError. */
export const shardOf = (text: string | undefined): Shard | undefined =>
  text === undefined ? undefined : parseShard(text);

/** Whether a row belongs to a shard, by its key alone: wherever it stands in the file, and whatever stands beside it. Pure. */
export function isInShard({ part, of }: Shard, key: string): boolean {
  const hash = createHash('sha256').update(key).digest();
  return (hash.readUIntBE(0, 6) % of) + 1 === part;
}

/** `3/8`. */
export const shardText = ({ part, of }: Shard): string => `${part}/${of}`;

/** `december-3-of-8`: its rows are an upload of their own. */
export const shardName = (name: string, shard: Shard | undefined): string =>
  shard === undefined ? name : `${name}-${shard.part}-of-${shard.of}`;

/** `shard 3/8: 2,512 of 20,000 rows`. */
export const shardLine = (shard: Shard, own: number, rows: number): string =>
  `shard ${shardText(shard)}: ${countText(own)} of ${rowsText(rows)}`;
