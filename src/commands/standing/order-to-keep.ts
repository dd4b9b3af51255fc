import type { JsonObject } from '../../api/json.ts';
import { checkOrder } from '../../orders/input/check.ts';
import type { FileReference } from '../../orders/input/file-reference.ts';
import { UsageError } from '../../platform/errors.ts';
import { ownMetadata } from '../../standing/orders.ts';

/**
 * Validates an order and converts it for the file of standing orders, without unset fields.
 * @throws UsageError for an idempotency key or a reference, because both follow from the entry and the date.
 */
export async function orderToKeep(
  payload: Readonly<Record<string, unknown>>,
  ofFile: FileReference | undefined,
  file: string | undefined,
): Promise<JsonObject> {
  const body = await checkOrder(payload, file);
  if (body.idempotency_key != null || ofFile?.reference !== undefined || ofFile?.namespace !== undefined)
    throw new UsageError(
      'a standing order takes no idempotency key, reference or namespace: they follow from its id and the date',
    );
  const own = Object.keys(body.metadata ?? {}).find((key) => ownMetadata.test(key));
  if (own !== undefined) throw new UsageError(`metadata ${own} is errand's own; take another name`);
  return withoutNull(body);
}

const withoutNull = (fields: object): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value == null ? [] : [[name, isFields(value) ? withoutNull(value) : value]],
    ),
  );

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
