import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caches } from '../support/caches.ts';
import { type Ended, endOf, startProgram } from './attempt.ts';
import { orderArgs } from './run.ts';
import type { Service } from './service.ts';

const processes = 32;
/** Number of orders that fit under the limit; each costs its ceiling of one cent plus the one-dollar fee. */
const fitting = 7;

export interface Raced {
  /** Orders that the service has. */
  readonly orders: number;
  readonly codes: readonly (number | null)[];
}

/**
 * Races processes that each place a different order under a limit with room for only some of them.
 * @param killed how many are killed while running.
 */
export async function race(service: Service, killed: number): Promise<Raced> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-race-'));
  const key = await service.mint();
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: join(folder, 'state'),
    ERRAND_BASE_URL: service.baseUrl,
    ERRAND_API_KEY: key,
  };
  mkdirSync(environment.ERRAND_CONFIG_DIR, { mode: 0o700 });
  const limit = `$${fitting}.${String(fitting).padStart(2, '0')}`;
  writeFileSync(join(folder, 'config', 'policy.yaml'), `version: 1\nlimits:\n  per_day: ${limit}\n`, {
    mode: 0o600,
  });
  try {
    const ended = await Promise.all(
      Array.from({ length: processes }, (_, index): Promise<Ended> => {
        const args = orderArgs(`${service.shopUrl}/test-never`, `racer-${index}`);
        const child = startProgram([...args, '-o', 'json', '--timeout', '60s'], environment);
        if (index < killed) setTimeout(() => child.kill('SIGKILL'), 300 + 400 * index);
        return endOf(child);
      }),
    );
    const listed = await fetch(`${service.baseUrl}/orders?limit=500`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { orders }: { orders: unknown[] } = JSON.parse(await listed.text());
    return { orders: orders.length, codes: ended.map(({ code }) => code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs races in sequence. @returns whether none exceeded the limit. */
export async function runRaces(races: number, start: () => Promise<Service>): Promise<boolean> {
  const service = await start();
  let over = 0;
  try {
    for (let index = 0; index < races; index += 1) {
      const { orders } = await race(service, index % 8);
      if (orders > fitting) over += 1;
      if ((index + 1) % 10 === 0) console.log(`${index + 1} of ${races} races, ${over} over the limit`);
    }
  } finally {
    await service.stop();
  }
  console.log(`${races} races, ${over} over the limit`);
  return over === 0;
}
