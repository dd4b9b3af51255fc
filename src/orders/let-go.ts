import type { RunIntent } from '../journal/intents.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';

/**
 * Releases in-doubt records, so that another process can settle them while this process continues. If the release
 * cannot be stored, the records become free when this process ends.
 */
export async function letGo(
  context: Pick<OrderContext, 'journal' | 'unreported'>,
  intents: readonly Pick<RunIntent, 'key' | 'baseUrl'>[] = context.unreported(),
): Promise<void> {
  try {
    for (const { key, baseUrl } of intents) await (await context.journal()).letGo(key, baseUrl);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}
