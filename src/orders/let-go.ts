import type { RunIntent } from '../journal/intents.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';

/**
 * For a process that goes on after what it left in doubt: another one may settle that now. Where this cannot be written
 * it is free once this process has ended.
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
