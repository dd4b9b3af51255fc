import { dirname, join } from 'node:path';
import type { Waiting } from '../platform/async.ts';
import { makePrivateDatabase, type Warn } from '../platform/private-files.ts';
import type { Sealer } from '../platform/sealer.ts';
import { databaseError } from '../platform/sqlite/database-error.ts';
import { createApp } from './app.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Listing } from './catalogue/listing.ts';
import { givenListingsName, type SandboxConfig, sandboxConfig } from './config.ts';
import { CatchUpBudget } from './control/due-transitions.ts';
import type { SandboxFaults } from './control/faults.ts';
import { PriorityScheduler, untilDone } from './control/scheduler.ts';
import { fillRecords } from './orders/records.ts';
import { loggedResponse, type RequestLog } from './server/request-log.ts';
import type { Control, Service } from './server/service.ts';
import type { Handle } from './server/wire.ts';
import { SandboxClock } from './store/clock.ts';
import { IdGenerator } from './store/identity.ts';
import { RunTime } from './store/run-time.ts';
import { Store } from './store/store.ts';
import { Outbox } from './webhooks/outbox.ts';

export interface OpenOptions {
  /** Path of the store, or `:memory:`. */
  readonly file: string;
  readonly baseUrl: string;
  /** Seed to save in a newly created store. */
  readonly seed?: number;
  readonly config?: Partial<SandboxConfig>;
  /** Real time, ms since the epoch. */
  readonly now: () => number;
  /** Receives the error behind a 500 response. */
  readonly report: (error: unknown) => void;
  readonly requests?: RequestLog;
  /** Creates the initial faults. By default, the sandbox has no faults until some are switched on. */
  readonly faults?: (store: Store) => SandboxFaults;
  /** Serves read-only requests if the store is not writable. */
  readonly readsCopy?: boolean | undefined;
  /** How to wait for a lock held by another process. */
  readonly waiting?: Waiting;
  /** Called after tightening the permissions of files that other users could access. */
  readonly warn?: Warn;
}

export interface OpenSandbox {
  readonly handle: Handle;
  readonly service: Service;
  readonly outbox: Outbox;
  /** Undefined if the sandbox was opened without initial faults. */
  readonly faults: SandboxFaults | undefined;
  /**
   * Resolves when the requests in progress are done. Webhooks being sent get a short grace period. All other webhooks
   * stay queued.
   */
  close(): Promise<void>;
}

