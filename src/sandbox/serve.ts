import type { Server } from 'node:http';
import { bringUpToDate } from './advance.ts';
import { placeRows } from './bulk/place-rows.ts';
import { type SandboxConfig, servedMintsPerDay } from './config.ts';
import { drawFaults, refuseConnections } from './faults/inject.ts';
import type { Fault } from './faults/spec.ts';
import type { Service } from './handler.ts';
import { answerWith, createHttpServer, listen, stop } from './http-server.ts';
import { openSandbox } from './open.ts';
import { StoreError } from './store-error.ts';

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
}

export interface Served {
  readonly baseUrl: string;
  readonly legacyBaseUrl: string;
  readonly shopUrl: string;
  close(): Promise<void>;
}

/** How often due work is brought about while nobody asks, ms. */
const tickMs = 500;

/** How long one tick places rows of batches, ms; requests are answered in between. */
const placingBudgetMs = 400;

/** Serves the sandbox over HTTP. @throws Error where the port is taken, StoreError where the data cannot be used. */
export async function serveSandbox(options: ServeOptions): Promise<Served> {
  const server = createHttpServer();
  await listen(server, options.port, options.host);
  const baseUrl = addressOf(server, options.host);
  try {
    const { handle, service, close } = await openSandbox({
      ...options,
      baseUrl,
      config: { mintLimitPerDay: servedMintsPerDay, ...options.config },
    });
    const { faults = [], seed = 0, report } = options;
    refuseConnections(server, faults, seed);
    answerWith(server, { handle, report, drawn: drawFaults(faults, seed) });
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

/** Brings about what is due, one round after the other. @returns how to end it, done once the last round is. */
function tick(service: Service): () => Promise<void> {
  let round = Promise.resolve();
  let lastTrouble: string | undefined;
  const report = (error: unknown): void => {
    // A full disk lasts; it is told once, and again only after a round that went well.
    if (error instanceof StoreError && error.message === lastTrouble) return;
    lastTrouble = error instanceof StoreError ? error.message : undefined;
    service.report(error instanceof StoreError ? error.message : error);
  };
  const timer = setInterval(() => {
    round = round
      .then(() => placeRows(service, service.clock.now(), placingBudgetMs))
      .then(() => bringUpToDate(service, service.clock.now()))
      .then(() => {
        service.deliver();
        lastTrouble = undefined;
      })
      .catch(report);
  }, tickMs);
  return () => {
    clearInterval(timer);
    return round;
  };
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
