import type { CallOptions } from '../http/client.ts';
import type { Intent } from '../journal/journal-record.ts';
import type { OrderContext } from '../run/order-context.ts';

type Held = Pick<Intent, 'key' | 'baseUrl'>;

/**
 * How a request for a record is sent: no longer than the record is this process's own, since after that another machine
 * may take it over. @throws ErrandError not_sent where that has happened, or cannot be found out.
 */
export const heldCall = async (context: OrderContext, { key, baseUrl }: Held): Promise<CallOptions> => ({
  mostMs: await (await context.journal()).hold(key, baseUrl),
});

/** How often a record is held anew while a person, or a wallet, takes their time, ms. */
const holdEveryMs = 30_000;

/** Does what may take longer than a request before one is sent for a record; no other machine takes that over meanwhile. */
export async function whileHeld<T>(
  context: OrderContext,
  { key, baseUrl }: Held,
  work: () => Promise<T>,
): Promise<T> {
  const journal = await context.journal();
  if (!journal.isShared) return work();
  const timer = setInterval(() => {
    // Whether it was kept shows once the work is done.
    journal.hold(key, baseUrl, true).catch(() => {});
  }, holdEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
