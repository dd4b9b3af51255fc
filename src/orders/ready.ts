import { StorageError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';

/**
 * What a journal that machines share must answer before the service is asked anything: whether it can be reached, and
 * whether it knows of all that is open. On one machine the journal is opened where it is first needed.
 * @throws StorageError where it cannot be reached; ErrandError conflict while this machine has a journal of its own with
 * something open. Nothing was sent.
 */
export async function readyToSend(context: OrderContext): Promise<void> {
  if (context.settings.database === undefined || context.previewsRequests) return;
  try {
    await (await context.journal()).ready();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const { message, facts, category } = error;
    throw new StorageError(`${message}; nothing was sent`, { ...facts, cause: error }, category);
  }
}
