import { realMs } from '../../platform/clock.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { advance } from '../orders/lifecycle/index.ts';
import { storedColumns, storedOrder } from '../orders/records.ts';
import { loadSettle } from '../orders/settle.ts';
import { advanceReturn } from '../returns/lifecycle.ts';
import { storedReturn } from '../returns/records.ts';
import { loadSettleReturn } from '../returns/settle.ts';
import type { ReadBudget, Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { mayContinue, OneRun } from './scheduler.ts';

type Due = Pick<Service, 'store' | 'idGenerator' | 'report' | 'scheduler'>;
type AdvanceRow = (row: StoredRow, now: number) => void;

interface Kind {
  readonly table: string;
  /** The word that messages use for one record of this kind. */
  readonly noun: string;
  /** Columns to read. */
  readonly columns: string;
  load(service: Due): Promise<AdvanceRow>;
}

/** Entity kinds with scheduled transitions, in dependency order: a return depends on its order. */
const kinds: readonly Kind[] = [
  {
    table: 'orders',
    noun: 'order',
    columns: storedColumns,
    async load(service) {
      const settle = await loadSettle(service);
      return (row, now) => {
        const order = storedOrder(row);
        settle(order, advance(order, now));
      };
    },
  },
  {
    table: 'returns',
    noun: 'return',
    columns: '*',
    async load(service) {
      const settle = await loadSettleReturn(service);
      return (row, now) => {
        const found = storedReturn(row);
        settle(found, advanceReturn(found, now));
      };
    },
  },
];

/** Delay, in ms of sandbox time, before a record that failed to advance is tried again. */
const againAfterMs = 3_600_000;

const runs = new OneRun();

/**
 * Processes everything due by `now` (ms). The cost depends on how much is due, not on the size of the store.
 * @param budgetMs budget in real time. Work that exceeds the budget is left to the next caller.
 */
export function runDueTransitions(
  service: Due,
  now: number,
  budgetMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  return runs.join(
    service.store,
    () => isAnythingDue(service.store, now),
    (end) => advanceUntil(service, now, end),
    budgetMs,
  );
}

async function advanceUntil(service: Due, now: number, end: number): Promise<void> {
  for (const kind of kinds) {
    if (nextDue(service.store, kind.table) > now) continue;
    const advanceRow = await kind.load(service);
    for (let startedAt = realMs(); ; startedAt = realMs()) {
      if (!(await advanceSome(service, kind, advanceRow, now))) break;
      if (realMs() >= end) return;
      await service.scheduler.pause(realMs() - startedAt);
    }
  }
}

/** Whether anything due by `now` (ms) is still unprocessed. */
export const isAnythingDue = (store: Store, now: number): boolean =>
  kinds.some(({ table }) => nextDue(store, table) <= now);

/** The earliest due time of a kind, in ms since the epoch; Infinity if nothing is due. */
const nextDue = (store: Store, table: string): number =>
  store.cached(`next due of ${table}`, () => {
    const row = store.get(`SELECT min(next_due) AS due FROM ${table} WHERE next_due IS NOT NULL`);
    return Number(row?.due ?? Number.POSITIVE_INFINITY);
  });

/** @returns whether more may remain. */
async function advanceSome(service: Due, kind: Kind, advanceRow: AdvanceRow, now: number): Promise<boolean> {
  const { store, scheduler: pace } = service;
  const { chunk } = pace;
  const some = (advanceOne: (row: StoredRow) => void): Promise<boolean> =>
    store.unsyncedTransaction(() => {
      const startedAt = realMs();
      // Read the records inside the transaction, because another process may already have processed some of them.
      const due = store.all(
        `SELECT ${kind.columns} FROM ${kind.table} WHERE next_due <= ? ORDER BY next_due LIMIT ?`,
        now,
        chunk.maxRecords,
      );
      for (const [done, row] of due.entries()) {
        if (!mayContinue(chunk, startedAt, done)) return true;
        advanceOne(row);
      }
      return due.length === chunk.maxRecords;
    });
  try {
    return await some((row) => advanceRow(row, now));
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
  }
  // One record failed and rolled back the whole batch. Retry with each record isolated.
  return some((row) => advanceApart(service, kind, () => advanceRow(row, now), row, now));
}

/**
 * Isolates a record that cannot advance, because of a bug or because a newer version wrote the record in another
 * format. Leaves the record unchanged and retries it later, so that it does not block the other records. Reports only
 * the first failure.
 */
function advanceApart(
  { store, report }: Due,
  { table, noun }: Kind,
  go: () => void,
  row: StoredRow,
  now: number,
) {
  try {
    store.attempt(go);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const { seq } = row;
    if (store.get(`SELECT 1 FROM ${table} WHERE seq = ? AND ${isStuck}`, Number(seq)) === undefined)
      report(
        `${noun} ${idOf(store, table, Number(seq))} cannot go on: ${safeText(String(error), 200)}; it stays as it is, and is tried again later`,
      );
    store.run(`UPDATE ${table} SET next_due = ? WHERE seq = ?`, now + againAfterMs, Number(seq));
  }
}

const idOf = (store: Store, table: string, seq: number): string =>
  safeText(String(store.get(`SELECT id FROM ${table} WHERE seq = ?`, seq)?.id), 100);

/**
 * SQL condition for stuck records. Stuck records were postponed, so they are due later than the next step of their
 * plan. The condition can use an index.
 */
const isStuck = "next_due > json_extract(plan, '$[0].at')";

const maxNamed = 20;

/** Ids of stuck orders and returns, oldest first. */
export const stuckIds = (store: Store): string[] =>
  kinds
    .flatMap(({ table }) =>
      store.all(`SELECT id FROM ${table} WHERE ${isStuck} ORDER BY seq LIMIT ${maxNamed}`),
    )
    .map(({ id }) => String(id));

/**
 * Threshold for a clock jump, in ms. If, between two reads, the sandbox clock gains more than this on real time,
 * somebody moved the sandbox clock.
 */
const leapMs = 500;

/**
 * Decides how long a read waits for due work. If work became due in the normal course of time, the read waits only
 * briefly. If a clock jump made work due, that work is always finished before anyone sees the new time.
 */
export class CatchUpBudget implements ReadBudget {
  readonly #store: Store;
  readonly #defaultMs: number;
  #drift = Number.NEGATIVE_INFINITY;
  #leaptTo = 0;

  /** @param defaultMs in real time. */
  constructor(store: Store, defaultMs: number) {
    this.#store = store;
    this.#defaultMs = defaultMs;
  }

  forRead(now: number): number {
    const drift = now - realMs();
    if (drift - this.#drift > leapMs) this.#leaptTo = now;
    this.#drift = drift;
    return isAnythingDue(this.#store, this.#leaptTo) ? Number.POSITIVE_INFINITY : this.#defaultMs;
  }
}
