import { defineCommand } from '../../cli/define.ts';
import { confirms, disagreement } from '../../integrations/webhooks/agreement.ts';
import { type ForwardTarget, forward } from '../../integrations/webhooks/forward.ts';
import { maskAddress } from '../../integrations/webhooks/listener.ts';
import type { ForwardOutcome } from '../../journal/events.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { eachId } from '../../run/ids.ts';
import { readEventIds } from './columns.ts';
import { forwardTarget } from './registration.ts';

export const replay = defineCommand({
  name: 'replay',
  summary: 'Resend received events',
  description:
    'Resends each event unchanged, to --to or to the last forwarding address, once the service confirms its order. Retries as `webhook listen --forward-to` does.',
  arguments: [
    {
      name: 'ids',
      names: 'events',
      description: 'ids of events; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: {
    to: { kind: 'text', placeholder: 'url', description: 'where to send them' },
    allowPrivate: { kind: 'flag', description: 'let a name lead to a private address' },
    unverified: { kind: 'flag', description: 'send an event whose order the service does not confirm, too' },
  },
  examples: [
    {
      command: 'errand webhook replay $EVENT --to http://127.0.0.1:3000/hooks',
      note: 'one event, to a server',
    },
    { command: 'errand webhook events --failed -o id | errand webhook replay -', note: 'all that failed' },
  ],
  output: { list: 'ReplayedEvent' },
  operations: ['order.get'],
  exitCodes: { 7: 'the address refused an event', 9: 'the address cannot be reached' },
  related: ['webhook events', 'webhook listen'],
  async run(context, { ids, to, allowPrivate = false, unverified = false }) {
    const requested = await readEventIds(context, ids);
    const { events: log } = await context.webhooks();
    const url = to ?? log.lastForward();
    if (requested.length > 0 && url === undefined) {
      throw new UsageError('--to is missing, and no event was forwarded yet', {
        next: [{ command: `errand webhook replay ${requested[0]} --to URL`, when: 'to name the address' }],
      });
    }
    const target = forwardTarget(context, '--to', url ?? 'http://localhost', allowPrivate);
    return {
      kind: 'list',
      columns: [
        { name: 'id', path: 'id', kind: 'id', names: 'events', weight: 9 },
        { name: 'event', path: 'event', kind: 'status', weight: 8 },
        { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 7 },
        { name: 'sent to', path: 'url', weight: 6 },
        { name: 'response', path: 'status', kind: 'count', weight: 8 },
        { name: 'attempts', path: 'attempts', kind: 'count', weight: 5 },
      ],
      empty: 'no event to send',
      ...eachId(context, requested.map(String), (id) => sendAgain(context, Number(id), target, unverified)),
    };
  },
});

async function sendAgain(context: Context, id: number, target: ForwardTarget, unverified: boolean) {
  const { events: log } = await context.webhooks();
  const { event, order_id } = log.get(id);
  if (!unverified) await confirm(context, id, event, order_id);
  const outcome = await forward({ event, body: log.bodyOf(id) }, target, context.signal);
  await log.noteForward(id, outcome);
  if (!outcome.delivered) throw forwardError(id, outcome);
  return { id, event, order_id, ...outcome, url: maskAddress(outcome.url) };
}

/**
 * Confirms an event against its order before sending it, because anyone who knows the listener's address can post an
 * event.
 */
async function confirm(
  context: Context,
  id: number,
  event: string | null,
  orderId: string | null,
): Promise<void> {
  const next = [
    { command: shellLine`errand webhook replay ${id} --unverified`, when: 'to send it all the same' },
  ];
  if (orderId === null)
    throw new ErrandError('ended_badly', `event ${id} names no order, so the service cannot confirm it`, {
      next,
    });
  const client = await context.client();
  try {
    const { body } = await client.call('order.get', { path: { order_id: orderId } });
    if (!confirms(event, body)) throw new ErrandError('ended_badly', disagreement(event, body), { next });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const message = `event ${id} was not sent, since order ${orderId} does not confirm it: ${error.message}`;
    throw new ErrandError(error.category, message, { ...error.facts, next });
  }
}

function forwardError(id: number, { url, status, attempts, message }: ForwardOutcome): ErrandError {
  const isRefused = status !== null && status < 500 && status !== 429;
  return new ErrandError(
    isRefused ? 'ended_badly' : 'unavailable',
    `event ${id} was not taken by ${maskAddress(url)}: ${message}`,
    {
      attempts,
      retryable: !isRefused,
      next: [{ command: shellLine`errand webhook replay ${id}`, when: 'to send it again' }],
    },
  );
}
