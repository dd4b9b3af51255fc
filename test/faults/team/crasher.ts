import type { PostgresServer } from '../../support/postgres.ts';
import { Random } from '../random.ts';

/** Crashes and restarts a server at random intervals until stopped. */
export class Crasher {
  crashes = 0;
  #isStopped = false;
  readonly #running: Promise<void>;

  /** @param everyMs mean uptime. */
  constructor(server: PostgresServer, seed: number, everyMs: number) {
    this.#running = this.#run(server, new Random(seed), everyMs);
  }

  /** @throws if the server did not come back. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(server: PostgresServer, random: Random, everyMs: number): Promise<void> {
    for (;;) {
      await pause(random.integer(everyMs / 4, (everyMs * 7) / 4));
      if (this.#isStopped) return;
      await server.stop('immediate');
      if (random.next() < 0.3) await pause(random.integer(0, 300));
      await server.start();
      this.crashes += 1;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
