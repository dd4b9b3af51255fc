import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalFile } from '../../../src/journal/journal-tables.ts';
import { caches } from '../../support/caches.ts';
import { brokenChainIn } from '../chain.ts';

/** A team machine: its own state directory, a shared database. */
export interface Machine {
  readonly folder: string;
  readonly state: string;
  readonly config: string;
  readonly environment: Record<string, string>;
  remove(): void;
}

export interface MachineOf {
  /** URL of the service, or of a proxy in front of it. */
  readonly baseUrl: string;
  readonly key: string;
  /** Value of `ERRAND_DATABASE_URL`. */
  readonly database: string;
}

export function makeMachine({ baseUrl, key, database }: MachineOf): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'errand-machine-'));
  const [state, config] = [join(folder, 'state'), join(folder, 'config')];
  mkdirSync(config, { mode: 0o700 });
  // On a slow machine the default ten-minute window may pass, and the same order would count as a new one.
  const settings = { preferences: { 'duplicate-window': '24h' } };
  writeFileSync(join(config, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: config,
    ERRAND_STATE_DIR: state,
    ERRAND_BASE_URL: baseUrl,
    ERRAND_API_KEY: key,
    ERRAND_DATABASE_URL: database,
  };
  return {
    folder,
    state,
    config,
    environment,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Verifies the audit chain in a machine's copy of the database; empty if it has none. */
export function brokenCopies({ state }: Machine): string[] {
  if (!existsSync(state)) return [];
  const copies = readdirSync(state).filter((name) => name.startsWith('team-'));
  return copies
    .map((name) => journalFile(join(state, name)))
    .filter((file) => existsSync(file))
    .flatMap(brokenChainIn);
}
