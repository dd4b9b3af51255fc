import type { Server } from 'node:http';
import type { ServedRequest } from '../contract/control.ts';
import type { Tell } from '../private-files.ts';
import type { Waiting } from '../wait/retry-while.ts';
import { type SandboxConfig, servedMintsPerDay } from './config.ts';
import { tick } from './control/tick.ts';
import { drawFaults, refuseConnections } from './http/faults/inject.ts';
import type { Fault } from './http/faults/spec.ts';
import { RequestLog } from './http/request-log.ts';
import { createHttpServer, listen, respondWith, stop } from './http/server.ts';
import { openSandbox } from './open.ts';

export { type Fault, readFault } from './http/faults/spec.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** File of the store, or `:memory:`. */
  readonly file: string;
  readonly seed?: number;
  readonly config?: Partial<SandboxConfig>;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  readonly faults?: readonly Fault[];
  readonly tell?: Tell;
  /** Called with each request that is over, as it may be shown. */
  readonly onRequest?: (request: ServedRequest) => void;
  readonly waiting?: Waiting;
}

export interface Served {
  readonly baseUrl: string;
  readonly legacyBaseUrl: string;
  readonly shopUrl: string;
  close(): Promise<void>;
}

/** Serves the sandbox over HTTP. @throws Error where the port is taken, DatabaseError where the data cannot be used. */
export async function serveSandbox(options: ServeOptions): Promise<Served> {
  const server = createHttpServer();
  await listen(server, options.port, options.host);
  const baseUrl = addressOf(server, options.host);
  const requests = new RequestLog(options.onRequest);
  try {
    const { handle, service, close } = await openSandbox({
      ...options,
      requests,
      baseUrl,
      config: { mintLimitPerDay: servedMintsPerDay, ...options.config },
    });
    const { faults = [], seed = 0, report, now } = options;
    refuseConnections(server, faults, seed);
    respondWith(server, { handle, report, draw: drawFaults(faults, seed), requests, now });
    const stopTicking = tick(service);
    return {
      baseUrl,
      legacyBaseUrl: baseUrl,
      shopUrl: service.config.shopUrl,
      async close() {
        await Promise.all([stopTicking(), stop(server)]);
        await close();
      },
    };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
