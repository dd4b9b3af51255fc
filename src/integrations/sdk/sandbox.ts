import { randomUUID } from 'node:crypto';
import { parseDuration } from '../../platform/duration.ts';
import { UsageError } from '../../platform/errors.ts';
import {
  type Delivery,
  exampleOrder,
  type InProcess,
  type Logged,
  openInProcess,
} from '../../sandbox/in-process.ts';
import { fetchThrough } from './in-process-fetch.ts';
import { noteInProcess } from './in-process-services.ts';
import { readOptions, shown, triggerBody, triggered } from './sandbox-options.ts';
import type {
  Sandbox,
  SandboxDelivery,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
} from './sandbox-types.ts';
import type { OrderResponse } from './wire.ts';

export type {
  Sandbox,
  SandboxDelivery,
  SandboxFault,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
  SandboxTriggered,
  TriggerArguments,
} from './sandbox-types.ts';

/** Maximum time, in days, by which to advance the clock at once. */
const maxAdvanceDays = 3650;

/**
 * Starts the complete service in this process, in memory. The sandbox does not keep the process alive. If it is not
 * closed, it ends with the process.
 * @throws UsageError for an invalid option, or a port in use.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port, ...read } = readOptions(options);
  const opened = await openInProcess({ ...read, port, report: reportBug }).catch((error: unknown) => {
    throw portError(error, port) ?? error;
  });
  const snapshots = new WeakMap<SandboxSnapshot, string>();
  let closing: Promise<void> | undefined;
  const sandbox = (): InProcess => {
    if (closing) throw new UsageError('this sandbox is closed; startSandbox() starts another');
    return opened;
  };
  const { baseUrl, shopUrl, apiKey } = opened;
  const ended = noteInProcess(baseUrl);
  const close = (): Promise<void> => {
    closing ??= opened.close().finally(ended);
    return closing;
  };
  return {
    baseUrl,
    shopUrl,
    apiKey,
    get exampleOrder() {
      return { ...exampleOrder(shopUrl), idempotency_key: randomUUID() };
    },
    fetch: fetchThrough(baseUrl, async (request, signal) => sandbox().send(request, signal)),
    async advance(time) {
      const ms = readTime(time);
      return await sandbox().advance(ms);
    },
    async snapshot() {
      const saved = await sandbox().saveSnapshot();
      const snapshot = Object.freeze({ takenAt: saved.at });
      snapshots.set(snapshot, saved.name);
      return snapshot;
    },
    async restore(snapshot) {
      const name = snapshots.get(Object(snapshot));
      if (name === undefined)
        throw new UsageError('sandbox.restore takes a snapshot that this sandbox has given, and no other');
      await sandbox().restore(name);
    },
    async trigger(event, ...what) {
      const body = triggerBody(event, what);
      return triggered(event, await sandbox().trigger(body));
    },
    requests: () => sandbox().requests().map(requestIn),
    deliveries: () => sandbox().deliveries().map(deliveryIn),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function readTime(time: unknown): number {
  if (typeof time === 'string') return parseDuration(time, 'sandbox.advance', maxAdvanceDays);
  if (typeof time === 'number' && time >= 0 && time <= maxAdvanceDays * 86_400_000) return Math.round(time);
  throw new UsageError(
    `sandbox.advance takes a length of time, such as '3d', or ms from 0 to ${maxAdvanceDays} days, not ${shown(time)}`,
  );
}

function requestIn({ at, method, target, status, tookMs, fault }: Logged): SandboxRequest {
  const mark = target.indexOf('?');
  const [path, query] = mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
  return { at, method, path, query, status, tookMs, fault };
}

function deliveryIn({
  id,
  orderId,
  event,
  url,
  body,
  state,
  createdAt,
  at,
  attempts,
  last,
}: Delivery): SandboxDelivery {
  // The cast is safe, because the sandbox itself wrote this record of the order.
  const order = JSON.parse(body) as OrderResponse;
  return { id, orderId, event, url, body: order, state, createdAt, at, attempts, last };
}

function portError(error: unknown, port: number | undefined): UsageError | undefined {
  const { code } = Object(error);
  if (code === 'EADDRINUSE')
    return new UsageError(
      `startSandbox: port ${port} is taken on 127.0.0.1; without a port it picks a free one`,
      {
        cause: error,
      },
    );
  if (code === 'EACCES')
    return new UsageError(`startSandbox: port ${port} may not be used; take one above 1023, or none`, {
      cause: error,
    });
  return undefined;
}

/** Reports the bug behind a 500 to the console, for whoever runs the tests. The response reveals no details. */
const reportBug = (error: unknown): void => console.error('errand/sandbox:', error);
