import type { Attempt, AttemptNeed } from '../../journal/attempts.ts';
import { adoptedMs, isWithin, type Unit, type Windows } from './windows.ts';

/** Whoever orders: what they can be asked, and what they may have ordered already without saying so. */
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
  /** A person is there to be asked. */
  readonly asks?: boolean;
  /** The same command after a cancellation orders again. */
  readonly passesCancelled?: boolean;
  /** A reference may have been added to what was ordered without one. */
  readonly heedsUnreferenced?: boolean;
  /** What a reference names is shown in place of a new order: `recent` for 30 days, `always`, or never. */
  readonly adopts: 'recent' | 'always' | 'never';
  /** What is in doubt is settled first, whatever is said. */
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

/** What is said on purpose. */
export interface Statement {
  /** Another one is meant (`--new`); never with a reference. */
  readonly isNew?: boolean;
  /** What was taken back is bought again (`--again`). */
  readonly again?: boolean;
  /** The occasion that all of it belongs to (`--run NAME`), for which it is meant once. */
  readonly run?: string | undefined;
  /** Rows like an earlier order are left out. */
  readonly skipDuplicates?: boolean;
  /** Keys of attempts that a person was shown, and wants another beside. */
  readonly agreed?: ReadonlySet<string>;
}

/** An order that is about to be sent, as it is decided about. */
export interface NeedRequest {
  readonly need: Pick<AttemptNeed, 'reference'>;
  /** A row has it from its content: the same row of the same upload is not another one. */
  readonly key?: string | undefined;
  /** The caller's own key is a name of its own: likeness says nothing about it. */
  readonly hasOwnKey?: boolean;
  readonly door: Door;
  readonly statement: Statement;
  readonly windows: Windows;
  /** By the service's clock, ms since the epoch. */
  readonly now: number;
  /** The numbers of the attempts that this command has read from the service, or looked for there. */
  readonly read?: ReadonlySet<number>;
  /** What anybody has read since then holds as well, ms since the epoch. */
  readonly freshSince?: number;
  /** When the service was asked last which orders have this reference, ms since the epoch. */
  readonly listedAt?: number | undefined;
  /** Orders of the agent route are listed nowhere. */
  readonly isUnlisted?: boolean;
}

/** An attempt, and how it differs from what is request now in products, quantities or recipient, where that was compared. */
export interface ComparedAttempt extends Attempt {
  readonly differs?: boolean;
}

export type Refusal =
  /** It may have been sent, and nobody knows what came of it. */
  | 'in_doubt'
  /** It was given up, and may exist all the same. */
  | 'unknown'
  /** The same was ordered a short while ago. */
  | 'alike'
  /** Some of the products were. */
  | 'overlaps'
  /** A live order has the reference, with other products, quantities or another recipient. */
  | 'differs'
  /** A live order has the reference. */
  | 'exists'
  /** The same, from long ago. */
  | 'old'
  /** Two live orders have the reference. */
  | 'two_live'
  /** The same reference in another namespace, for the same. */
  | 'other_namespace'
  /** Somebody took it back. */
  | 'cancelled'
  | 'returned';

export type Decision =
  | {
      readonly do: 'send';
      /** Of the attempt among those for its need. */
      readonly number: number;
      /** The attempt before it, which has ended. */
      readonly after: Attempt | undefined;
    }
  /** What the service holds of these has to be read, or what came of them; then it is decided again. */
  | { readonly do: 'look'; readonly at: 'reference' | 'attempts'; readonly attempts: readonly Attempt[] }
  /** In place of a new order. */
  | {
      readonly do: 'adopt';
      readonly by: 'reference' | 'key' | 'likeness';
      readonly attempts: readonly Attempt[];
    }
  /** A person says whether another is meant. */
  | { readonly do: 'ask'; readonly why: Refusal; readonly attempts: readonly Attempt[] }
  | { readonly do: 'refuse'; readonly why: Refusal; readonly attempts: readonly Attempt[] };

/** How long a look by reference holds, ms. */
const listedMs = 3600 * 1000;

