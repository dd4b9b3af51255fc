import { resolve } from 'node:path';
import type { ControlState, FaultChange } from '../../api/control.ts';
import { sandboxFaults } from '../../api/sandbox-faults.ts';
import { realMs } from '../../platform/clock.ts';
import { placeRows } from '../bulk/place-rows.ts';
import { fillRecords } from '../orders/records.ts';
import { readFault } from '../server/faults.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Control, Exported, Service } from '../server/service.ts';
import { RunTime } from '../store/run-time.ts';
import {
  FileSnapshots,
  isSnapshotName,
  MemorySnapshots,
  type Snapshot,
  type Snapshots,
} from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import { emptyStore } from '../store/tables.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { releaseAll } from '../webhooks/outbox.ts';
import { runDueTransitions, stuckIds } from './due-transitions.ts';
import type { SandboxFaults } from './faults.ts';

interface ControlOptions {
  readonly service: Service;
  readonly outbox: Outbox;
  readonly faults: SandboxFaults;
  /** Aborts an advance between two steps. */
  readonly signal: AbortSignal;
}

/** Bounds of the speed factor. The same bounds apply to `--speed`. */
export const speeds = { min: 1, max: 1000 } as const;

/** Runs operations one after the other if they change the time or the whole state. */
export class SandboxControl implements Control {
  readonly #options: ControlOptions;
  readonly #snapshots: Snapshots;
  readonly #runTime: RunTime;
  #before: Promise<unknown> = Promise.resolve();

  constructor(options: ControlOptions) {
    const { store, clock } = options.service;
    this.#options = options;
    this.#snapshots =
      store.file === ':memory:' ? new MemorySnapshots(store, clock) : new FileSnapshots(store, clock);
    this.#runTime = new RunTime(store);
  }

  get state(): ControlState {
    const { clock, config, idGenerator, store } = this.#options.service;
    const { faults, seed } = this.#options.faults.now;
    return {
      sandbox: 'errand',
      now: new Date(clock.now()).toISOString(),
      speed: config.speed,
      seed: /^\d{1,10}$/.test(idGenerator.seed) ? Number(idGenerator.seed) : null,
      faults,
      fault_seed: seed,
      stuck: stuckIds(store),
      kept_in: store.file === ':memory:' ? null : resolve(store.file),
      snapshots: this.snapshots().map(({ name, takenAt }) => ({
        name,
        taken_at: new Date(takenAt).toISOString(),
      })),
    };
  }

  advance(ms: number, budgetMs?: number): Promise<{ readonly now: number; readonly left: number }> {
    if (!(Number.isFinite(ms) && ms >= 0))
      throw new ErrorResponse('bad_request', 'A clock goes forward only.');
    return this.#inTurn(() => advanceThrough(this.#options, ms, budgetMs));
  }

  settle(): Promise<void> {
    const done = settle(this.#options);
    this.#before = Promise.allSettled([this.#before, done]);
    return done;
  }

  snapshots(): Snapshot[] {
    return this.#snapshots.list();
  }

  snapshot(name: string, { force = false }: { readonly force?: boolean | undefined } = {}): Promise<number> {
    this.#checkWritable();
    if (!isSnapshotName(name))
      throw new ErrorResponse(
        'bad_request',
        `"${name.slice(0, 100)}" cannot name a snapshot: letters, digits, . _ - only, at most 64.`,
      );
    return this.#inTurn(async () => {
      // Check the name first, so that no snapshot is taken in vain. If another process takes the name meanwhile, `take`
      // notices.
      const at = !force && this.#has(name) ? undefined : await this.#snapshots.take(name, force);
      if (at !== undefined) return at;
      throw new ErrorResponse('already_exists', `There is a snapshot ${name} already.`, {
        resource: 'snapshot',
      });
    });
  }

  restore(name: string): Promise<void> {
    this.#checkWritable();
    return this.#inTurn(async () => {
      if (!this.#has(name)) throw this.#noSnapshot(name);
      const { service } = this.#options;
      const putBack = this.#runTime.save();
      await this.#snapshots.restore(name, () => {
        releaseAll(service.store);
        putBack();
      });
      await fillRecords(service.store);
      service.deliver();
    });
  }

  reset(): Promise<void> {
    this.#checkWritable();
    return this.#inTurn(() => emptyStore(this.#options.service.store));
  }

  get speed(): number {
    return this.#options.service.config.speed;
  }

  async setSpeed(speed: number): Promise<void> {
    this.#checkWritable();
    if (!Number.isInteger(speed) || speed < speeds.min || speed > speeds.max)
      throw new ErrorResponse(
        'bad_request',
        `The speed is a whole number from ${speeds.min} to ${speeds.max}.`,
      );
    await this.#options.service.store.transaction(() => this.#runTime.setSpeed(speed));
  }

  faults(): ReturnType<Control['faults']> {
    return this.#options.faults.now;
  }

  async changeFaults({ faults, add = [], remove = [], seed }: FaultChange): Promise<void> {
    this.#checkWritable();
    for (const text of [...(faults ?? []), ...add]) checkFault(text);
    await this.#options.faults.change((now) => {
      const on = faults ?? now.faults;
      const unknown = remove.find((text) => !on.includes(text));
      if (unknown !== undefined)
        throw new ErrorResponse(
          'bad_request',
          `The fault "${unknown.slice(0, 200)}" is not on; ${listText(on)}.`,
        );
      const existing = on.filter((text) => !remove.includes(text));
      return { faults: [...new Set([...existing, ...add])], seed: seed ?? now.seed };
    });
  }

  export(): Promise<Exported> {
    return this.#inTurn(async () => {
      const { exportScenario } = await import('../scenarios/export.ts');
      return exportScenario(this.#options.service, this.faults().faults);
    });
  }

  async idle(): Promise<void> {
    await this.#before;
  }

  #has(name: string): boolean {
    return this.snapshots().some((existing) => existing.name === name);
  }

  #noSnapshot(name: string): ErrorResponse {
    const known = this.snapshots().map((existing) => existing.name);
    const others = known.length > 0 ? `; there are ${known.join(', ')}` : '';
    return new ErrorResponse('not_found', `There is no snapshot ${name.slice(0, 100)}${others}.`, {
      resource: 'snapshot',
    });
  }

  /** @throws DatabaseError if the store is a copy, because writes to it would be lost. */
  #checkWritable(): void {
    const { unwritable } = this.#options.service.store;
    if (unwritable) throw unwritable;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#before.then(work);
    this.#before = done.catch(() => {});
    return done;
  }
}

