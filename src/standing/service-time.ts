import { ErrandError, stopOf } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/**
 * Reads the time of the service, in ms since the epoch. Any response contains the time, even an error.
 * @throws ErrandError if the service cannot be reached, or if its responses contain no time.
 */
export async function serviceTime(context: Context): Promise<number> {
  await context.ready();
  if (!context.serviceClock.isHeard) {
    const client = await context.client();
    try {
      await client.call('order.list', { query: { limit: 1 } });
    } catch (error) {
      if (!(error instanceof ErrandError) || stopOf(error) || !context.serviceClock.isHeard) throw error;
    }
  }
  if (!context.serviceClock.isHeard) throw noTime();
  return context.serviceClock.now();
}

/** Without the service's time, errand cannot know which dates are due. */
export const noTime = (): ErrandError =>
  new ErrandError('unavailable', 'the service does not tell its time, so what is due is not known', {
    outcome: 'not_sent',
    retryable: true,
    hint: 'Its responses have no Date header. Is the base URL right?',
  });
