import type { Service } from '../handler.ts';
import type { StoredRow } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { post } from './post.ts';

/** Deliveries under way at once. */
const mostInFlight = 20;
/** How long a delivery is one process's own, ms; longer than a receiver may take. */
const leaseMs = 15_000;
/** The first retry comes after this, each later one after twice as long, ms. An order's life is compressed alike. */
const firstRetryMs = 1000;
const longestRetryMs = 60_000;
/** A day of the service, compressed, ms: what was not taken by then is given up. */
const givenUpAfterMs = 600_000;

/** Of each order's events to an address the earliest that is open, if it is due and nobody's. */
const due = `SELECT d.seq FROM deliveries d WHERE d.next_at <= ?1 AND coalesce(d.leased_until, 0) <= ?1
  AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.order_id = d.order_id AND e.url = d.url AND e.seq < d.seq
    AND e.next_at IS NOT NULL) ORDER BY d.seq LIMIT ?2`;

type Using = Pick<Service, 'store' | 'clock' | 'config' | 'report'>;

/** Sends what is queued: each order's events in order to each address, different ones side by side. */
export class Deliverer {
  readonly #service: Using;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(service: Using) {
    this.#service = service;
  }

  /** Begins what is due and goes on with what follows it; returns at once. */
  kick(): void {
    const room = mostInFlight - this.#running.size;
    if (room <= 0 || this.#stopping.signal.aborted) return;
    const { store, clock } = this.#service;
    const now = clock.now();
    const rows = store.all(
      `UPDATE deliveries SET leased_until = ?1 + ${leaseMs} WHERE seq IN (${due}) RETURNING *`,
      now,
      room,
    );
    for (const row of rows) this.#begin(row);
  }

  /** Ends: what is under way gets `graceMs` to finish; what does not stays queued. */
  async stop(graceMs: number): Promise<void> {
    if (this.#running.size > 0) {
      const timer = setTimeout(() => this.#stopping.abort(), graceMs);
      await Promise.all(this.#running);
      clearTimeout(timer);
    }
    this.#stopping.abort();
  }

  #begin(row: StoredRow): void {
    const run = this.#deliver(row)
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted)
          this.#service.report(error instanceof StoreError ? error.message : error);
      })
      .finally(() => {
        this.#running.delete(run);
        if (!this.#stopping.signal.aborted) this.kick();
      });
    this.#running.add(run);
  }

  async #deliver(row: StoredRow): Promise<void> {
    const { store, clock, config } = this.#service;
    const began = performance.now();
    const posted = await post({
      url: String(row.url),
      event: String(row.event),
      body: String(row.body),
      allowExternal: config.allowExternalWebhooks,
      signal: this.#stopping.signal,
    });
    const { signal } = this.#stopping;
    if (signal.aborted && 'error' in posted) {
      store.run('UPDATE deliveries SET leased_until = NULL WHERE seq = ?', Number(row.seq));
      return;
    }
    const now = clock.now();
    const isTaken = 'status' in posted && posted.status >= 200 && posted.status < 300;
    const attempts = Number(row.attempts) + 1;
    const isGivenUp = !isTaken && now - Number(row.created_at) > givenUpAfterMs / config.speed;
    const next = isTaken || isGivenUp ? null : now + retryPause(attempts, config.speed);
    store.transaction(() => {
      store.run(
        'INSERT INTO delivery_attempts (delivery_seq, at, status, error, took_ms) VALUES (?, ?, ?, ?, ?)',
        Number(row.seq),
        now,
        'status' in posted ? posted.status : null,
        'error' in posted ? posted.error : null,
        Math.round(performance.now() - began),
      );
      store.run(
        'UPDATE deliveries SET attempts = ?, next_at = ?, leased_until = NULL, delivered_at = ?, given_up_at = ? WHERE seq = ?',
        attempts,
        next,
        isTaken ? now : null,
        isGivenUp ? now : null,
        Number(row.seq),
      );
    });
  }
}

const retryPause = (attempts: number, speed: number): number =>
  Math.ceil(Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(20, attempts - 1)) / speed);
