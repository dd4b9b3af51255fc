import type { Attempt, AttemptNeed } from '../../journal/attempts.ts';
import { adoptedMs, isWithin, type Unit, type Windows } from './windows.ts';

/**
 * Entry points that place orders. Some can prompt the user. They also differ in what happens if the order's reference
 * was used before.
 */
export type Door =
  | 'terminal'
  | 'script'
  | 'library'
  | 'mcp'
  | 'upload'
  | 'plan'
  | 'retry'
  | 'standing'
  | 'other';

interface DoorRules {
  readonly unit: Unit;
  /** Can prompt the user. */
  readonly asks?: boolean;
  /** Orders again after a cancellation. */
  readonly passesCancelled?: boolean;
  /**
   * Whether a live attempt without a reference also blocks the order. The order may be the same, with a reference that
   * was added later.
   */
  readonly heedsUnreferenced?: boolean;
  /**
   * When to return the live order of a reference instead of placing a new order: `always`, `never`, or only if the live
   * order is at most 30 days old (`recent`).
   */
  readonly adopts: 'recent' | 'always' | 'never';
  /** Whether attempts in doubt block an order even with `isNew`. */
  readonly settlesFirst?: boolean;
}

const doors: Readonly<Record<Door, DoorRules>> = {
  terminal: { unit: 'single', asks: true, passesCancelled: true, adopts: 'recent' },
  script: { unit: 'single', passesCancelled: true, adopts: 'recent' },
  library: { unit: 'single', adopts: 'recent' },
  mcp: { unit: 'single', heedsUnreferenced: true, adopts: 'never', settlesFirst: true },
  upload: { unit: 'row', heedsUnreferenced: true, adopts: 'always' },
  plan: { unit: 'row', heedsUnreferenced: true, adopts: 'always' },
  retry: { unit: 'row', adopts: 'always' },
  standing: { unit: 'single', adopts: 'always' },
  other: { unit: 'single', adopts: 'recent' },
};

/** Explicit statements of the user. */
export interface Statement {
  /**
   * Whether a duplicate is intended (`--new`). If the order has a reference, only MCP quotes accept this. Then it
   * overrides only attempts that do not have the reference.
   */
  readonly isNew?: boolean;
  /** Whether to order again what was cancelled, returned, or given up while in doubt (`--again`). */
  readonly again?: boolean;
  /** The occasion that all rows belong to (`--run NAME`). Each row is ordered once per occasion. */
  readonly run?: string | undefined;
  /** Skips rows that are like an earlier order. */
  readonly skipDuplicates?: boolean;
  /** Keys of the attempts that the user saw before agreeing to another order. */
  readonly agreed?: ReadonlySet<string>;
}

/** What the decision has to know about an order that is not sent yet. */
export interface NeedRequest {
  readonly need: Pick<AttemptNeed, 'reference'>;
  /** Key of a row. It is derived from the row's content, so the same key stands for the same row of the same upload. */
  readonly key?: string | undefined;
  /** Whether the caller chose the idempotency key. If so, the order is not compared with similar orders. */
  readonly hasOwnKey?: boolean;
  readonly door: Door;
  readonly statement: Statement;
  readonly windows: Windows;
  /** Current time by the service's clock, in ms since the epoch. */
  readonly now: number;
  /** Serials of the attempts that this command has read from the service, or has searched for at the service. */
  readonly read?: ReadonlySet<number>;
  /** A state counts as current if any process has read it since this time, in ms since the epoch. */
  readonly freshSince?: number;
  /** When the service was last queried for this order's reference, in ms since the epoch. */
  readonly listedAt?: number | undefined;
  /** Whether the orders cannot be listed, as with the agent route. */
  readonly isUnlisted?: boolean;
}

/**
 * An attempt. `differs` tells whether its products, quantities or recipient differ from those of the request; undefined
 * if they were not compared.
 */
export interface ComparedAttempt extends Attempt {
  readonly differs?: boolean;
}

export type Refusal =
  /** The order may have been sent, and its outcome is unknown. */
  | 'in_doubt'
  /** The order was given up, and may still exist. */
  | 'unknown'
  /** The same products were ordered recently, for the same recipient. */
  | 'alike'
  /** Some of the products were ordered recently. */
  | 'overlaps'
  /** A live order has the same reference, but differs in products, quantities or recipient. */
  | 'differs'
  /** A live order has the reference. */
  | 'exists'
  /** A live order has the reference, but is too old to be returned silently. */
  | 'old'
  /** Several live orders have the reference. */
  | 'two_live'
  /** A live order with the same content has the same reference, but in another namespace. */
  | 'other_namespace'
  /** The order was cancelled or returned. */
  | 'cancelled'
  | 'returned';

