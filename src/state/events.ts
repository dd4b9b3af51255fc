import { createHash } from 'node:crypto';
import { ErrandError } from '../errors.ts';
import type { Database, SqlValue } from '../sqlite/database.ts';

/** What one delivery of a webhook brought. `body` is its JSON as it came. */
export interface Arrival {
  readonly event: string | null;
  readonly orderId: string | null;
  readonly status: string | null;
  readonly errorType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly profile: string;
  readonly baseUrl: string;
}

/** What became of sending an event on. `url` is whole: it may hold a secret, mask it before it is shown. */
export interface ForwardOutcome {
  readonly url: string;
  readonly delivered: boolean;
  /** Of the last answer; null without one. */
  readonly status: number | null;
  readonly attempts: number;
  readonly message: string | null;
  readonly at: string;
}

export interface ExecOutcome {
  /** null where a signal ended it or it could not be started. */
  readonly exit_code: number | null;
  readonly message: string | null;
  readonly at: string;
}

/** An event as it is kept and shown; times ISO 8601. */
export interface StoredEvent {
  readonly id: number;
  readonly event: string | null;
  readonly order_id: string | null;
  readonly status: string | null;
  readonly error_type: string | null;
  readonly received_at: string;
  readonly last_received_at: string;
  /** How often it came: delivery is at least once. */
  readonly deliveries: number;
  readonly profile: string;
  readonly base_url: string;
  readonly forward: ForwardOutcome | null;
  readonly exec: ExecOutcome | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface EventFilter {
  /** Any of these names. */
  readonly events?: readonly string[] | undefined;
  readonly orderId?: string | undefined;
  /** Only those that could not be sent on, or whose command failed or never ran. */
  readonly failed?: boolean | undefined;
}

/** How long an event is kept, ms. */
const keptMs = 30 * 24 * 3600 * 1000;
const pageSize = 100;

/** Events received, newest first; durable when `keep` resolves. */
export class EventLog {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Keeps an event, or counts one more delivery of it: same service, same name, same body (specification, Events, rule 3).
   * @param owed whether something is to be done with it yet; until that is noted it counts as failed, crash or not.
   * @throws StorageError; then it must not be acknowledged.
   */
  keep(arrival: Arrival, owed: boolean): Promise<{ readonly event: StoredEvent; readonly isNew: boolean }> {
    return this.#database.transaction(() => {
      this.#database.run(
        'DELETE FROM events WHERE received_at < ?',
        new Date(this.#now() - keptMs).toISOString(),
      );
      const digest = digestOf(arrival);
      const isNew = this.#database.all('SELECT id FROM events WHERE digest = ?', digest).length === 0;
      if (isNew) this.#insert(arrival, digest, owed);
      else
        this.#database.run(
          'UPDATE events SET deliveries = deliveries + 1, last_received_at = ? WHERE digest = ?',
          this.#time(),
          digest,
        );
      const [row] = this.#database.all('SELECT * FROM events WHERE digest = ?', digest);
      return { event: eventOf(row ?? {}), isNew };
    });
  }

  noteForward(id: number, outcome: ForwardOutcome): Promise<void> {
    return this.#note('forward', id, outcome);
  }

  noteExec(id: number, outcome: ExecOutcome): Promise<void> {
    return this.#note('exec', id, outcome);
  }

  /** @throws ErrandError not_found. */
  get(id: number): StoredEvent {
    const [row] = this.#database.all('SELECT * FROM events WHERE id = ?', id);
    if (row) return eventOf(row);
    throw new ErrandError('not_found', `no event ${id} is kept`, {
      next: [{ command: 'errand webhook events', when: 'to see those that are; they are kept for 30 days' }],
    });
  }

  /** Newest first, read a page at a time. */
  *list(filter: EventFilter = {}): Generator<StoredEvent> {
    const names = filter.events ?? [];
    const conditions: readonly (readonly [boolean, string, readonly SqlValue[]])[] = [
      [names.length > 0, `event IN (${names.map(() => '?').join(', ')})`, names],
      [filter.orderId !== undefined, 'order_id = ?', [filter.orderId ?? null]],
      [filter.failed === true, 'failed = 1', []],
    ];
    const wanted = conditions.filter(([asked]) => asked);
    const where = ['id < ?', ...wanted.map(([, sql]) => sql)].join(' AND ');
    const values = wanted.flatMap(([, , bound]) => bound);
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = this.#database.all(
        `SELECT * FROM events WHERE ${where} ORDER BY id DESC LIMIT ${pageSize}`,
        before,
        ...values,
      );
      const events = rows.map(eventOf);
      yield* events;
      before = events.at(-1)?.id ?? 0;
      if (events.length < pageSize) return;
    }
  }

  /** The address that an event was last sent on to. */
  lastForward(): string | undefined {
    const [row] = this.#database.all(
      "SELECT forward FROM events WHERE forward IS NOT NULL ORDER BY json_extract(forward, '$.at') DESC, id DESC LIMIT 1",
    );
    const outcome = row && readJson<ForwardOutcome>(row.forward);
    return outcome?.url;
  }

  #insert(arrival: Arrival, digest: string, owed: boolean): void {
    const { event, orderId, status, errorType, profile, baseUrl, headers, body } = arrival;
    const at = this.#time();
    this.#database.run(
      `INSERT INTO events (digest, event, order_id, status, error_type, profile, base_url, headers, body,
         received_at, last_received_at, deliveries, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
      ...[digest, event, orderId, status, errorType, profile, baseUrl],
      ...[JSON.stringify(headers), body, at, at, owed ? 1 : 0],
    );
  }

  #note(column: 'forward' | 'exec', id: number, outcome: ForwardOutcome | ExecOutcome): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run(`UPDATE events SET ${column} = ? WHERE id = ?`, JSON.stringify(outcome), id);
      this.#database.run(
        `UPDATE events SET failed = coalesce(json_extract(forward, '$.delivered') = 0, 0)
           OR coalesce(exec IS NOT NULL AND json_extract(exec, '$.exit_code') IS NOT 0, 0) WHERE id = ?`,
        id,
      );
    });
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

const digestOf = ({ baseUrl, event, body }: Arrival): string =>
  createHash('sha256')
    .update(JSON.stringify([baseUrl, event]))
    .update(body)
    .digest('hex');

function eventOf({ digest: _, failed: _failed, ...row }: Record<string, unknown>): StoredEvent {
  // The table's own columns, written above; what is JSON is ours, or was parsed before it was kept.
  return {
    ...row,
    headers: readJson(row.headers),
    body: readJson(row.body),
    forward: readJson(row.forward),
    exec: readJson(row.exec),
  } as unknown as StoredEvent;
}

const readJson = <T>(text: unknown): T | null => (typeof text === 'string' ? JSON.parse(text) : null);