/** Opens a sandbox on a store that other processes may be using concurrently. @throws DatabaseError. */
export async function openSandbox({
  file,
  baseUrl,
  seed,
  config,
  now,
  report,
  requests,
  faults: startFaults,
  warn = () => {},
  readsCopy,
  waiting,
}: OpenOptions): Promise<OpenSandbox> {
  const signal = waiting?.signal;
  // An aborted wait is not a bug.
  const reportBug = (error: unknown): void => {
    if (!signal?.aborted || error !== signal.reason) report(error);
  };
  const store = await Store.open(file, { warn, waiting, readsCopy });
  const identity = await IdGenerator.open(store, seed);
  await fillRecords(store);
  const closers: (() => void)[] = [];
  const closing = new AbortController();
  const runTime = new RunTime(store);
  const started = sandboxConfig(baseUrl, config);
  const faults = startFaults?.(store);
  let controlling: Promise<Control> | undefined;
  let opening: Promise<Catalogue> | undefined;
  /** The stored scenario listings with which the catalogue was opened. */
  let openedWith: string | undefined;
  let sealer: Sealer | undefined;
  const service: Service = {
    store,
    idGenerator: identity,
    clock: new SandboxClock(store, now),
    config: {
      ...started,
      get speed() {
        return runTime.speed ?? started.speed;
      },
    },
    catalogue: () => {
      const given = store.meta(givenListingsName);
      if (given !== openedWith) opening = undefined;
      openedWith = given;
      opening ??= openStoresCatalogue(given).catch((error: unknown) => {
        // Retry next time, because the cause may be temporary.
        opening = undefined;
        throw error;
      });
      return opening;
    },
    sealer: async () => {
      const { sealerOf } = await import('./store/secrets.ts');
      sealer ??= sealerOf(file, warn);
      return sealer;
    },
    control: () => {
      controlling ??= openControl();
      return controlling;
    },
    deliver: () => outbox.wake(),
    attempted: (limitMs) => untilDone(outbox.idle(), limitMs),
    scheduler: new PriorityScheduler(),
    readBudget: new CatchUpBudget(store, started.readBudgetMs),
    ...(requests && { requests }),
    report: reportBug,
  };
  requests?.setClock(service.clock);
  const outbox = new Outbox(service, ({ headers, body, isCut }) =>
    JSON.stringify(loggedResponse(headers, body, isCut)),
  );
  const { handle, drained } = counted(dated(createApp(service), service.clock));
  return {
    handle,
    service,
    outbox,
    faults,
    async close() {
      closing.abort(new Error('the sandbox was closed'));
      // Close the outbox first, because an advance in progress waits for webhooks and would not end otherwise.
      const ending = controlling ? outbox.close() : undefined;
      await drained();
      await (ending ?? outbox.close());
      // Wait for operations in progress, because they still read the store.
      if (controlling) await (await controlling).idle();
      for (const close of closers) close();
      await store.close();
    },
  };

  async function openControl(): Promise<Control> {
    const [{ SandboxControl }, { SandboxFaults }] = await Promise.all([
      import('./control/control.ts'),
      import('./control/faults.ts'),
    ]);
    return new SandboxControl({
      service,
      outbox,
      faults: faults ?? new SandboxFaults(store, { faults: [], seed: seed ?? 0 }),
      signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
    });
  }

  /**
   * Opens the catalogue. Without scenario listings, the catalogue is derived from a number alone and stored in a
   * separate file next to the store. With scenario listings, the catalogue is kept in memory.
   */
  async function openStoresCatalogue(given: string | undefined): Promise<Catalogue> {
    const { openCatalogue } = await import('./catalogue/catalogue.ts');
    const { installedSqlite } = await import('../platform/sqlite/open.ts');
    const number = catalogueSeed(identity.seed);
    const Database = installedSqlite();
    // `given` comes from a validated scenario.
    const own = given === undefined ? undefined : await givenListings(given, number);
    const path = file === ':memory:' || own ? ':memory:' : join(dirname(file), `catalogue-${number}.db`);
    try {
      if (path !== ':memory:') makePrivateDatabase(path, warn);
      const catalogue = openCatalogue({
        file: path,
        seed: number,
        prefix: service.config.prefix,
        database: (name) => new Database(name),
        ...(own && { own }),
      });
      closers.push(() => catalogue.close());
      return catalogue;
    } catch (cause) {
      throw databaseError(path, cause) ?? cause;
    }
  }
}

/** Parses the stored listings of a scenario. */
async function givenListings(given: string, seed: number): Promise<ReadonlyMap<number, Listing>> {
  const { ownListings } = await import('./catalogue/own-listings.ts');
  return ownListings(JSON.parse(given), seed);
}

/**
 * Sets the `date` header of each response to sandbox time, which may be ahead of real time, so that clients compute
 * ages correctly.
 */
function dated(app: Handle, clock: SandboxClock): Handle {
  let [second, date] = [Number.NaN, ''];
  return async (request) => {
    request.started?.(clock.now());
    const response = await app(request);
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) [second, date] = [now, new Date(now * 1000).toUTCString()];
    return { ...response, headers: { ...response.headers, date } };
  };
}

/**
 * Maximum time, in ms, for which closing waits for requests in progress. Requests delayed by `--latency` may take
 * longer.
 */
const closeLimitMs = 2000;

/**
 * Tracks requests in progress. `drained` waits for all of these requests, even for requests whose clients have
 * disconnected.
 */
function counted(app: Handle): { handle: Handle; drained(): Promise<void> } {
  const underWay = new Set<Promise<unknown>>();
  return {
    handle: (request) => {
      const response = app(request);
      const done = (): boolean => underWay.delete(response);
      underWay.add(response);
      response.then(done, done);
      return response;
    },
    async drained() {
      if (underWay.size > 0) await untilDone(Promise.allSettled(underWay), closeLimitMs);
    },
  };
}

/**
 * Seed of the catalogue. All sandboxes with a random seed share the catalogue of seed 1, so that examples work
 * everywhere.
 */
const catalogueSeed = (seed: string): number => (/^\d{1,10}$/.test(seed) ? Number(seed) : 1);
