import { type OperationName, operations } from '../../api/operations/index.ts';
import type { JsonLimits } from './read-json.ts';
import type { Found } from './routes.ts';

/** How much a request may bring, so that it keeps nobody waiting for long. The specification names no bound. */
export interface BodyLimits extends JsonLimits {
  readonly bytes: number;
}

/** An order and its lines, a return, an account. */
export const usualLimits: BodyLimits = { bytes: 1024 * 1024, entries: 1_000, values: 20_000 };
/** A table of rows. */
const tableLimits: BodyLimits = { bytes: 10 * 1024 * 1024, entries: 10_000, values: 300_000 };

/** The limits of an operation's body. */
export function limitsOf(name: OperationName): BodyLimits {
  const operation = operations[name];
  return 'body' in operation && operation.body.schema === 'BulkUploadRequest' ? tableLimits : usualLimits;
}

/** The limits of whatever a request leads to. */
export const limitsFor = (found: Found): BodyLimits =>
  'kind' in found && found.kind === 'operation' ? limitsOf(found.name) : usualLimits;
