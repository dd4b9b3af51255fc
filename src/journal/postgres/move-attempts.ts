import type { AttemptTable } from '../attempt-table.ts';
import { type Attempt, type AttemptChange, byScope, type NewAttempt } from '../attempts.ts';
import { type CarriedAttempt, carriedAttempts } from '../carried-attempts.ts';
import { earlierAttempts } from '../earlier-attempts.ts';
import type { IntentTable } from '../intents.ts';
import type { SharedAttempts } from './attempts.ts';

/** Tables of the machine's own journal, which hold its attempts. */
interface OwnTables {
  readonly table: IntentTable;
  readonly attempts: AttemptTable;
}

/** An attempt that is stored in the database, and whose intent is in doubt here. */
export interface DoubtfulAttempt {
  readonly serial: number;
  readonly service: string;
  /** Key of the intent. */
  readonly intent: string;
}

export interface EnteredAttempts {
  /** Number of attempts that the database did not have. */
  readonly added: number;
  readonly doubtful: readonly DoubtfulAttempt[];
}

/** Counts the attempts that the database does not have; read-only. @throws StorageError. */
export async function countMissing(store: SharedAttempts, own: OwnTables): Promise<number> {
  let count = 0;
  for (const { scope, piece } of byScope(ownAttempts(own))) {
    const related = await store.related(
      scope,
      piece.map(({ need }) => need),
    );
    count += piece.filter(({ attempt }, at) => !sameIn(related[at] ?? [], attempt)).length;
  }
  return count;
}

/**
 * Copies a machine's attempts to the database. An attempt that the database already has stays unchanged, unless only
 * this machine knows the attempt's order. An attempt in doubt is stored as `unknown` until the attempt's intent is in
 * the database too. Otherwise, other machines would assume that the attempt was never sent.
 * @throws StorageError.
 */
export async function enterAttempts(store: SharedAttempts, own: OwnTables): Promise<EnteredAttempts> {
  const doubtful: DoubtfulAttempt[] = [];
  let added = 0;
  for (const { scope, piece } of byScope(ownAttempts(own))) {
    const changes: AttemptChange[] = [];
    const known = new Map<number, number>();
    const serials = await store.claim(
      scope,
      piece.map(({ need }) => need),
      (related, at) => {
        const attempt = piece[at]?.attempt;
        const there = attempt && sameIn(related, attempt);
        if (!there) return attempt && { ...attempt, state: withoutDoubt(attempt) };
        const { serial } = there;
        if (there.orderId === undefined) {
          if (attempt.orderId !== undefined) changes.push({ ...attempt, serial });
          else if (there.state === 'unknown') known.set(at, serial);
        }
        return undefined;
      },
    );
    await store.change(changes);
    added += serials.filter((serial) => serial !== undefined).length;
    for (const [at, { attempt, intent }] of piece.entries()) {
      const serial = serials[at] ?? known.get(at);
      if (attempt.state === 'intended' && serial !== undefined && intent !== undefined)
        doubtful.push({ serial, service: scope.service, intent });
    }
  }
  return { added, doubtful };
}

/** All attempts of this machine, including those recorded before the table of attempts existed. */
function* ownAttempts({ table, attempts }: OwnTables): Generator<CarriedAttempt> {
  const intents = table.all();
  yield* carriedAttempts(attempts.stored(), intents);
  if (!attempts.isComplete)
    for (const one of earlierAttempts(intents))
      yield { ...one, intent: one.attempt.upload ?? one.attempt.key };
}

/**
 * Finds the stored attempt that is the same as the given one. A key may be used again after a refusal. That use is
 * another attempt.
 */
const sameIn = (related: readonly Attempt[], attempt: NewAttempt): Attempt | undefined =>
  related.findLast(
    (one) =>
      one.key === attempt.key && one.upload === attempt.upload && (!leftNoOrder(one) || leftNoOrder(attempt)),
  );

const leftNoOrder = ({ state, orderId }: NewAttempt): boolean =>
  orderId === undefined && (state === 'failed' || state === 'unsent');

const withoutDoubt = ({ state }: NewAttempt) => (state === 'intended' ? 'unknown' : state);
