import type { JsonObject } from '../api/json.ts';
import type { RunIntent } from '../journal/intents.ts';
import { journalCommand } from '../journal/journal-command.ts';
import { ErrandError, type ErrorFacts, OutputError, StorageError, toError } from '../platform/errors.ts';
import { shellWord } from '../platform/shell.ts';
import { hintInDoubt } from './doubt.ts';
import { labelsOf } from './submit/intent.ts';

/** What a run did before it failed. */
export interface RunSoFar {
  /** Intents that were sent, or may have been sent, and were not reported yet. */
  readonly intents: readonly RunIntent[];
  /** Whether the service has carried out a write. */
  readonly hasWritten: boolean;
  /** The result intended for stdout. */
  readonly record: JsonObject | undefined;
  /** Whether an interruption has ended the output before its reader had all of it. */
  readonly isCutShort?: boolean;
}

/**
 * Adds to the error of a failed run what the run did. A placed order is never reported as not sent, whatever fails
 * afterwards. The category and exit code of the error stay the same. Pure.
 */
export function withOutcome(
  failure: unknown,
  { intents, hasWritten, record, isCutShort = false }: RunSoFar,
): unknown {
  const made = intents.filter(({ madeId }) => madeId !== undefined);
  const open = intents.filter(({ madeId }) => madeId === undefined);
  if (open.length > 0 && !isUnknown(failure)) return withoutOutcome(toError(failure), open, made);
  if (made.length > 0) return applied(toError(failure), made, record);
  if (hasWritten && isCutShort && failure instanceof ErrandError && failure.facts.outcome === undefined)
    return changed(failure, `${clause(failure)}; what was done by then is not all printed`, {
      outcome: 'unknown',
    });
  return hasWritten && failure instanceof OutputError
    ? changed(failure, failure.message, { outcome: 'applied' })
    : failure;
}

/**
 * Whether an operation is safe to repeat. A batch is safe, because the keys of its rows are derived from their content.
 */
const isRepeatable = (operation: string): boolean => operation === 'bulk.create';

/**
 * Whether a failure itself says what is in doubt. The error for an unreadable journal does not, because it speaks only
 * about earlier commands.
 */
const isUnknown = (failure: unknown): boolean =>
  failure instanceof ErrandError &&
  failure.facts.outcome === 'unknown' &&
  !(failure instanceof StorageError && failure.facts.idempotencyKey === undefined);

/** The error for a failure that occurs after an intent was journaled and before its end was recorded. */
function withoutOutcome(
  error: ErrandError,
  open: readonly RunIntent[],
  made: readonly RunIntent[],
): ErrandError {
  const [first] = open;
  const keys = open.map(({ key }) => key).join(', ');
  return changed(error, `${clause(error)}; in doubt: ${keys} may have been sent`, {
    ...(made.length > 0 && { details: detailsOf(error, made, undefined) }),
    outcome: 'unknown',
    idempotencyKey: first?.key,
    hint: hintInDoubt(first?.operation ?? ''),
    next: first && [{ command: journalCommand('resume', first.key), when: 'to find out, safely' }],
  });
}

function applied(
  error: ErrandError,
  made: readonly RunIntent[],
  record: JsonObject | undefined,
): ErrandError {
  const [first] = made;
  if (!first) return error;
  const { one, get, made: done } = labelsOf(first.operation);
  const isNamed = error.message.includes(first.madeId ?? '');
  const message = isNamed ? error.message : `${clause(error)}; ${madeText(made)}`;
  const details = detailsOf(error, made, record);
  if (isUnknown(error)) return changed(error, message, { details });
  return changed(error, message, {
    details,
    outcome: 'applied',
    retryable: false,
    idempotencyKey: made.length === 1 ? first.key : undefined,
    hint: `The ${one} was ${done} all the same: ${isRepeatable(first.operation) ? 'the same command places nothing twice.' : 'do not send it again.'}`,
    next: error.facts.next ?? [{ command: `${get} ${shellWord(first.madeId ?? '')}`, when: 'to see it' }],
  });
}

/** The message of an error without the final period, so that more text can follow. */
const clause = ({ message }: ErrandError): string => message.replace(/\.$/, '');

/** Lists what the run has made, for programs that read the error. */
function detailsOf(
  { facts }: ErrandError,
  made: readonly RunIntent[],
  record: JsonObject | undefined,
): unknown {
  const { details = null } = facts;
  const isObject = typeof details === 'object' && details !== null && !Array.isArray(details);
  return {
    ...(isObject ? details : details === null ? {} : { details }),
    made: made.map(({ operation, key, madeId }) => ({
      kind: labelsOf(operation).one,
      id: madeId,
      idempotency_key: key,
    })),
    ...(record && { record }),
  };
}

const maxNamed = 3;

/** `the order ID was placed`, `3 batches (ID, ID, ID) were created`. */
function madeText(made: readonly RunIntent[]): string {
  const { one, many, made: done } = labelsOf(made[0]?.operation ?? '');
  const ids = made.map(({ madeId }) => madeId);
  if (ids.length === 1) return `the ${one} ${ids[0]} was ${done}`;
  return `${ids.length} ${many} (${ids.slice(0, maxNamed).join(', ')}${ids.length > maxNamed ? ', …' : ''}) were ${done}`;
}

const changed = (error: ErrandError, message: string, facts: ErrorFacts): ErrandError =>
  new ErrandError(error.category, message, { ...error.facts, cause: error, ...facts });
