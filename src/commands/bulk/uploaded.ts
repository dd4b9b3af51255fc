import type { Printed } from '../../api/outputs/printed.ts';
import { uploadedColumns } from '../../bulk/batch-columns.ts';
import { namedBatches } from '../../bulk/named.ts';
import type { Sent } from '../../bulk/upload/upload.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { followResult } from './watch.ts';

/** What names everything that was sent, in a command to type. */
const wordsOf = ({ name, batches }: Sent): readonly string[] =>
  name === undefined ? batches.map(({ id }) => id) : [name];

/** What a command prints that sends batches. */
export const sentOutput = [
  { list: 'SentBatch' },
  { list: 'bulk.list', when: 'with --watch' },
  { events: 'BatchWatchEvent', when: 'and --watch' },
] as const satisfies readonly Printed[];

/** What becomes of a shard that no row falls to. @param shard `3/8`. @param name of the file or the plan. */
export const nothingIn = (shard: string, name: string): ResultOf<typeof sentOutput> => ({
  kind: 'list',
  rows: [],
  columns: uploadedColumns,
  empty: `no row of ${name} is in shard ${shard}; nothing was sent`,
});

/**
 * The batches that were sent, followed to their end where that is asked for. @param facts what is to be told of them.
 * @param toldRows as `followResult` takes them.
 */
export async function sentResult(
  context: Context,
  sent: Sent,
  {
    facts,
    watch,
    toldRows,
  }: {
    readonly facts: readonly string[];
    readonly watch: boolean;
    readonly toldRows?: ReadonlySet<number> | undefined;
  },
): Promise<ResultOf<typeof sentOutput>> {
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
    };
  context.note(follow);
  // Other workers may have sent a part of it.
  await (await context.journal()).refresh('now');
  await (await context.uploads()).refresh('now');
  const named = await namedBatches(context, words);
  // What was left out of a plan was left out on purpose.
  const uploads = named.uploads.map((upload) => ({ ...upload, rows: upload.sent }));
  const result = await followResult(context, { ...named, uploads }, toldRows);
  return { ...result, hints: () => [...facts, ...(result.hints?.() ?? [])] };
}
