import { own, textIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { canDrawLive, createLive } from '../../cli/output/live.ts';
import { spinnerEveryMs, spinnerFrame } from '../../cli/output/paint.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { awaitEvent } from '../../integrations/webhooks/await-event.ts';
import { eventNames, olderNames, sameEvents } from '../../integrations/webhooks/listener.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { stateOfOrder } from '../../orders/order-record.ts';
import { verdictOf } from '../../orders/watch-policy.ts';
import { stopwatch } from '../../platform/clock.ts';
import { ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
import { stoppedWith } from '../../platform/poll.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { typedId, waitFlags, whereFlags } from '../../run/context-flags.ts';
import { checkUuid } from '../../run/ids.ts';
import { readOrder } from './acting.ts';
import { eventDetailColumns, shownEvent } from './columns.ts';
import { registrationScope } from './registration.ts';

export const waitCommand = defineCommand({
  name: 'wait',
  summary: 'Wait until an event of an order has been received',
  description:
    'One assertion for a script. `errand webhook listen` receives events, and has to run beside this; one that it received before counts too. An event counts once the order, read again, confirms it. Ends as soon as none can come any more.',
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

/** Whether this machine can receive the events of an order. If that is uncertain, there is advice to the user. */
interface Hearing {
  readonly isHeard: boolean;
  readonly advice?: string;
}

/**
 * Checks that a listener runs on this machine, and that the events are sent to the listener's address. errand knows two
 * kinds of addresses: the registered address, and addresses that the order itself sets.
 */
async function hearingOf(context: Context, orderId: string, names: readonly string[]): Promise<Hearing> {
  const { value: baseUrl } = context.settings.baseUrl;
  const { listeners, registrations } = await context.webhooks();
  const addresses = await listeners.addresses(baseUrl);
  const service = baseUrl === embeddedUrl ? 'the embedded sandbox' : baseUrl;
  if (addresses.length === 0)
    return {
      isHeard: false,
      advice: `no \`errand webhook listen\` is running on this machine for ${service}, and events are received only while one is; start \`errand webhook listen --register\` beside this`,
    };
  const known = [registrations.current(registrationScope(context)), ...(await ownAddresses())];
  if (addresses.some((address) => address === '' || known.includes(address))) return { isHeard: true };
  return {
    isHeard: true,
    advice: `\`errand webhook listen\` is running, but no address of it is registered here for ${service}, so events may not reach it; \`errand webhook listen --register\` registers one`,
  };

  /** Addresses that the order sets for these events. They are known only if this machine placed the order. */
  async function ownAddresses(): Promise<unknown[]> {
    if (!journalExists(context.settings)) return [];
    try {
      const webhooks = own((await context.journal()).madeBy(orderId, baseUrl)?.body, 'webhooks');
      return names.flatMap((name) => own(webhooks, name) ?? []);
    } catch (error) {
      // A broken journal must not end the wait.
      if (error instanceof StorageError) return [];
      throw error;
    }
  }
}

/**
 * Shows what is awaited and the elapsed time on stderr if it is a TTY; otherwise does nothing.
 * @param what names the event in words.
 * @returns a function that clears the line. It must always be called, even after a failure.
 */
async function showWaiting(context: Context, what: string, orderId: string): Promise<() => void> {
  const { stderr } = context.io;
  if (!canDrawLive({ stdout: stderr })) return () => {};
  const live = await createLive({ stdout: stderr });
  const elapsedMs = stopwatch(context.clock);
  let frame = 0;
  const draw = (): void => {
    frame += 1;
    const time = `${Math.round(elapsedMs() / 1000)} s`;
    const shapes = [
      `waiting for ${what} of order ${typedId(context, orderId)}, ${time}`,
      `waiting for ${what}, ${time}`,
      `waiting, ${time}`,
    ];
    const room = (stderr.columns() || 80) - 2;
    const line = shapes.find((shape) => shape.length <= room) ?? time;
    live.draw([`${spinnerFrame(frame)} ${safeText(line)}`]);
  };
  draw();
  const timer = setInterval(draw, spinnerEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    live.draw([]);
    live.done();
  };
}
