import { defineCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import { embeddedUrl } from '../../settings/stored.ts';
import { awaitEvent } from '../../webhooks/await-event.ts';
import { eventNames, olderNames, sameEvents } from '../../webhooks/names.ts';
import { whereFlags } from '../../where-flags.ts';
import { readOrder } from './acting.ts';
import { eventDetailColumns, shownEvent } from './columns.ts';

export const waitCommand = defineCommand({
  name: 'wait',
  summary: 'Wait until an event of an order has been received',
  description:
    'One assertion for a script. `errand webhook listen` receives events, and has to run beside this; one that it received before counts too. Events are not signed: an event counts once the order, read again, confirms it.',
  options: {
    order: { kind: 'text', names: 'orders', placeholder: 'id', description: 'the order (required)' },
    event: { kind: 'list', values: eventNames, description: 'the event, or any of several (required)' },
    unverified: { kind: 'flag', description: 'take the event as it came, without reading the order' },
  },
  examples: [
    {
      command: 'errand webhook wait --order $ORDER --event request_succeeded --timeout 1s',
      note: 'exit 0 with the event, or 8 without it',
    },
  ],
  operations: ['order.get'],
  exitCodes: { 8: '--timeout passed; no such event had come' },
  related: ['webhook listen', 'webhook events', 'order watch'],
  async run(context, { order, event, unverified = false }) {
    const missing = [...(order ? [] : ['--order']), ...(event ? [] : ['--event'])];
    if (!order || !event)
      throw new UsageError(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing`, {
        next: [
          {
            command: `errand webhook wait --order ID --event request_succeeded${whereFlags(context)}`,
            when: 'with the order and the event that are awaited',
          },
        ],
      });
    const orderId = checkUuid('order id', order);
    for (const line of olderNames(event)) context.note(`note: ${line}`);
    const { events: log, listeners } = await context.webhooks();
    const { value: baseUrl } = context.settings.baseUrl;
    const isHeard = (): Promise<boolean> => listeners.areThere(baseUrl);
    const found = await awaitEvent({
      log,
      orderId,
      baseUrl,
      names: sameEvents(event),
      reread: unverified ? undefined : () => readOrder(context, orderId),
      clock: context.clock,
      signal: context.signal,
      timeoutMs: context.waitMs(),
      note: context.note,
      waiting: async () => {
        if (!(await isHeard())) context.note(nobodyListens(baseUrl));
      },
    });
    if (!found) {
      const hint = (await isHeard()) ? {} : { hint: `${nobodyListens(baseUrl)}.` };
      throw new ErrandError(
        'deadline',
        `--timeout passed; no ${event.join(' or ')} of order ${orderId} had come`,
        {
          ...hint,
          next: [
            {
              command: `errand webhook events --order ${orderId}${whereFlags(context)}`,
              when: 'to see what did come',
            },
          ],
        },
      );
    }
    return { kind: 'record', record: { ...shownEvent(found) }, columns: eventDetailColumns };
  },
});

const nobodyListens = (baseUrl: string): string => {
  const service = baseUrl === embeddedUrl ? 'the embedded sandbox' : baseUrl;
  return `no \`errand webhook listen\` is running on this machine for ${service}; events are received only while one is`;
};
