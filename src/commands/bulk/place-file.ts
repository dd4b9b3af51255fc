import type { Printed } from '../../api/outputs/printed.ts';
import { shardOf } from '../../bulk/check/check.ts';
import { anotherOccasion } from '../../bulk/needs/refused-rows.ts';
import { uploadedColumns } from '../../bulk/upload/columns.ts';
import { namedBatches } from '../../bulk/upload/named.ts';
import { prepareUpload, type UploadGiven } from '../../bulk/upload/prepare.ts';
import { openCopy } from '../../bulk/upload/source.ts';
import { existedBefore, type Sent, uploadFile } from '../../bulk/upload/upload.ts';
import type { SharedGiven } from '../../bulk/workers/share-upload.ts';
import { checkShared } from '../../bulk/workers/terms.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { previewedWith } from '../../run/request-preview.ts';
import { followResult } from './watch.ts';

/** Checks a file, shows its totals, places its orders and reports the results. @throws ErrandError. */
export async function placeFile(
  context: Context,
  file: string,
  { shard: part, watch = false, ...given }: UploadGiven & { readonly shard?: string | undefined },
): Promise<ResultOf<typeof sentOutput>> {
  const shard = shardOf(part);
  const source = await openCopy(context, file, given);
  try {
    const prepared = await prepareUpload(context, source, given, { shard });
    if (!prepared) return nothingIn(String(part), source.name);
    const sent = await previewedWith(prepared.exitCode, () => uploadFile(context, prepared.upload));
    const facts = [
      ...prepared.facts,
      ...existedBefore(sent),
      ...(await anotherOccasion(context, prepared.upload.decided, source.name)),
    ];
    return await sentResult(context, sent, { facts, watch, exitCode: prepared.exitCode });
  } finally {
    await source.close();
  }
}

/**
 * Uploads a file together with other workers, and reports the combined result of all of them.
 * @throws ErrandError.
 */
export async function distributeFile(
  context: Context,
  file: string | undefined,
  { shard, watch = false, ...given }: SharedGiven & { readonly shard?: string | undefined },
): Promise<ResultOf<typeof sentOutput>> {
  checkShared({ shard, file, name: given.name, errors: given.errors });
  const { database } = context.settings;
  if (!database)
    throw new UsageError('bulk upload --share needs a database that all workers reach, and none is named', {
      hint: 'Set ERRAND_DATABASE_URL, or the database of a profile. Without one, --shard 1/4 takes a part of a file.',
    });
  const source = file === undefined ? undefined : await openCopy(context, file, given);
  try {
    const { distributeUpload: shareUpload } = await import('../../bulk/workers/share-upload.ts');
    const { sent, facts, hasOrdered } = await shareUpload(context, database, source, given);
    return await sentResult(context, sent, {
      facts: [...facts, ...(hasOrdered ? [] : existedBefore(sent))],
      watch,
    });
  } finally {
    await source?.close();
  }
}

/** Arguments for a suggested command. They name everything that was sent. */
const wordsOf = ({ name, batches }: Sent): readonly string[] =>
  name === undefined ? batches.map(({ id }) => id) : [name];

/** Output of the commands that send batches. */
export const sentOutput = [
  { list: 'SentBatch' },
  { list: 'bulk.list', when: 'with --watch' },
  { events: 'BatchWatchEvent', when: 'and --watch' },
] as const satisfies readonly Printed[];

/**
 * Result for a shard without rows. @param shard is the shard, such as `3/8`. @param name is the name of the file or
 * plan.
 */
export const nothingIn = (shard: string, name: string): ResultOf<typeof sentOutput> => ({
  kind: 'list',
  rows: [],
  columns: uploadedColumns,
  empty: `no row of ${name} is in shard ${shard}; nothing was sent`,
});

/**
 * Lists the sent batches. With `watch`, follows them to completion instead.
 * @param facts lists notes to print.
 * @param exitCode is the exit code, unless rows fail.
 */
export async function sentResult(
  context: Context,
  sent: Sent,
  {
    facts,
    watch,
    exitCode = 0,
  }: {
    readonly facts: readonly string[];
    readonly watch: boolean;
    readonly exitCode?: number | undefined;
  },
): Promise<ResultOf<typeof sentOutput>> {
  if (sent.batches.length === 0)
    return {
      kind: 'list',
      rows: [],
      columns: uploadedColumns,
      empty: 'there is nothing new to order; nothing was sent',
      hints: () => [...facts],
      exitCode: () => exitCode,
    };
  const words = wordsOf(sent);
  const follow = `follow: errand bulk watch ${words.map(shellWord).join(' ')}${whereFlags(context)}`;
  if (!watch)
    return {
      kind: 'list',
      rows: sent.batches.map((batch) => ({
        ...batch,
        next: [
          {
            command: shellLine`errand bulk watch ${batch.id}` + whereFlags(context),
            when: 'to follow it to its end',
          },
        ],
      })),
      columns: uploadedColumns,
      hints: () => [...facts, follow],
      exitCode: () => exitCode,
    };
  context.note(follow);
  // Refresh first, because other workers may have sent a part of the upload.
  await (await context.journal()).refresh('now');
  await (await context.uploads()).refresh('now');
  const named = await namedBatches(context, words);
  // Rows that were left out of a plan are not pending, because they were left out on purpose.
  const uploads = named.uploads.map((upload) => ({ ...upload, rows: upload.sent }));
  const result = await followResult(context, { ...named, uploads });
  return {
    ...result,
    hints: () => [...facts, ...(result.hints?.() ?? [])],
    exitCode: () => result.exitCode?.() || exitCode,
  };
}
