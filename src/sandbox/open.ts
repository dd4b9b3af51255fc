import { dirname, join } from 'node:path';
import { createApp } from './app.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { SandboxClock } from './clock.ts';
import { type SandboxConfig, sandboxConfig } from './config.ts';
import type { Service } from './handler.ts';
import { Identity } from './identity.ts';
import { Store } from './store.ts';
import type { Handle } from './wire.ts';

export interface OpenOptions {
  /** File of the store, or `:memory:`. */
  readonly file: string;
  readonly baseUrl: string;
  /** Kept with the store when it is new. */
  readonly seed?: number;
  readonly config?: Partial<SandboxConfig>;
  /** The real time, ms since the epoch. */
  readonly now: () => number;
  /** Is told of a bug behind a 500. */
  readonly report: (error: unknown) => void;
}

export interface OpenSandbox {
  readonly handle: Handle;
  readonly service: Service;
  close(): void;
}

/** Opens a sandbox on a store that other processes may use at the same time. @throws StoreError. */
export async function openSandbox({
  file,
  baseUrl,
  seed,
  config,
  now,
  report,
}: OpenOptions): Promise<OpenSandbox> {
  const store = await Store.open(file);
  const identity = new Identity(store, seed);
  const closers: (() => void)[] = [];
  let opening: Promise<Catalogue> | undefined;
  const service: Service = {
    store,
    identity,
    clock: new SandboxClock(store, now),
    config: sandboxConfig(baseUrl, config),
    catalogue: () => {
      opening ??= openStoresCatalogue();
      return opening;
    },
  };
  return {
    handle: createApp(service, report),
    service,
    close() {
      for (const close of closers) close();
      store.close();
    },
  };

  /** The catalogue follows from a number alone, and stands in a file of its own beside the store. */
  async function openStoresCatalogue(): Promise<Catalogue> {
    const { openCatalogue } = await import('./catalogue/catalogue.ts');
    const { loadSqlite } = await import('./sqlite.ts');
    const number = catalogueSeed(identity.seed);
    const Database = await loadSqlite();
    const catalogue = openCatalogue({
      file: file === ':memory:' ? file : join(dirname(file), `catalogue-${number}.db`),
      seed: number,
      prefix: service.config.prefix,
      database: (path) => new Database(path),
    });
    closers.push(() => catalogue.close());
    return catalogue;
  }
}

/** Sandboxes with a random seed share one catalogue, so that examples hold everywhere. */
const catalogueSeed = (seed: string): number => (/^\d{1,10}$/.test(seed) ? Number(seed) : 1);
