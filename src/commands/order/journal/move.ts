import { defineCommand } from '../../../cli/define.ts';
import { countText } from '../../../format/counts.ts';
import { paidAccount } from '../../../journal/journal-record.ts';
import type { Moved, MoveOptions } from '../../../journal/postgres/move.ts';
import { exitCodes, UsageError } from '../../../platform/errors.ts';
import type { Context } from '../../../run/context.ts';
import { columnsFor, shown } from './columns.ts';

export const move = defineCommand({
  name: 'move',
  summary: "Take this machine's open orders into the shared database",
  description:
    'For the day on which several machines begin to share a journal. What is in doubt or was never reported in the journal of this machine goes into the database that ERRAND_DATABASE_URL or the profile names, with what its policy has reserved for it; from then on any machine can resume it there. What was ordered from here before, with or without a reference, is known there too, so that no machine orders it again. Until then nothing is ordered from here. Cut short, the same command does the rest.',
  options: {
    dryRun: { kind: 'flag', description: 'show what would be moved; move nothing' },
  },
  examples: [
    { command: 'errand order journal move --dry-run', note: 'what is open on this machine alone' },
    { command: 'errand order journal move', note: 'into the database' },
  ],
  output: { list: 'JournalRecord' },
  exitCodes: {
    5: 'some stay here, since the database has another order of the same key, or they are damaged',
  },
  related: ['order journal list', 'order journal resume'],
  async run(context, { dryRun: isPreview = false }) {
    const { database: address, folders } = context.settings;
    if (address === undefined)
      throw new UsageError('no database is named: set ERRAND_DATABASE_URL, or that of the profile', {
        hint: 'The journal of this machine alone needs no move.',
      });
    const { moveJournal } = await import('../../../journal/postgres/move.ts');
    const moved = await moveJournal(
      folders.state,
      { address },
      {
        now: context.clock.now,
        origin: await context.origin(),
        macFor: await signingKeys(context),
        waiting: { signal: context.signal },
        isPreview,
      },
    );
    return {
      kind: 'list',
      rows: moved.records.map(shown),
      ...columnsFor(moved.records),
      id: 'key',
      empty: 'this machine has nothing open of its own',
      hints: () => hints(moved, address.shown, isPreview),
      exitCode: () => (moved.left.length > 0 ? exitCodes.conflict : 0),
    };
  },
});

/** Finds the key of an account among the keys stored on this machine. */
async function signingKeys(context: Context): Promise<MoveOptions['macFor']> {
  const [{ fingerprint, keysOf }, { machineMac, macUnder }] = await Promise.all([
    import('../../../config/keys.ts'),
    import('../../../journal/mac.ts'),
  ]);
  const { legacyToken, folders } = context.settings;
  const { profiles } = (await context.store()).stored;
  const stored = Object.values(profiles).flatMap((profile) => [
    ...keysOf(profile).map(({ key }) => key),
    profile.legacy_token,
  ]);
  const keys = [(await context.apiKey())?.value, legacyToken?.value, ...stored].filter(
    (key) => key !== undefined,
  );
  return (account, baseUrl) => {
    if (account === paidAccount) return machineMac(folders.state);
    const key = keys.find((one) => fingerprint(one, baseUrl) === account);
    return key === undefined ? undefined : macUnder(key);
  };
}

function hints(
  { records, reservations, attempts, left }: Moved,
  shownAddress: string,
  isPreview: boolean,
): string[] {
  const held = reservations === 0 ? '' : `, with ${countText(reservations)} of the policy's reservations`;
  const went = isPreview ? 'would go' : records.length === 1 ? 'is' : 'are';
  return [
    ...(records.length === 0
      ? []
      : [
          `${countText(records.length)} ${went} ${isPreview ? 'into' : 'in'} the database ${shownAddress}${held}`,
        ]),
    ...(attempts === 0
      ? []
      : [
          `the database ${isPreview ? 'would know' : 'knows'} of ${countText(attempts)} ${attempts === 1 ? 'order' : 'orders'} of this machine, so that none is ordered again`,
        ]),
    ...left.map(({ record, why }) => `${record.key} stays here: ${why}`),
    ...(isPreview || records.length === 0 ? [] : ['errand order journal resume --all settles them there']),
  ];
}
