import type { Attempt } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { SavedUpload } from '../../journal/uploads.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import type { Context } from '../../run/context.ts';
import { attemptStore, seeBatches } from '../needs/batch-outcome.ts';
import { type RowRefusal, refusalReasons } from '../needs/decide-rows.ts';
import { hasUploads, uploadOwner } from '../upload/named.ts';
import type { DecidedPlan, RowOutcome } from './decided.ts';
import { reusedKeyPrefix } from './shown-rows.ts';

/** Maximum age in ms of an order that is shown as a possible duplicate. */
const withinMs = 7 * 24 * 3600 * 1000;

/** Finds what a plan says about earlier orders. */
export class EarlierOrders {
  /** The service's id of a batch, by the batch's journal key; undefined while the batch is in doubt. */
  readonly #idOf: (batch: string) => string | undefined;
  readonly #work: DecidedPlan;
  readonly #now: number;
  /** Number of the first row for each product and recipient. */
  readonly #first = new Map<string, number>();

  private constructor(work: DecidedPlan, idOf: (batch: string) => string | undefined, now: number) {
    this.#work = work;
    this.#idOf = idOf;
    this.#now = now;
  }

  /** @throws StorageError. */
  static async open(context: Context, work: DecidedPlan): Promise<EarlierOrders> {
    const { value: service } = context.settings.baseUrl;
    const journal = journalExists(context.settings) ? await context.journal() : undefined;
    const uploads = hasUploads(context) ? await context.uploads() : undefined;
    const idOf = (batch: string) =>
      journal?.find(batch, service)?.order_id ?? uploads?.idOf(batch) ?? undefined;
    return new EarlierOrders(work, idOf, context.serviceClock.now());
  }

  /**
   * Possible duplicates of a row: live orders of the last week, and rows above it, that have the same recipient and a
   * product in common. Call once for each row, in order.
   */
  duplicatesOf({ row, related }: RowOutcome): string[] {
    const { products, recipient } = row.need;
    const found = related
      .filter(
        ({ key, state, likeness, madeAt }) =>
          firstKeyOf(key) !== row.firstKey &&
          likeness !== 'unlike' &&
          ['intended', 'placed', 'unknown'].includes(state) &&
          madeAt > this.#now - withinMs,
      )
      .map((one) => `${this.#nameOf(one)} of ${new Date(one.madeAt).toISOString().slice(0, 10)}`);
    for (const product of products) {
      const content = `${product}\n${recipient}`;
      const first = this.#first.get(content);
      if (first === undefined) this.#first.set(content, row.number);
      else found.push(`row ${first}`);
    }
    return [...new Set(found)];
  }

  /** Why a row is not sent: its earlier order, or the reason why it is left out. */
  fateOf(outcome: RowOutcome | undefined): {
    readonly placed: string | null;
    readonly left_out: string | null;
  } {
    const { decision } = outcome ?? {};
    switch (decision?.do) {
      case 'settle':
        return { placed: `${decision.batch}, which is in doubt`, left_out: null };
      case 'adopt':
        if (decision.by !== 'likeness') return { placed: this.#placeOf(decision.attempts), left_out: null };
        return { placed: null, left_out: this.#reason('alike', decision.attempts) };
      case 'ask':
      case 'refuse':
        return { placed: null, left_out: this.#reason(decision.why, decision.attempts) };
      default:
        return { placed: null, left_out: reasons.repeats };
    }
  }

  #reason(why: RowRefusal, [first]: readonly Attempt[]): string {
    return first ? `${reasons[why]} ${this.#nameOf(first)}` : reasons[why];
  }

  #placeOf([first]: readonly Attempt[]): string {
    if (first?.upload === undefined) return first ? this.#nameOf(first) : 'elsewhere';
    const id = this.#idOf(first.upload);
    return id === undefined ? `${first.upload}, which is in doubt` : `batch ${id}`;
  }

  #nameOf({ orderId, upload, key, state }: Attempt): string {
    if (orderId !== undefined) return `order ${orderId}`;
    const what = upload === undefined ? key : `a row of ${this.#work.decided.uploadOf(upload)}`;
    return state === 'intended' ? `${what}, which is in doubt` : what;
  }
}

const reasons: Readonly<Record<RowRefusal, string>> = {
  ...refusalReasons,
  differs: `${reusedKeyPrefix} or reference of an order that differs:`,
};

/**
 * Number of failed rows that this file lacks, in the uploads that ordered other rows of this file. Rows that were
 * ordered again since do not count. @throws ErrandError if a batch cannot be read.
 */
export async function failedElsewhere(context: Context, { outcomes, decided }: DecidedPlan): Promise<number> {
  const own = new Set<number>();
  const batches = new Set<string>();
  for (const { row, related } of outcomes.values())
    for (const one of related) {
      const isOwn =
        one.likeness === 'alike' || (row.need.reference && one.reference?.text === row.need.reference.text);
      if (!isOwn) continue;
      own.add(one.serial);
      if (one.upload !== undefined) batches.add(one.upload);
    }
  if (batches.size === 0 || !hasUploads(context)) return 0;
  const uploads = await context.uploads();
  const names = new Set([...batches].flatMap((batch) => uploads.ofBatch(batch)?.name ?? []));
  const owner = await uploadOwner(context);
  const touched = [...names].flatMap((name) => uploads.named(owner, name) ?? []);
  const all = await attemptsOf(context, touched, decided.since);
  const nameOf = ({ reference, key }: Attempt): string =>
    reference ? JSON.stringify(reference) : firstKeyOf(key);
  const settled = new Set(
    all.filter(({ serial, state }) => own.has(serial) || state !== 'failed').map(nameOf),
  );
  return new Set(all.map(nameOf).filter((name) => !settled.has(name))).size;
}

/** The attempts of uploads. Reads their current states from the service. */
async function attemptsOf(
  context: Context,
  uploads: readonly SavedUpload[],
  since: number,
): Promise<Attempt[]> {
  const store = await attemptStore(context);
  const keys = uploads.flatMap(({ batches }) => batches.map(({ key }) => key));
  const read = (key: string) => store.attempts.ofUpload(store.scope, key);
  const stale: string[] = [];
  const all: Attempt[] = [];
  for (const key of keys) {
    const attempts = await read(key);
    const isStale = attempts.some(
      ({ state, seenAt = 0 }) => ['intended', 'placed', 'unknown'].includes(state) && seenAt < since,
    );
    if (isStale) stale.push(key);
    else all.push(...attempts);
  }
  for await (const { attempts } of seeBatches(context, store, stale)) all.push(...attempts);
  return all.filter(({ state }) => state !== 'unsent');
}
