import { defineCommand } from '../../cli/define.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { type ListenOptions, listen } from '../../integrations/webhooks/listen.ts';
import { eventNames, olderNames, sameEvents } from '../../integrations/webhooks/names.ts';
import { makeSecret, secretOf } from '../../integrations/webhooks/secret.ts';
import { UsageError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/network/loopback.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { readOrder, runner, sender } from './acting.ts';
import { forwardTarget } from './forwarding.ts';
import { listenResult } from './listen-view.ts';
import { registerWhileListening } from './registration.ts';
import { Shown } from './shown.ts';

export const listenCommand = defineCommand({
  name: 'listen',
  summary: 'Receive events: show, store and forward them',
  description:
    'Stores each event before acknowledging it, and shows duplicates once. Events are not signed, so errand reads the order again from the service, and shows, forwards and passes that to the command. Ctrl-C ends it.',
  options: {
    port: { kind: 'integer', min: 0, max: 65_535, description: 'port to listen on (default: a free one)' },
    host: { kind: 'text', description: 'address to listen on (default 127.0.0.1)' },
    allowRemote: { kind: 'flag', description: 'listen on an address that other machines reach' },
    secretFile: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'file that keeps the secret of the address, so that it stays the same; created if missing',
    },
    register: { kind: 'flag', description: 'register the address with the service while listening' },
    publicUrl: {
      kind: 'text',
      placeholder: 'url',
      description: 'public URL of a tunnel to this listener; the secret is added to it',
    },
    events: { kind: 'list', values: eventNames, description: 'only these' },
    unverified: {
      kind: 'flag',
      description: 'trust events as received, instead of reading each order again from the service',
    },
    forwardTo: {
      kind: 'text',
      placeholder: 'url',
      description: 'forward the order of each event to this URL; --retries sets how often to retry (4)',
    },
    allowPrivate: { kind: 'flag', description: 'let a name in --forward-to lead to a private address' },
    exec: {
      kind: 'text',
      placeholder: 'command',
      description:
        'run this for each event: the order as JSON on stdin, ERRAND_EVENT and ERRAND_ORDER_ID set, no key of errand',
    },
    max: { kind: 'integer', min: 1, placeholder: 'n', description: 'end after so many events' },
  },
  examples: [
    { command: 'errand webhook listen', note: 'an address of this machine, until Ctrl-C' },
    {
      command: 'errand webhook listen --register -o ndjson',
      note: 'for a script: what the service itself says, one record a line',
    },
    {
      command: 'errand webhook listen --forward-to http://localhost:3000/hooks',
      note: 'send events on to a server under development',
    },
    {
      command: "errand webhook listen --events status_updated --exec 'jq -r .status'",
      note: 'a command for each event',
    },
  ],
  output: [{ list: 'ReceivedEvent' }, { events: 'ListenRecord' }],
  operations: ['webhook.register', 'order.get'],
  exitCodes: { 7: 'an event could not be forwarded, or its command failed', 8: '--timeout passed' },
  related: ['webhook wait', 'webhook events', 'webhook replay', 'webhook register'],
  async run(context, { port = 0, host = '127.0.0.1', allowRemote = false, secretFile, register, ...more }) {
    if (!isLoopback(host) && !allowRemote) {
      throw new UsageError(`--host ${host} can be reached by other machines`, {
        next: [
          {
            command: shellLine`errand webhook listen --host ${host} --allow-remote`,
            when: 'if that is meant',
          },
        ],
      });
    }
    if (context.previewsRequests && !register)
      throw new UsageError('nothing is sent without --register, so there is no request to show');
    if (more.publicUrl !== undefined) forwardTarget(context, '--public-url', more.publicUrl, true);
    for (const line of olderNames(more.events ?? [])) context.note(`note: ${line}`);
    const { forwardTo, exec, allowPrivate = false, unverified = false, events } = more;
    const { events: log } = await context.webhooks();
    const shown = new Shown(context, log);
    const records = listen({
      host,
      port,
      secret: secretFile === undefined ? makeSecret() : secretOf(secretFile, context.note),
      publicUrl: more.publicUrl,
      log,
      profile: context.settings.profile.value,
      baseUrl: context.settings.baseUrl.value,
      clock: context.clock,
      signal: context.signal,
      max: more.max,
      forMs: context.waitMs(),
      shown: (id) => shown.handedOut(id),
      wants: wanted(events),
      begin: (url) => begin(context, register === true, url),
      reread: unverified ? undefined : (id) => readOrder(context, id),
      forward: forwardTo === undefined ? undefined : sender(context, forwardTo, allowPrivate),
      exec: exec === undefined ? undefined : runner(context, exec),
    });
    return listenResult(context, records, shown, log);
  },
});

/** The embedded sandbox delivers only while a process runs it, so this one does; and the address is registered. */
async function begin(context: Context, registers: boolean, url: string): Promise<() => Promise<void>> {
  const { listeners } = await context.webhooks();
  const stopSandbox = await runSandbox(context);
  try {
    const restore = registers ? await registerWhileListening(context, url) : undefined;
    const id = await listeners.begin(context.settings.baseUrl.value, url);
    return async () => {
      await listeners.end(id);
      await stopSandbox?.();
      await restore?.();
    };
  } catch (error) {
    await stopSandbox?.();
    throw error;
  }
}

async function runSandbox({ settings, previewsRequests, signal }: Context) {
  if (previewsRequests || settings.baseUrl.value !== embeddedUrl) return undefined;
  const { openEmbeddedSandbox } = await import('../../sandbox-door.ts');
  return (await openEmbeddedSandbox(settings.folders.state, { ...settings.sandbox, signal })).close;
}

function wanted(events: readonly string[] | undefined): ListenOptions['wants'] {
  if (!events) return () => true;
  const names = sameEvents(events);
  return (event) => event !== null && names.includes(event);
}
