import { resolve } from 'node:path';
import type { Attempt } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import type { Context } from '../../run/context.ts';
import { fingerprintOf } from '../check/file-check.ts';
import type { RowSource } from '../needs/decide-rows.ts';
import { blockedRows, countsLine, differsLines } from '../needs/refused-rows.ts';
import { type NamedUpload, uploadName } from '../upload/begin.ts';
import type { LeftOutRow, UploadFileRow } from '../upload/file-rows.ts';
import { knownUpload } from '../upload/named.ts';
import type { LeftOut } from '../upload/source.ts';
import { type DecidedPlan, decidePlan, needName, numbersIn, type RowOutcome } from './decided.ts';
import { isNew, rowsNamed } from './file.ts';
import type { ReadPlan } from './read.ts';

/** The rows of a plan that are applied, with the decisions about them. */
export interface Applying extends DecidedPlan {
  readonly read: ReadPlan;
  readonly selected: ReadPlan['rows'];
}

/**
 * Decides which rows of a plan are sent: the rows that the plan calls new, as the attempts that it names, unless they
 * were ordered since. @throws ErrandError if the state of an earlier attempt cannot be read.
 */
export async function decideApplied(
  context: Context,
  read: ReadPlan,
  selected: ReadPlan['rows'],
): Promise<Applying> {
  const { plan } = read;
  const columns = { headings: plan.headings, fileHeadings: plan.file_headings };
  const rows = selected.filter(({ planned }) => isNew(planned) || planned.placed !== null);
  const work = await decidePlan(
    context,
    { ...columns, all: read.rows, rows, batchSize: plan.batch_size, ...(await hooksOf(context, read)) },
    { run: plan.run, again: plan.made_from.again ?? false },
  );
  return { ...work, read, selected };
}

async function hooksOf(
  context: Context,
  { plan, rows }: ReadPlan,
): Promise<Pick<RowSource, 'covers' | 'ignores'>> {
  const byNumber = new Map(rows.map(({ number, planned }) => [number, planned]));
  const wasShown = plan.plan === 1 ? await shownByEarlier(context) : undefined;
  return {
    covers(row, { key, number }) {
      const planned = byNumber.get(row.number);
      if (!planned || !isNew(planned) || key !== planned.key) return false;
      const { attempt } = planned;
      return attempt == null || (needName(row) === attempt.need && number <= attempt.number);
    },
    ...(wasShown && {
      ignores: ({ number, need, firstKey }, one, related) =>
        need.reference === undefined &&
        firstKeyOf(one.key) !== firstKey &&
        wasShown(byNumber.get(number)?.twins ?? [], one, related),
    }),
  };
}

/**
 * For a plan of version 1: returns whether the user was shown an attempt. For each row, such a plan lists only the
 * newest similar order. That order does not block the row, and neither do orders that this journal recorded before it.
 */
async function shownByEarlier(
  context: Context,
): Promise<(twins: readonly string[], one: Attempt, related: readonly Attempt[]) => boolean> {
  if (!journalExists(context.settings)) return () => false;
  const journal = await context.journal();
  const recordOf = ({ upload, key }: Attempt) => journal.find(upload ?? key, context.settings.baseUrl.value);
  return (twins, one, related) => {
    const at = recordOf(one)?.created_at;
    if (at === undefined || twins.length === 0) return false;
    return related.some((other) => {
      const record = recordOf(other);
      if (!record) return false;
      const named = [record.order_id ?? record.key, record.key];
      return named.some((id) => twins.some((text) => text.includes(id))) && at <= record.created_at;
    });
  };
}

/** Numbers of the rows that the plan calls new but that are not sent until the user says how to treat them. */
export function unsentRows({ outcomes, selected, rest }: Applying): number[] {
  const sent = new Set(numbersIn(rest));
  return selected
    .filter(({ number, planned }) => isNew(planned) && !sent.has(number) && !isSent(outcomes.get(number)))
    .map(({ number }) => number);
}

const isSent = (outcome: RowOutcome | undefined): boolean =>
  outcome?.decision.do === 'adopt' || outcome?.decision.do === 'settle';

