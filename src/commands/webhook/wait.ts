import { textIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { awaitEvent } from '../../integrations/webhooks/await-event.ts';
import { eventNames, olderNames, sameEvents } from '../../integrations/webhooks/names.ts';
import { stateOfOrder } from '../../orders/order-record.ts';
import { verdictOf } from '../../orders/watch-policy.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellLine, shellWord } from '../../platform/shell-word.ts';
import { stoppedWith } from '../../platform/wait/stopped.ts';
import { waitFlags, whereFlags } from '../../run/context-flags.ts';
import { checkUuid } from '../../run/ids.ts';
import { typedId } from '../../run/typed-id.ts';
import { readOrder } from './acting.ts';
import { eventDetailColumns, shownEvent } from './columns.ts';
import { hearingOf } from './heard.ts';
import { showWaiting } from './wait-view.ts';

export const waitCommand = defineCommand({
  name: 'wait',
  summary: 'Wait until an event of an order has been received',
  description:
    'One assertion for a script. `errand webhook listen` receives events, and has to run beside this; one that it received before counts too. Events are not signed: an event counts once the order, read again, confirms it. Ends as soon as none can come any more.',
  options: {
    order: { kind: 'text', names: 'orders', placeholder: 'id', description: 'the order (required)' },
    event: { kind: 'list', values: eventNames, description: 'the event, or any of several (required)' },
    allowMissing: { kind: 'flag', description: 'wait for an order that does not exist yet' },
    unverified: { kind: 'flag', description: 'take the event as it came, without reading the order' },
  },
  examples: [
    {
      command: 'errand webhook wait --order $ORDER --event request_succeeded --timeout 10m',
      note: 'exit 0 with the event, 7 or 8 without it',
    },
  ],
  output: { record: 'StoredEvent' },
  operations: ['order.get'],
  exitCodes: {
    7: 'the order has ended, and no such event can come',
    8: '--timeout passed; no such event had come',
  },
  related: ['webhook listen', 'webhook events', 'order watch'],
  async run(context, { order, event, unverified = false, allowMissing = false }) {
    const missing = [...(order ? [] : ['--order']), ...(event ? [] : ['--event'])];
    if (!order || !event)
      throw new UsageError(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing`, {
        next: [
          {
            command: `errand webhook wait --order ${shellWord(order ?? 'ID')} --event ${event?.join(',') ?? 'request_succeeded'}${whereFlags(context)}`,
            when: 'with the order and the event that are awaited',
          },
        ],
      });
    const orderId = checkUuid('order id', order);
    for (const line of olderNames(event)) context.note(`note: ${line}`);
    const { events: log } = await context.webhooks();
    const names = sameEvents(event);
    const what = event.join(' or ');
    const hearing = () => hearingOf(context, orderId, names);
    const words = [
      shellLine`errand webhook wait --order ${allowMissing ? orderId : typedId(context, orderId)} --event ${event.join(',')}`,
      ...(unverified ? ['--unverified'] : []),
      ...(allowMissing ? ['--allow-missing'] : []),
    ];
    const goOn = { command: `${words.join(' ')}${waitFlags(context)}`, when: 'to go on waiting' };
    const stopShowing = await showWaiting(context, what, orderId);
    const found = await awaitEvent({
      log,
      orderId,
      baseUrl: context.settings.baseUrl.value,
      names,
      what,
      reread: unverified ? undefined : (until) => readOrder(context, orderId, until),
      outlookOf: (received) => ({
        status: textIn(received, 'status') ?? '',
        hasEnded: verdictOf(received, 'delivered') !== 'waiting',
        state: stateOfOrder(received).text,
      }),
      allowMissing,
      clock: context.clock,
      signal: context.signal,
      timeoutMs: context.waitMs(),
      note: context.note,
      isHeard: async () => (await hearing()).isHeard,
      waiting: async () => {
        const { advice } = await hearing();
        if (advice !== undefined) context.note(`note: ${advice}`);
      },
    })
      .catch((error: unknown) => {
        const message = `stopped waiting; no ${what} of order ${orderId} had come`;
        throw stoppedWith(error, context.signal, message, goOn);
      })
      .finally(stopShowing);
    if (found) return { kind: 'record', record: { ...shownEvent(found) }, columns: eventDetailColumns };
    const { advice } = await hearing();
    throw new ErrandError('deadline', `--timeout passed; no ${what} of order ${orderId} had come`, {
      ...(advice !== undefined && { hint: `${advice}.` }),
      next: [
        goOn,
        {
          command: `errand webhook events --order ${orderId}${whereFlags(context)}`,
          when: 'to see what did come',
        },
      ],
    });
  },
});
