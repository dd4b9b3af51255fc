import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { intentOf } from './intent.ts';
import type { MadeBy } from './order-record.ts';
import type { Made } from './placed.ts';
import { recordOnce } from './repeats.ts';
import { type ReturnBody, sendReturn } from './send-return.ts';

/**
 * Requests one return for one intent. While one of the same items is open the service makes no second one; one that was
 * requested by a command that was interrupted is found again, whatever became of it since.
 * @throws ErrandError: conflict with the differences where another is open; in_doubt where no response settles it.
 */
export async function requestReturn(
  context: Context,
  body: ReturnBody,
): Promise<Made<MadeBy['return.create']>> {
  const client = await context.client();
  if (context.previewsRequests)
    return { order: (await client.call('return.create', { body })).body, existed: false };
  const intent = await intentOf(context, 'return.create', { key: randomUUID(), keyOrigin: 'made', body });
  const recorded = await recordOnce(context, intent, 'owed');
  return recorded.placed ? recorded.placed : sendReturn(context, client, intent, body);
}