/** Leaves out the rows that other orders have blocked since the plan was made. */
export async function leaveOutChanged(context: Context, work: Applying): Promise<string[]> {
  const { decided, read, outcomes, selected, rest, inDoubt } = work;
  const lines = await differsLines(context, decided);
  if (decided.isBlocked) {
    const refusal = await blockedRows(context, decided, read.path);
    if (rest.length + inDoubt.length === 0) throw refusal;
    lines.push(refusal.message.replace('; nothing was sent', '; these are not sent'));
    decided.leaveOut();
  }
  const counted = countsLine(decided.counts);
  const named = (found: (outcome: RowOutcome, isPlannedNew: boolean) => boolean): number[] =>
    selected
      .filter(({ number, planned }) => {
        const outcome = outcomes.get(number);
        return outcome !== undefined && found(outcome, isNew(planned));
      })
      .map(({ number }) => number);
  const changes = [
    [
      named(({ decision }, isPlannedNew) => isPlannedNew && decision.do === 'adopt'),
      'placed since this was planned; not sent again',
    ],
    [
      named(({ decision }, isPlannedNew) => isPlannedNew && isMovedOn(decision)),
      'an attempt since this was planned has ended; this plan covers no other: plan again',
    ],
    [
      named(({ decision }, isPlannedNew) => !isPlannedNew && isMovedOn(decision)),
      'placed when this was planned, and ended since; not in this plan: plan again to order anew',
    ],
  ] as const;
  return [
    ...(counted === undefined ? [] : [counted]),
    ...changes.flatMap(([numbers, what]) => (numbers.length === 0 ? [] : [`${rowsNamed(numbers)}: ${what}`])),
    ...lines,
  ];
}

const isMovedOn = (decision: RowOutcome['decision']): boolean =>
  decision.do === 'refuse' && decision.why === 'not_covered';

/** Names the upload. The upload is identified by its row keys, so a plan and its file count as the same upload. */
export async function uploadOf(
  context: Context,
  { read: { path, plan, rows }, inDoubt, decided }: Applying,
): Promise<NamedUpload> {
  const file = plan.file.name;
  const identity = fingerprintOf(rows.map(({ key }) => key));
  const { name } = await uploadName(context, { given: undefined, file, identity });
  const leftOut: LeftOut = { count: plan.file.left_out, first: [] };
  const planned = rows.filter((row) => isNew(row.planned)).map(({ number }) => number);
  const numbers = new Set([...planned, ...numbersIn(inDoubt), ...(await numbersSent(context, name))]);
  return {
    name,
    upload: { identity, file, rows: numbers.size, source: { plan: resolve(path), leftOut } },
    async *fileRows() {
      yield fileRowsOf(plan, decided);
    },
  };
}

/** The rows of the planned file, each with the decision about it. */
function fileRowsOf(
  { headings, file_headings: fileHeadings = headings, rows, unplanned = [] }: ReadPlan['plan'],
  { leftOut }: Applying['decided'],
): UploadFileRow[] {
  const planned = rows.map(
    ({ row, cells, written, placed, left_out: why }): UploadFileRow => ({
      ...{ number: row, headings, fileHeadings, cells, written },
      leftOut: leftOut.get(row) ?? plannedFate(placed, why ?? null),
    }),
  );
  const others = unplanned.map(
    ({ row, cells, written, why, reason }): UploadFileRow => ({
      ...{ number: row, headings, fileHeadings, cells, written },
      leftOut: { why, reason },
    }),
  );
  return [...planned, ...others].sort((one, other) => one.number - other.number);
}

function plannedFate(placed: string | null, why: string | null): LeftOutRow | undefined {
  if (placed !== null) return { why: 'placed', reason: placed };
  return why === null ? undefined : { why: 'duplicate', reason: why };
}

/** Numbers of the rows that an upload has already sent. */
export async function numbersSent(context: Context, name: string): Promise<ReadonlySet<number>> {
  const known = await knownUpload(context, name);
  return new Set(known?.batches.flatMap(({ layout }) => layout.numbers));
}
