import { realMs } from '../../platform/clock.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { advance } from '../orders/lifecycle/index.ts';
import { storedColumns, storedOrder } from '../orders/records.ts';
import { loadSettle } from '../orders/settle.ts';
import { advanceReturn } from '../returns/lifecycle.ts';
import { storedReturn } from '../returns/records.ts';
import { loadSettleReturn } from '../returns/settle.ts';
import type { ReadPatience, Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { mayGoOn, OneRun } from './scheduler.ts';

type Due = Pick<Service, 'store' | 'identity' | 'report' | 'pace'>;
type AdvanceRow = (row: StoredRow, now: number) => void;

interface Kind {
  readonly table: string;
  /** What one of them is called. */
  readonly noun: string;
  /** That are read of it. */
  readonly columns: string;
  load(service: Due): Promise<AdvanceRow>;
}

/** What has a future of its own, in the order in which it is brought about: a return stands on its order. */
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

/** How much later a record that could not go on is tried again, ms of the sandbox's time. */
const againAfterMs = 3_600_000;

const runs = new OneRun();

/**
 * Brings about everything that is due by `now` (ms). Costs in proportion to what is due, not to what there is.
 * @param patienceMs of real time, after which the rest is left to whoever comes next.
 */
export function bringUpToDate(
  service: Due,
  now: number,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  return runs.join(
    service.store,
    () => isAnythingDue(service.store, now),
    (end) => advanceUntil(service, now, end),
    patienceMs,
  );
}

async function advanceUntil(service: Due, now: number, end: number): Promise<void> {
  for (const kind of kinds) {
    if (nextDue(service.store, kind.table) > now) continue;
    const advanceRow = await kind.load(service);
    for (let began = realMs(); ; began = realMs()) {
      if (!(await advanceSome(service, kind, advanceRow, now))) break;
      if (realMs() >= end) return;
      await service.pace.pause(realMs() - began);
    }
  }
}

/** Whether anything is due by `now` (ms) that was not brought about yet. */
export const isAnythingDue = (store: Store, now: number): boolean =>
  kinds.some(({ table }) => nextDue(store, table) <= now);

/** When the next of a kind is due, ms since the epoch; Infinity where none is. */
const nextDue = (store: Store, table: string): number =>
  store.cached(`next due of ${table}`, () => {
    const row = store.get(`SELECT min(next_due) AS due FROM ${table} WHERE next_due IS NOT NULL`);
    return Number(row?.due ?? Number.POSITIVE_INFINITY);
  });

/** @returns whether there may be more. */
async function advanceSome(service: Due, kind: Kind, advanceRow: AdvanceRow, now: number): Promise<boolean> {
  const { store, pace } = service;
  const { piece } = pace;
  const some = (advanceOne: (row: StoredRow) => void): Promise<boolean> =>
    store.derived(() => {
      const began = realMs();
      // Read within the transaction: another process may have been faster.
      const due = store.all(
        `SELECT ${kind.columns} FROM ${kind.table} WHERE next_due <= ? ORDER BY next_due LIMIT ?`,
        now,
        piece.most,
      );
      for (const [done, row] of due.entries()) {
        if (!mayGoOn(piece, began, done)) return true;
        advanceOne(row);
      }
      return due.length === piece.most;
    });
  try {
    return await some((row) => advanceRow(row, now));
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
  }
  // One of them cannot go on, and has undone them all.
  return some((row) => advanceApart(service, kind, () => advanceRow(row, now), row, now));
}

/**
 * A record that cannot go on, by a bug or as a newer version made it, stays as it is and is tried again later: it must not
 * keep all others from going on. It is reported the first time.
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

/** A record that could not go on is due later than the next step of its plan is. An index finds them. */
const isStuck = "next_due > json_extract(plan, '$[0].at')";

const mostNamed = 20;

/** Ids of orders and returns that could not go on, oldest first. */
export const stuckIds = (store: Store): string[] =>
  kinds
    .flatMap(({ table }) =>
      store.all(`SELECT id FROM ${table} WHERE ${isStuck} ORDER BY seq LIMIT ${mostNamed}`),
    )
    .map(({ id }) => String(id));

/** A sandbox clock that gained more than this on the machine's since the last read was moved, ms. */
const leapMs = 500;

/**
 * How long a read waits for what is due. What became due as time went by, and is more than can be done at once, is not
 * waited for long; what a leap of the clock has made due comes about before anyone sees the time after it.
 */
export class Patience implements ReadPatience {
  readonly #store: Store;
  readonly #usualMs: number;
  #drift = Number.NEGATIVE_INFINITY;
  #leaptTo = 0;

  /** @param usualMs of real time. */
  constructor(store: Store, usualMs: number) {
    this.#store = store;
    this.#usualMs = usualMs;
  }

  forRead(now: number): number {
    const drift = now - realMs();
    if (drift - this.#drift > leapMs) this.#leaptTo = now;
    this.#drift = drift;
    return isAnythingDue(this.#store, this.#leaptTo) ? Number.POSITIVE_INFINITY : this.#usualMs;
  }
}
