import type { AttemptNeed, AttemptState, EarlierAttempt, StoredAttempt } from './attempts.ts';
import { attemptsIn } from './earlier-attempts.ts';
import { type IntentRow, intactRecord } from './intent-row.ts';

/** An attempt that is being copied to another table. */
export interface CarriedAttempt extends EarlierAttempt {
  /** Key of the intent that the attempt belongs to; undefined if the journal no longer has that intent. */
  readonly intent: string | undefined;
}

/**
 * Prepares the attempts of one table for another table. Each table hashes needs with its own secret, so the needs are
 * derived again from the recorded orders. If an attempt has no recorded order, only its reference can lead to it, and
 * its order must be looked up unless the attempt has ended. Leaves out an attempt that has neither, because it could
 * never be found.
 */
export function* carriedAttempts(
  stored: Iterable<StoredAttempt>,
  intents: Iterable<IntentRow>,
): Generator<CarriedAttempt> {
  const recorded = recordedNeeds(intents);
  for (const { scope, attempt } of stored) {
    const { serial: _, likeness: _likeness, reference, ...made } = attempt;
    if (made.state === 'unsent') continue;
    const found = recorded.get(idOf(scope.service, made.key));
    if (found) yield { scope, attempt: made, intent: found.intent, need: { ...found.need, reference } };
    else if (reference) {
      const state = hasEnded(made.state) ? made.state : 'unknown';
      // No order has this product.
      const need = { products: [`unknown ${made.key}`], recipient: '', reference };
      yield { scope, attempt: { ...made, state }, intent: undefined, need };
    }
  }
}

interface RecordedNeed {
  readonly need: AttemptNeed;
  readonly intent: string;
}

function recordedNeeds(intents: Iterable<IntentRow>): ReadonlyMap<string, RecordedNeed> {
  const needs = new Map<string, RecordedNeed>();
  for (const row of intents) {
    const record = intactRecord(row);
    if (!record) continue;
    for (const { scope, attempt, need } of attemptsIn(record))
      needs.set(idOf(scope.service, attempt.key), { need, intent: record.key });
  }
  return needs;
}

const idOf = (service: string, key: string): string => `${service}\n${key}`;

const hasEnded = (state: AttemptState): boolean => ['failed', 'cancelled', 'returned'].includes(state);
