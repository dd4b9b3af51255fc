import { ErrandError } from '../errors.ts';
import type { OrderContext } from '../order-context.ts';
import type { RunIntent } from '../state/run-intents.ts';

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
