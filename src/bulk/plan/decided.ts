import { canonicalJson, sha256 } from '../../format/canonical.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { metadataOf } from '../../orders/needs/reference.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import {
  type DecidedRows,
  decideRows,
  type RowDecision,
  type RowSource,
  type RowsAsked,
} from '../needs/decide-rows.ts';
import { ownKeyNamespace, type RowNeed } from '../needs/row-need.ts';
import type { UploadRow } from '../rows.ts';
import { type Batch, batchesAgain } from '../upload/batches.ts';
import { rangesText } from './file.ts';

/** A row of a planned file. */
export interface SendableRow {
  readonly number: number;
  /** Idempotency key of the first attempt. */
  readonly key: string;
  /** Whether the file gives the key. */
  readonly hasOwnKey: boolean;
  /** The row's cells as they are sent, with the key above. */
  readonly cells: UploadRow;
}

/** Columns of a planned file. */
export type Columns = Pick<Batch, 'headings' | 'fileHeadings'>;

/** The decision about a row. */
export interface RowOutcome {
  readonly row: RowNeed;
  readonly decision: RowDecision;
  /** All attempts at similar needs. */
  readonly related: readonly Attempt[];
}

export interface DecidedPlan {
  readonly decided: DecidedRows;
  /** The decision about each row, by row number. */
  readonly outcomes: ReadonlyMap<number, RowOutcome>;
  /** Batches to send. */
  readonly rest: readonly Batch[];
  /** Batches in doubt, which are resent unchanged. */
  readonly inDoubt: ReturnType<DecidedRows['settling']>;
}

interface PlanToDecide extends Columns, Pick<RowSource, 'covers' | 'ignores'> {
  /** All rows of the file. They are not compared with each other. */
  readonly all: readonly SendableRow[];
  /** The rows to decide about. */
  readonly rows: readonly SendableRow[];
  readonly batchSize: number;
}

/**
 * Decides about the rows of a plan. Sends nothing. @throws ErrandError if the state of an earlier attempt cannot be
 * read.
 */
export async function decidePlan(
  context: Context,
  { all, rows, batchSize, headings, fileHeadings, ...hooks }: PlanToDecide,
  asked: Omit<RowsAsked, 'door'>,
): Promise<DecidedPlan> {
  const keys = new Set(all.map(({ key }) => key));
  const outcomes = new Map<number, RowOutcome>();
  const whole: Batch = {
    ...{ key: '', headings, fileHeadings },
    rows: rows.map(({ cells }) => cells),
    numbers: rows.map(({ number }) => number),
    ownKeys: rows.filter(({ hasOwnKey }) => hasOwnKey).map(({ number }) => number),
  };
  const decided = await decideRows(
    context,
    {
      ...hooks,
      batches: () => batchesAgain(inOne(whole), batchSize),
      isOfFile: ({ key }) => keys.has(key) || keys.has(firstKeyOf(key)),
      note: (row, decision, related) => outcomes.set(row.number, { row, decision, related }),
    },
    { ...asked, door: 'plan' },
  );
  return {
    decided,
    outcomes,
    rest: await restOf(decided, batchSize),
    inDoubt: decided.settling(),
  };
}

async function* inOne(batch: Batch): AsyncGenerator<Batch> {
  if (batch.rows.length > 0) yield batch;
}

async function restOf(decided: DecidedRows, batchSize: number): Promise<Batch[]> {
  const rest: Batch[] = [];
  for await (const batch of decided.batches(batchSize)) rest.push(batch);
  return rest;
}

/** Numbers of the rows that are sent, in ascending order. */
export const numbersIn = (batches: readonly Pick<Batch, 'numbers'>[]): number[] =>
  batches.flatMap(({ numbers }) => numbers).sort((one, other) => one - other);

/** Numbers of the rows that were sent before, or may have been. */
export const sentRows = ({ outcomes }: Pick<DecidedPlan, 'outcomes'>): number[] =>
  [...outcomes.values()].flatMap(({ row, decision }) => (isSent(decision) ? [row.number] : []));

const isSent = (decision: RowDecision): boolean =>
  decision.do === 'settle' || (decision.do === 'adopt' && decision.by !== 'likeness');

/**
 * Name of a row's need in a plan: its reference or the key that the file gives. Without either, it is a hash of its
 * products and recipient. Pure.
 */
export function needName({ need: { reference, products, recipient } }: Pick<RowNeed, 'need'>): string {
  if (reference?.namespace === ownKeyNamespace) return reference.text;
  return reference ? metadataOf(reference) : sha256(canonicalJson([products, recipient])).slice(0, 32);
}

/**
 * Checks that a batch in doubt contains only selected rows. The batch is resent unchanged, so it would place any other
 * rows, too. @throws ErrandError conflict.
 */
export function checkSelected(
  context: Context,
  { inDoubt, outcomes }: DecidedPlan,
  all: readonly SendableRow[],
): void {
  const numbers = new Map(all.map(({ key, number }) => [key, number]));
  const batch = inDoubt.find((one) => one.numbers.some((number) => !outcomes.has(number)));
  if (!batch) return;
  const rows = batch.rows.flatMap(({ idempotency_key: key = '' }) => numbers.get(firstKeyOf(key)) ?? []);
  throw new ErrandError(
    'conflict',
    `rows ${rangesText(rows)} were sent together, as ${batch.key}, which is in doubt, and not all of them are chosen now`,
    {
      idempotencyKey: batch.key,
      outcome: 'unknown',
      hint: 'Settle that batch first: it may have placed its rows, chosen or not. Nothing was sent now.',
      next: [
        {
          command: journalCommand('resume', batch.key, whereFlags(context)),
          when: 'to see what became of it',
        },
      ],
    },
  );
}
