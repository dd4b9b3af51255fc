import type { Service } from '../handler.ts';
import { StoreError } from '../store-error.ts';
import type { Deliverer } from './deliverer.ts';

/** How long what is under way may take when the sandbox closes, ms. */
const graceMs = 300;

/** Deliveries of a sandbox; their code loads when there is one to make. */
export class Deliveries {
  readonly #service: Pick<Service, 'store' | 'clock' | 'config' | 'report'>;
  #loading: Promise<Deliverer> | undefined;
  #isClosed = false;

  constructor(service: Pick<Service, 'store' | 'clock' | 'config' | 'report'>) {
    this.#service = service;
  }

  /** Begins what is due, and waits for nothing. */
  kick(): void {
    if (this.#isClosed || !this.#isDue()) return;
    this.#loading ??= import('./deliverer.ts').then(({ Deliverer }) => new Deliverer(this.#service));
    this.#loading
      .then((deliverer) => {
        if (!this.#isClosed) deliverer.kick();
      })
      .catch((error: unknown) => this.#service.report(error instanceof StoreError ? error.message : error));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (await this.#loading)?.stop(graceMs);
  }

  #isDue(): boolean {
    const { store, clock } = this.#service;
    return store.get('SELECT 1 FROM deliveries WHERE next_at <= ? LIMIT 1', clock.now()) !== undefined;
  }
}
