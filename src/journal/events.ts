import { createHash } from 'node:crypto';
import { ErrandError } from '../platform/errors.ts';
import type { Database, SqlValue } from '../platform/sqlite/database.ts';
import { isAlive, self } from './owner.ts';

/** A webhook delivery. `body` is its exact JSON text. */
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

/** Result of forwarding an event. `url` may contain a secret and must be masked before it is shown. */
export interface ForwardOutcome {
  readonly url: string;
  readonly delivered: boolean;
  /** Status of the last response; null if there was no response. */
  readonly status: number | null;
  readonly attempts: number;
  readonly message: string | null;
  readonly at: string;
}

export interface ExecOutcome {
  /** Null if the command was killed by a signal or failed to start. */
  readonly exit_code: number | null;
  readonly message: string | null;
  readonly at: string;
}

/** A stored event; times are ISO 8601. */
export interface StoredEvent {
  readonly id: number;
  readonly event: string | null;
  readonly order_id: string | null;
  readonly status: string | null;
  readonly error_type: string | null;
  readonly received_at: string;
  readonly last_received_at: string;
  /** Number of deliveries received. May exceed 1, because the service may deliver an event more than once. */
  readonly deliveries: number;
  readonly profile: string;
  readonly base_url: string;
  readonly forward: ForwardOutcome | null;
  readonly exec: ExecOutcome | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What remains to be done for a new event. */
export interface UnfinishedWork {
  /**
   * The event must be forwarded or passed to a command. Until the work is recorded as done, the event counts as failed,
   * even after a crash.
   */
  readonly acts: boolean;
  /**
   * This process must show the event. If the process ends before the event is recorded as shown, the next listener
   * shows the event.
   */
  readonly shows: boolean;
}

export interface EventFilter {
  /** Match any of these names. */
  readonly events?: readonly string[] | undefined;
  readonly orderId?: string | undefined;
  /** Selects only events that could not be forwarded, or whose command failed or never ran. */
  readonly failed?: boolean | undefined;
}

/** Retention of events, ms. */
const retentionMs = 30 * 24 * 3600 * 1000;
const pageSize = 100;

/** Received events, newest first. An event is durable once `save` resolves. */
export class EventLog {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Stores an event, or counts a repeated delivery. A repeated delivery has the same service, name and body
   * (specification, Events, rule 3).
   * @throws StorageError. In that case, the event must not be acknowledged.
   */
  save(
    arrival: Arrival,
    unfinished: UnfinishedWork,
  ): Promise<{ readonly event: StoredEvent; readonly isNew: boolean }> {
    return this.#database.transaction(() => {
      this.#database.run(
        'DELETE FROM events WHERE received_at < ?',
        new Date(this.#now() - retentionMs).toISOString(),
      );
      const digest = digestOf(arrival);
      const isNew = this.#database.all('SELECT id FROM events WHERE digest = ?', digest).length === 0;
      if (isNew) this.#insert(arrival, digest, unfinished);
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

  /** Records that an event was shown and the output was flushed. */
  noteShown(id: number): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('UPDATE events SET showing_pid = NULL, showing_started = NULL WHERE id = ?', id);
    });
  }

  /**
   * Takes over the events that earlier listeners of a profile and service had to show but did not show before they
   * ended.
   * @returns the ids and names of the events, oldest first.
   */
  takeUnshown(
    profile: string,
    baseUrl: string,
  ): Promise<{ readonly id: number; readonly event: string | null }[]> {
    return this.#database.transaction(() => {
      const rows = this.#database.all(
        'SELECT id, event, showing_pid, showing_started FROM events WHERE showing_pid IS NOT NULL AND profile = ? AND base_url = ? ORDER BY id',
        profile,
        baseUrl,
      );
      const left = rows.filter(
        ({ showing_pid, showing_started }) =>
          !isAlive({ pid: Number(showing_pid), started: String(showing_started) }),
      );
      const { pid, started } = self();
      for (const { id } of left)
        this.#database.run(
          'UPDATE events SET showing_pid = ?, showing_started = ? WHERE id = ?',
          pid,
          started,
          Number(id),
        );
      return left.map(({ id, event }) => ({ id: Number(id), event: event === null ? null : String(event) }));
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
    throw notStored(id);
  }

  /**
   * Exact body of an event. The body is not parsed, because parsing JSON could alter numbers.
   * @throws ErrandError not_found.
   */
  bodyOf(id: number): string {
    const [row] = this.#database.all('SELECT body FROM events WHERE id = ?', id);
    if (row) return String(row.body);
    throw notStored(id);
  }

  /** Lists events newest first, reading page by page. */
  *list(filter: EventFilter = {}): Generator<StoredEvent> {
    const names = filter.events ?? [];
    const conditions: readonly (readonly [boolean, string, readonly SqlValue[]])[] = [
      [names.length > 0, `event IN (${names.map(() => '?').join(', ')})`, names],
      [filter.orderId !== undefined, 'order_id = ?', [filter.orderId ?? null]],
      [filter.failed === true, 'failed = 1', []],
    ];
    const requested = conditions.filter(([isRequested]) => isRequested);
    const where = ['id < ?', ...requested.map(([, sql]) => sql)].join(' AND ');
    const values = requested.flatMap(([, , bound]) => bound);
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

  /** Address an event was last forwarded to. */
  lastForward(): string | undefined {
    const [row] = this.#database.all(
      "SELECT forward FROM events WHERE forward IS NOT NULL ORDER BY json_extract(forward, '$.at') DESC, id DESC LIMIT 1",
    );
    const outcome = row && readJson<ForwardOutcome>(row.forward);
    return outcome?.url;
  }

  #insert(arrival: Arrival, digest: string, { acts, shows }: UnfinishedWork): void {
    const { event, orderId, status, errorType, profile, baseUrl, headers, body } = arrival;
    const at = this.#time();
    const showing = self();
    this.#database.run(
      `INSERT INTO events (digest, event, order_id, status, error_type, profile, base_url, headers, body,
         received_at, last_received_at, deliveries, failed, showing_pid, showing_started)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`,
      ...[digest, event, orderId, status, errorType, profile, baseUrl],
      ...[JSON.stringify(headers), body, at, at, acts ? 1 : 0],
      ...(shows ? [showing.pid, showing.started] : [null, null]),
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

const notStored = (id: number): ErrandError =>
  new ErrandError('not_found', `no event ${id} is kept`, {
    next: [{ command: 'errand webhook events', when: 'to see those that are; they are kept for 30 days' }],
  });

const digestOf = ({ baseUrl, event, body }: Arrival): string =>
  createHash('sha256')
    .update(JSON.stringify([baseUrl, event]))
    .update(body)
    .digest('hex');

function eventOf({
  digest: _,
  failed: _failed,
  showing_pid: _pid,
  showing_started: _started,
  ...row
}: Record<string, unknown>): StoredEvent {
  // The cast is safe, because these are the table's own columns. errand wrote their JSON itself, or parsed it before
  // storing it.
  return {
    ...row,
    headers: readJson(row.headers),
    body: readJson(row.body),
    forward: readJson(row.forward),
    exec: readJson(row.exec),
  } as unknown as StoredEvent;
}

const readJson = <T>(text: unknown): T | null =>
  typeof text === 'string' ? JSON.parse(text.replace(/^\uFEFF/, '')) : null;
