import type { Client } from '../../http/client.ts';
import { runCommand } from '../../integrations/webhooks/exec.ts';
import { forward } from '../../integrations/webhooks/forward.ts';
import type { ListenOptions } from '../../integrations/webhooks/listen.ts';
import type { Context } from '../../run/context.ts';
import { forwardTarget } from './registration.ts';

/** Maximum time to read the order of an event, in ms. Later events have to wait until then. */
const rereadMs = 15_000;

/**
 * Reads the order of an event from the service, unless `until` aborts first.
 * @throws Error if the order cannot be read.
 */
export const readOrder = (context: Context, id: string, until?: AbortSignal) =>
  readInTime(
    context,
    async (client, signal) => (await client.call('order.get', { path: { order_id: id } }, { signal })).body,
    until,
  );

/**
 * Reads the return of an event from the service.
 * @throws Error if the return cannot be read.
 */
export const readReturn = (context: Context, id: string) =>
  readInTime(
    context,
    async (client, signal) =>
      (await client.call('return.get', { path: { return_request_id: id } }, { signal })).body,
  );

async function readInTime<T>(
  context: Context,
  read: (client: Client, signal: AbortSignal) => Promise<T>,
  until?: AbortSignal,
): Promise<T> {
  const client = await context.lastingClient();
  const timeout = AbortSignal.timeout(rereadMs);
  const signal = AbortSignal.any([context.signal, timeout, ...(until ? [until] : [])]);
  try {
    return await read(client, signal);
  } catch (error) {
    if (!timeout.aborted || context.signal.aborted) throw error;
    throw new Error(`the service did not respond within ${rereadMs / 1000} s`);
  }
}

/** Creates a sender that forwards orders to an address. */
export function sender(context: Context, url: string, allowPrivate: boolean): ListenOptions['forward'] {
  const target = forwardTarget(context, '--forward-to', url, allowPrivate);
  return (delivery, signal) => forward(delivery, target, signal);
}

/** Creates a runner that executes a command for each order. */
export function runner({ environment, clock, note }: Context, command: string): ListenOptions['exec'] {
  return (delivery, signal) => runCommand({ command, environment, clock, onLine: note }, delivery, signal);
}
