import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import type { Plan } from '../../api/schemas/plan-file.ts';
import type { ErrorFacts } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { flagsTo, whereFlags } from '../../run/context-flags.ts';
import { referenceFlags, tableFlags } from '../csv/table-options.ts';
import { defaultBatchRows } from '../upload/batches.ts';

/** How to make a plan again without changing any row's key. Has no command if the keys could change. */
export type Again = Pick<ErrorFacts, 'hint' | 'next'>;

/** Flags of an upload that determine its rows, keys and batches, each preceded by a space. */
export function uploadFlags({
  run = '',
  batchSize = defaultBatchRows,
  skipInvalid = false,
  skipDuplicates = false,
  again = false,
  notifies = false,
  prices = true,
  shard,
}: {
  readonly run?: string | undefined;
  readonly batchSize?: number | undefined;
  readonly skipInvalid?: boolean | undefined;
  readonly skipDuplicates?: boolean | undefined;
  readonly again?: boolean | undefined;
  readonly notifies?: boolean | undefined;
  readonly prices?: boolean | undefined;
  readonly shard?: string | undefined;
}): string {
  const flags = [
    run !== '' && `--run ${shellWord(run)}`,
    batchSize !== defaultBatchRows && `--batch-size ${batchSize}`,
    skipInvalid && '--skip-invalid',
    skipDuplicates && '--skip-duplicates',
    again && '--again',
    notifies && '--notify-on-complete',
    !prices && '--no-prices',
    shard !== undefined && `--shard ${shard}`,
  ];
  return flags.flatMap((flag) => (flag === false ? [] : ` ${flag}`)).join('');
}

/** Suggests how to make a plan again. @param path is the path of the plan. */
export async function planAgain(
  context: Context,
  { path, plan }: { readonly path: string; readonly plan: Plan },
): Promise<Again> {
  const { made_from: from, file } = plan;
  const where = await whereOf(context, plan);
  if (where === undefined) return { hint: `Plan again with the key that it was made with: ${keysFollow}` };
  const source = from.path === null ? '-' : shown(from.path);
  const problem = from.path === null ? undefined : await changeOf(from.path, file.sha256, 'planned');
  if (problem !== undefined)
    return {
      hint: `${source} ${problem}. Plan again from the file as it was: a row that has changed would be a new order, though it was ordered before.`,
    };
  if (from.preset !== undefined && (await context.store()).map(from.preset))
    return {
      hint: `A saved map has the name of the preset ${from.preset}, with which this was planned: its rows would be other orders.`,
    };
  const { map, amounts, encoding, delimiter, locale, sheet, quotes, skip_invalid: skipInvalid } = from;
  const table = tableFlags({
    map,
    useMap: from.preset,
    ...referenceFlags(from.reference),
    amounts: amounts ?? undefined,
    encoding: encoding ?? undefined,
    delimiter: delimiter ?? undefined,
    locale: locale ?? undefined,
    ...{ quotes, default: from.defaults, sheet },
  });
  const upload = uploadFlags({
    ...{ run: plan.run, batchSize: plan.batch_size, skipInvalid },
    ...{ skipDuplicates: from.skip_duplicates, again: from.again },
    ...{ notifies: plan.notify_on_complete, prices: plan.priced_at !== null },
  });
  return {
    hint: 'Plan again in the same way: rows that were ordered keep their keys, and are not ordered twice.',
    next: [
      {
        command: `errand bulk plan ${shellWord(source)} --out ${shellWord(path)} --force${table}${upload}${where}`,
        when: from.path === null ? `to plan it again, with ${file.name} on stdin` : 'to plan it again',
      },
    ],
  };
}

const keysFollow = 'under another account each row would be a new order.';

/**
 * Flags that select the account of a plan; undefined if no profile on this machine is known to belong to that account.
 */
export async function whereOf(context: Context, plan: Plan): Promise<string | undefined> {
  const { settings } = context;
  const { account } = await context.sender();
  const isHere = plan.service === settings.baseUrl.value && plan.account === account;
  if (plan.profile === settings.profile.value) return isHere ? whereFlags(context) : undefined;
  if ((await context.store()).profile(plan.profile) === undefined)
    return isHere ? whereFlags(context) : undefined;
  if (plan.service !== settings.baseUrl.value || settings.baseUrl.from === 'flag')
    return flagsTo(context, plan.profile, plan.service);
  return ` --profile ${shellWord(plan.profile)}`;
}

/** Shortens a path under the working directory to a relative one. */
function shown(path: string): string {
  const near = relative(process.cwd(), path);
  if (near === '' || near.startsWith('..') || isAbsolute(near)) return path;
  return near.startsWith('-') ? `./${near}` : near;
}

/** Why a file no longer yields the same rows; undefined if it does. */
export async function changeOf(
  path: string,
  sha256: string,
  since: 'planned' | 'uploaded',
): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return 'is no longer there';
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    return 'cannot be read';
  }
  return hash.digest('hex') === sha256 ? undefined : `has changed since it was ${since}`;
}
