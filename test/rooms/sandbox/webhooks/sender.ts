import type { SandboxConfig } from '../../../../src/sandbox/config.ts';
import { type OpenSandbox, openSandbox } from '../../../../src/sandbox/open.ts';

/** A sandbox that sends webhooks; the test controls its clock and outbox. */
export class Sender {
  readonly bugs: unknown[];
  readonly opened: OpenSandbox;
  readonly #clock: { now: number };
  key = '';

  private constructor(opened: OpenSandbox, clock: { now: number }, bugs: unknown[]) {
    this.opened = opened;
    this.#clock = clock;
    this.bugs = bugs;
  }

  static async open(file = ':memory:', config: Partial<SandboxConfig> = {}): Promise<Sender> {
    const clock = { now: Date.parse('2026-03-01T12:00:00Z') };
    const bugs: unknown[] = [];
    const opened = await openSandbox({
      file,
      baseUrl: 'http://127.0.0.1:4848',
      config,
      now: () => clock.now,
      report: (error) => bugs.push(error),
    });
    return new Sender(opened, clock, bugs);
  }

  async send(method: string, target: string, body?: unknown) {
    const response = await this.opened.handle({
      method,
      target,
      headers: this.key === '' ? {} : { authorization: `Bearer ${this.key}` },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
    return response.body === null ? null : JSON.parse(String(response.body));
  }

  /** Mints a key and registers a webhook URL with it. */
  async register(webhook_url: string): Promise<void> {
    this.key = (await this.send('POST', '/sandbox/keys')).api_key;
    await this.send('POST', '/users', { webhook_url });
  }

  /** Places a slow order and cancels it, which causes a single event. @returns its id. */
  async oneEvent(more: Record<string, unknown> = {}): Promise<string> {
    const id = await this.order('test-slow', more);
    await this.send('POST', `/orders/${id}/cancel`);
    return id;
  }

  async order(slug: string, more: Record<string, unknown> = {}): Promise<string> {
    const { example_order: example } = await this.send('POST', '/sandbox/keys');
    const products = [{ url: `http://127.0.0.1:4848/shop/${slug}`, quantity: 1 }];
    return (await this.send('POST', '/orders', { ...example, products, ...more })).id;
  }

  /** Advances the clock, ms, then attempts all due deliveries. */
  async pass(ms: number): Promise<void> {
    this.#clock.now += ms;
    this.opened.outbox.wake();
    await this.opened.outbox.idle();
  }

  /** State of each delivery, with its last attempt. */
  log(): { event: string; state: string; attempts: number; status: number | null; error: string | null }[] {
    return this.opened.service.store
      .all(
        `SELECT event, attempts, delivered_at, given_up_at, a.status, a.error FROM deliveries d
         LEFT JOIN delivery_attempts a ON a.rowid = (
           SELECT max(rowid) FROM delivery_attempts WHERE delivery_seq = d.seq) ORDER BY d.seq`,
      )
      .map((row) => ({
        event: String(row.event),
        state: row.delivered_at !== null ? 'delivered' : row.given_up_at !== null ? 'given up' : 'open',
        attempts: Number(row.attempts),
        status: row.status === null ? null : Number(row.status),
        error: row.error === null ? null : String(row.error),
      }));
  }

  attempts(): unknown[] {
    return this.opened.service.store.all('SELECT at, status, error FROM delivery_attempts ORDER BY rowid');
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}