export type Decision =
  | {
      readonly do: 'send';
      /** Number of the attempt among all attempts at its need. */
      readonly number: number;
      /** The previous attempt, which has ended. */
      readonly after: Attempt | undefined;
    }
  /** Read the state of these attempts from the service, then decide again. */
  | { readonly do: 'look'; readonly at: 'reference' | 'attempts'; readonly attempts: readonly Attempt[] }
  /** Use these attempts' orders instead of placing a new order. */
  | {
      readonly do: 'adopt';
      readonly by: 'reference' | 'key' | 'likeness';
      readonly attempts: readonly Attempt[];
    }
  /** Ask the user whether another order is intended. */
  | { readonly do: 'ask'; readonly why: Refusal; readonly attempts: readonly Attempt[] }
  | { readonly do: 'refuse'; readonly why: Refusal; readonly attempts: readonly Attempt[] };

/** How long the result of listing the orders of a reference stays valid, in ms. */
const listedMs = 3600 * 1000;

/** Decides about an order from the attempts related to it. Pure. */
export function decide(request: NeedRequest, known: readonly ComparedAttempt[]): Decision {
  if (request.hasOwnKey) return { do: 'send', number: 1, after: undefined };
  const attempts = distinct(known);
  return request.need.reference === undefined
    ? decideByLikeness(request, attempts)
    : decideByReference(request, request.need.reference, attempts);
}

/**
 * Merges a listed order with the attempt that made it. Keeps the state that was read last. If both were read at the
 * same time, keeps a live state rather than an ended one.
 */
function distinct(attempts: readonly ComparedAttempt[]): readonly ComparedAttempt[] {
  const byOrder = new Map<string, ComparedAttempt>();
  for (const attempt of attempts) {
    const id = attempt.orderId?.toLowerCase() ?? ` ${attempt.serial}`;
    const other = byOrder.get(id);
    if (!other || rank(attempt) > rank(other)) byOrder.set(id, attempt);
  }
  return [...byOrder.values()];
}

/** Times are whole numbers of ms, so 0.5 only decides between equal times. */
const rank = (attempt: Attempt): number => (attempt.seenAt ?? 0) + (hasEnded(attempt) ? 0 : 0.5);

type NamedBy = NonNullable<AttemptNeed['reference']>;

function decideByReference(
  request: NeedRequest,
  { namespace, text }: NamedBy,
  attempts: readonly ComparedAttempt[],
): Decision {
  const { door, statement, now, listedAt, isUnlisted } = request;
  const { heedsUnreferenced, adopts } = doors[door];
  const own = attempts.filter(({ reference: of }) => of?.text === text && of.namespace === namespace);
  if (!isUnlisted && !(listedAt !== undefined && listedAt >= now - listedMs))
    return { do: 'look', at: 'reference', attempts: own };
  const unclear = unsettled(request, own);
  if (unclear) return unclear;
  const live = own.filter(({ state }) => state === 'placed');
  const [first, second] = live;
  if (first && second) return refuse('two_live', live);
  if (first) {
    if (first.differs) return refuse('differs', live);
    if (adopts === 'never') return refuse('exists', live);
    if (adopts === 'recent' && now - first.madeAt > adoptedMs) return refuse('old', live);
    return { do: 'adopt', by: 'reference', attempts: live };
  }
  const takenBack = refusedAgain(request, own);
  if (takenBack) return takenBack;
  const elsewhere = attempts.filter(
    ({ reference: of, likeness }) => of?.text === text && of.namespace !== namespace && likeness === 'alike',
  );
  const unreferenced =
    heedsUnreferenced && statement.run === undefined
      ? attempts.filter(
          (one) =>
            one.reference === undefined &&
            one.likeness === 'alike' &&
            (isInDoubt(one) || isRecent(request, one)),
        )
      : [];
  if (statement.isNew) return stillInDoubt(request, [...elsewhere, ...unreferenced]) ?? send(own);
  const blocked = blocking(request, elsewhere, 'other_namespace') ?? blocking(request, unreferenced, 'alike');
  return blocked ?? send(own);
}

function decideByLikeness(request: NeedRequest, attempts: readonly ComparedAttempt[]): Decision {
  const { statement } = request;
  // A key belongs to one occasion. Compare keys too, because an attempt from before the table existed has no occasion
  // stored.
  const ofRun = attempts.filter(
    ({ run, key }) => statement.run === undefined || run === statement.run || key === request.key,
  );
  const alike = ofRun.filter(({ likeness }) => likeness === 'alike');
  const recent = alike.filter((one) => isRecent(request, one));
  if (statement.isNew) return stillInDoubt(request, alike) ?? send(recent);
  const overlapping = ofRun.filter((one) => one.likeness === 'overlap' && isRecent(request, one));
  return (
    blocking(request, [...alike.filter((one) => isOpen(request, one)), ...recent], 'alike') ??
    blocking(request, overlapping, 'overlaps') ??
    refusedAgain(request, recent) ??
    send(recent)
  );
}