/** Decides what becomes of an order, by what is known of the attempts that have to do with it. Pure. */
export function decide(request: NeedRequest, known: readonly ComparedAttempt[]): Decision {
  if (request.hasOwnKey) return { do: 'send', number: 1, after: undefined };
  const attempts = distinct(known);
  return request.need.reference === undefined
    ? decideByLikeness(request, attempts)
    : decideByReference(request, request.need.reference, attempts);
}

/** An order that was listed, and the attempt that made it, are one: what was read last of it holds, and a live one before what has ended. */
function distinct(attempts: readonly ComparedAttempt[]): readonly ComparedAttempt[] {
  const byOrder = new Map<string, ComparedAttempt>();
  for (const attempt of attempts) {
    const id = attempt.orderId?.toLowerCase() ?? ` ${attempt.serial}`;
    const other = byOrder.get(id);
    if (!other || rank(attempt) > rank(other)) byOrder.set(id, attempt);
  }
  return [...byOrder.values()];
}

/** Times are whole milliseconds. */
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
  const unreferenced = attempts.filter(
    (one) => one.reference === undefined && one.likeness === 'alike' && isRecent(request, one),
  );
  const blocked =
    blocking(request, elsewhere, 'other_namespace') ??
    (heedsUnreferenced && statement.run === undefined && !statement.isNew
      ? blocking(request, unreferenced, 'alike')
      : undefined);
  return blocked ?? send(own);
}

function decideByLikeness(request: NeedRequest, attempts: readonly ComparedAttempt[]): Decision {
  const { door, statement } = request;
  const ofRun = attempts.filter(({ run }) => statement.run === undefined || run === statement.run);
  const alike = ofRun.filter(({ likeness }) => likeness === 'alike');
  const recent = alike.filter((one) => isRecent(request, one));
  if (statement.isNew)
    return (
      (doors[door].settlesFirst ? unsettled(request, alike.filter(isInDoubt)) : undefined) ?? send(recent)
    );
  const overlapping = ofRun.filter((one) => one.likeness === 'overlap' && isRecent(request, one));
  return (
    blocking(request, [...alike.filter(isInDoubt), ...recent], 'alike') ??
    blocking(request, overlapping, 'overlaps') ??
    refusedAgain(request, recent) ??
    send(recent)
  );
}

const isRecent = ({ door, windows, now }: NeedRequest, attempt: Attempt): boolean =>
  isWithin(attempt, doors[door].unit, windows, now);

const isInDoubt = ({ state }: Attempt): boolean => state === 'intended';

const isFresh = ({ read, freshSince }: NeedRequest, { serial, seenAt }: Attempt): boolean =>
  read?.has(serial) || (freshSince !== undefined && seenAt !== undefined && seenAt >= freshSince);

/** What has to be found out about attempts before anything is decided, and what stays in doubt then. */
function unsettled(request: NeedRequest, attempts: readonly ComparedAttempt[]): Decision | undefined {
  const stale = attempts.filter(
    (one) => ['intended', 'unknown', 'placed'].includes(one.state) && !isFresh(request, one),
  );
  if (stale.length > 0) return { do: 'look', at: 'attempts', attempts: stale };
  const inDoubt = attempts.filter(isInDoubt);
  if (inDoubt.length > 0) return refuse('in_doubt', inDoubt);
  const { isNew, again } = request.statement;
  const unknown = attempts.filter(({ state }) => state === 'unknown');
  return unknown.length > 0 && !isNew && !again ? refuse('unknown', unknown) : undefined;
}

/** What stands in the way of another order of the same: nothing that somebody was shown and agreed to. */
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

/** Where the last attempt was taken back, another is bought only where that is meant. */
function refusedAgain({ door, statement }: NeedRequest, attempts: readonly Attempt[]): Decision | undefined {
  const last = lastOf(attempts);
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

const hasEnded = ({ state }: Attempt): boolean => ['failed', 'cancelled', 'returned'].includes(state);

/** A refusal at creation leaves no order at the service, and keeps its number. */
const send = (attempts: readonly Attempt[]): Decision => ({
  do: 'send',
  number: 1 + attempts.filter((one) => hasEnded(one) && one.orderId !== undefined).length,
  after: lastOf(attempts),
});

const refuse = (why: Refusal, attempts: readonly Attempt[]): Decision => ({ do: 'refuse', why, attempts });
