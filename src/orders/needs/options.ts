import type { Reference } from '../../journal/attempts.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Options } from '../../run/option.ts';
import type { Body } from '../submit/intent.ts';
import { namespaceProblem, referenceKey, referenceOf, referenceProblem } from './reference.ts';

/** Options of commands that place an order for a reference. */
export const referenceOptions = {
  reference: {
    kind: 'text',
    placeholder: 'name',
    description:
      'your own name for this order, such as a requisition: it is bought once, from whichever machine; whoever may list the orders of the account sees it',
  },
  namespace: {
    kind: 'text',
    placeholder: 'name',
    description: 'with --reference: who numbers it, so that two shops with an order 1001 do not meet',
  },
  again: {
    kind: 'flag',
    description: 'buy again what was cancelled or sent back',
  },
} as const satisfies Options;

interface Given {
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
  readonly again?: boolean | undefined;
  readonly new?: boolean | undefined;
}

/**
 * Rejects metadata under the key that carries the reference, because errand would take such metadata for a reference.
 * @param advice says how to give a reference instead.
 * @throws UsageError.
 */
export function checkMetadata({ metadata }: Pick<Body, 'metadata'>, advice: string): void {
  if (metadata && Object.hasOwn(metadata, referenceKey))
    throw new UsageError(`metadata: ${referenceKey} is where the reference travels; ${advice}`);
}

/**
 * Parses the reference of an order; undefined if no reference is given.
 * @throws UsageError if the reference is invalid or conflicts with another option.
 */
export function referenceFrom(
  { reference, namespace, again, new: isNew }: Given,
  body: Body,
): Reference | undefined {
  checkMetadata(body, 'give it by --reference');
  if (again && (isNew || body.idempotency_key != null))
    throw new UsageError(`--again and ${isNew ? '--new' : '--idempotency-key'} exclude each other`);
  if (reference === undefined) {
    if (namespace !== undefined) throw new UsageError('--namespace needs --reference');
    return undefined;
  }
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new UsageError(`--reference ${problem}`);
  const ofNamespace = namespaceProblem(namespace ?? '');
  if (ofNamespace !== undefined) throw new UsageError(`--namespace ${ofNamespace}`);
  if (isNew)
    throw new UsageError('--new and --reference exclude each other; another order has another reference');
  if (body.idempotency_key != null)
    throw new UsageError(
      '--idempotency-key and --reference exclude each other; the key follows from the reference',
    );
  return referenceOf(reference, namespace);
}