/**
 * Whether an attempt must be settled, however old it is. This applies to attempts in doubt and, if a single order is
 * placed, to attempts that were given up. If rows are placed, a given-up attempt counts only within the window for
 * rows, which is longer.
 */
const isOpen = ({ door }: NeedRequest, attempt: Attempt): boolean =>
  isInDoubt(attempt) || (doors[door].unit === 'single' && isGivenUp(attempt));

const isRecent = ({ door, windows, now }: NeedRequest, attempt: Attempt): boolean =>
  isWithin(attempt, doors[door].unit, windows, now);

const isInDoubt = ({ state }: Attempt): boolean => state === 'intended';

/** Whether a single order was given up, although the service may have it. */
const isGivenUp = ({ state, orderId, upload }: Attempt): boolean =>
  state === 'unknown' && orderId === undefined && upload === undefined;

const isFresh = ({ read, freshSince }: NeedRequest, { serial, seenAt }: Attempt): boolean =>
  read?.has(serial) || (freshSince !== undefined && seenAt !== undefined && seenAt >= freshSince);

/** Decides to first look up unsettled attempts, or to refuse because attempts stay in doubt. */
function unsettled(request: NeedRequest, attempts: readonly ComparedAttempt[]): Decision | undefined {
  const stale = attempts.filter(
    (one) => ['intended', 'unknown', 'placed'].includes(one.state) && !isFresh(request, one),
  );
  if (stale.length > 0) return { do: 'look', at: 'attempts', attempts: stale };
  const inDoubt = attempts.filter(isInDoubt);
  if (inDoubt.length > 0) return refuse('in_doubt', inDoubt);
  const { isNew, again } = request.statement;
  const unknown = attempts.filter(({ state }) => state === 'unknown');
  // A row is sent again with the same key. So is an order for a reference. Therefore `--again` is enough for both.
  const keepsKey = doors[request.door].unit === 'row' || request.need.reference !== undefined;
  const mayPass = isNew || (again && keepsKey);
  return unknown.length > 0 && !mayPass ? refuse('unknown', unknown) : undefined;
}

/** If another order is intended, only attempts in doubt block it, and only if the entry point has `settlesFirst`. */
const stillInDoubt = (request: NeedRequest, attempts: readonly ComparedAttempt[]): Decision | undefined =>
  doors[request.door].settlesFirst ? unsettled(request, attempts.filter(isInDoubt)) : undefined;

/**
 * Refuses if attempts at the same need block another order. If the user saw an attempt and agreed to another order,
 * that attempt does not block.
 */
function blocking(
  request: NeedRequest,
  attempts: readonly ComparedAttempt[],
  why: Refusal,
): Decision | undefined {
  const { statement, door, key } = request;
  const others = [...new Set(attempts)].filter((one) => !statement.agreed?.has(one.key));
  const unclear = unsettled(request, others);
  if (unclear) return unclear;
  const live = others.filter(({ state }) => state === 'placed');
  if (live.length === 0) return undefined;
  const same = live.filter((one) => one.key === key);
  if (same.length > 0) return { do: 'adopt', by: 'key', attempts: same };
  if (statement.skipDuplicates && why === 'alike') return { do: 'adopt', by: 'likeness', attempts: live };
  return doors[door].asks ? { do: 'ask', why, attempts: live } : refuse(why, live);
}

/**
 * Refuses if the last order was cancelled or returned, unless the user intends another order. Ignores later requests
 * that were rejected, because they bought nothing.
 */
function refusedAgain({ door, statement }: NeedRequest, attempts: readonly Attempt[]): Decision | undefined {
  const last = lastOf(attempts.filter(({ state, orderId }) => state !== 'failed' || orderId !== undefined));
  if (!last || statement.again || statement.agreed?.has(last.key)) return undefined;
  if (last.state !== 'cancelled' && last.state !== 'returned') return undefined;
  if (last.state === 'cancelled' && doors[door].passesCancelled) return undefined;
  return refuse(last.state, [last]);
}

const lastOf = (attempts: readonly Attempt[]): Attempt | undefined =>
  attempts
    .filter(hasEnded)
    .toSorted((one, other) => one.madeAt - other.madeAt || one.number - other.number)
    .at(-1);

const isUnsent = ({ state }: Attempt): boolean => state === 'unsent';

const hasEnded = ({ state }: Attempt): boolean => ['failed', 'cancelled', 'returned'].includes(state);

/**
 * Decides to send the next attempt. If a request was rejected when the order was to be created, the service has no
 * order for it, so the number and key are used again. If an order is gone with its sandbox, its number is not used
 * again, because the key may still be recorded together with that order.
 */
const send = (attempts: readonly Attempt[]): Decision => ({
  do: 'send',
  number: 1 + attempts.filter((one) => (hasEnded(one) || isUnsent(one)) && one.orderId !== undefined).length,
  after: lastOf(attempts),
});

const refuse = (why: Refusal, attempts: readonly Attempt[]): Decision => ({ do: 'refuse', why, attempts });