const listText = (on: readonly string[]): string =>
  on.length === 0 ? 'none is' : `there are ${on.join(', ')}`;

/** @throws Refusal if the text is not a valid fault. */
function checkFault(text: string): void {
  if (readFault(text)) return;
  const forms = Object.keys(sandboxFaults).join(', ');
  throw new ErrorResponse('bad_request', `"${text.slice(0, 200)}" is not a fault; write one of ${forms}.`);
}

interface Advancing {
  readonly service: Service;
  readonly outbox: Outbox;
  /** Aborts an advance between two steps. */
  readonly signal: AbortSignal;
}

/** Time budget, in ms of real time, for placing rows of uploaded batches. Placing never takes this long. */
const placingBudgetMs = 10 * 60_000;

/**
 * Advances the clock by `ms`, processes everything due on the way, and waits until webhooks have been attempted. If any
 * webhook can be sent, the clock stops at every due time. Receivers therefore see the service as of that moment, and
 * failed deliveries are retried on time. If two calls run at the same time, the clock advances by the sum of both.
 * @param budgetMs budget in real time. Once the budget is used up, the clock stops at the next due time.
 * @returns the new time in ms since the epoch, and the remainder of `ms`. @throws the abort reason of the signal.
 */
export async function advanceThrough(
  advancing: Advancing,
  ms: number,
  budgetMs = Number.POSITIVE_INFINITY,
): Promise<{ readonly now: number; readonly left: number }> {
  const { service, signal } = advancing;
  const { clock, store } = service;
  const until = realMs() + budgetMs;
  let left = ms;
  const move = async (step: number): Promise<void> => {
    signal.throwIfAborted();
    await clock.advance(step);
    left -= step;
    await settle(advancing);
  };
  await settle(advancing);
  while (left > 0) {
    const now = clock.now();
    const step = hasListeners(store) ? nextDue(store, now) - now : left;
    await move(Math.min(step, left));
    if (realMs() > until) break;
  }
  return { now: clock.now(), left };
}

/** Processes everything due now and waits until each due webhook has been attempted. */
export async function settle({ service, outbox }: Advancing): Promise<void> {
  const now = service.clock.now();
  await placeRows(service, now, placingBudgetMs);
  await runDueTransitions(service, now);
  service.deliver();
  await outbox.idle();
}

/** The next due time after `now`, in ms since the epoch; Infinity if there is none. */
function nextDue(store: Store, now: number): number {
  const row = store.get(
    `SELECT min(due) AS due FROM (
       SELECT min(next_due) AS due FROM orders WHERE next_due > ?1
       UNION ALL SELECT min(next_due) FROM returns WHERE next_due > ?1
       UNION ALL SELECT min(due) FROM batch_rows WHERE due > ?1
       UNION ALL SELECT min(next_at) FROM deliveries WHERE next_at > ?1 AND behind = 0)`,
    now,
  );
  return Number(row?.due ?? Number.POSITIVE_INFINITY);
}

/** Whether any pending or future event could send a webhook. */
const hasListeners = (store: Store): boolean =>
  store.get(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM hook_addresses) OR EXISTS (SELECT 1 FROM deliveries WHERE next_at IS NOT NULL)
       OR EXISTS (SELECT 1 FROM orders WHERE next_due IS NOT NULL AND json_extract(body, '$.webhooks') IS NOT NULL)
       OR EXISTS (SELECT 1 FROM batch_rows WHERE due IS NOT NULL AND json_extract(body, '$.webhooks') IS NOT NULL)`,
  ) !== undefined;
