import { webhookSignatureHeader } from '../../api/events.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { EventLog, ExecOutcome, ForwardOutcome } from '../../journal/events.ts';
import { InTurn } from '../../platform/async.ts';
import type { Clock } from '../../platform/clock.ts';
import { trimSlashes } from '../../platform/net/urls.ts';
import { confirms, disagreement, rereadWaitsMs } from './agreement.ts';
import type { Delivery } from './forward.ts';
import { maskAddress, openListener, type Received, type SaveResult } from './listener.ts';
import { returnIdOf } from './reading.ts';

type Json = Readonly<Record<string, unknown>>;

/** An event as it is shown. `body` comes from the service if the event was read again and `verified` is true. */
export type ShownEvent = Output<'ReceivedEvent'>;

export type ListenRecord = Output<'ListenRecord'>;

/** Totals of a finished session. */
export type ListenSummary = Omit<Extract<ListenRecord, { readonly type: 'summary' }>, 'type'>;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Public URL of the listener, used instead of its own address. */
  readonly publicUrl?: string | undefined;
  readonly log: EventLog;
  readonly profile: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Stop after this many events. */
  readonly max?: number | undefined;
  /** Stop after this time, in ms. */
  readonly forMs?: number | undefined;
  /** Called once the address is known, for example to register it. The result is a cleanup function. */
  readonly begin?: ((url: string) => Promise<() => Promise<void>>) | undefined;
  /**
   * Called when an event has been handed to the output, and before it is forwarded. Once the output is written, this
   * function records the event as shown.
   */
  readonly shown: (id: number) => Promise<void>;
  readonly wants: (event: string | null) => boolean;
  /** The secret with which the service signs its events, once the secret is known. */
  readonly signingSecret?: (() => string | undefined) | undefined;
  /**
   * Reads an order again.
   * @throws Error if the order cannot be read.
   */
  readonly reread?: ((orderId: string) => Promise<Json>) | undefined;
  /**
   * Reads a return again.
   * @throws Error if the return cannot be read.
   */
  readonly rereadReturn?: ((returnId: string) => Promise<Json>) | undefined;
  readonly forward?: ((delivery: Delivery, signal: AbortSignal) => Promise<ForwardOutcome>) | undefined;
  readonly exec?:
    | ((delivery: Delivery & { orderId: string | null }, signal: AbortSignal) => Promise<ExecOutcome>)
    | undefined;
}

/**
 * Receives webhooks until `max` were shown, `forMs` have passed, or the signal aborts. Persists each event before
 * acknowledging it, shows events in order of arrival, then forwards them and runs the command for them, one event at a
 * time. Begins with events that an earlier listener persisted but did not show. Always ends with a `summary`.
 * @throws UsageError if the port or host is unavailable; whatever `begin` throws.
 */
export async function* listen(options: ListenOptions): AsyncGenerator<ListenRecord> {
  const session = new Session(options);
  // The secret may have changed, because registering the address may return a new one.
  let isBegun = options.begin === undefined;
  const listener = await openListener({
    host: options.host,
    port: options.port,
    secret: options.secret,
    signingSecret: () => (isBegun ? options.signingSecret?.() : 'pending'),
    refused: (message) => session.refused(message),
    now: () => options.clock.now(),
    save: (received) => session.save(received),
  });
  const over = session.untilOver().then(async () => {
    await listener.close();
    await session.settle();
  });
  const url = outside(listener.url, options);
  let undo: (() => Promise<void>) | undefined;
  try {
    undo = await options.begin?.(url);
    isBegun = true;
    yield { type: 'ready', url, secret: options.secret };
    await session.recover();
    for await (const record of session.feed.records()) {
      yield record;
      if (record.type === 'event') await session.shown(record.id);
    }
  } finally {
    session.stop('interrupted');
    await over;
    await undo?.();
  }
  yield { type: 'summary', ...session.summary() };
}

const outside = (url: string, { publicUrl, secret }: ListenOptions): string =>
  publicUrl === undefined ? url : `${trimSlashes(publicUrl)}/${secret}`;

/**
 * Passes records from several producers to one consumer, one at a time. Each producer waits until the consumer has
 * taken its record.
 */
class Feed<T> {
  readonly #waiting: { readonly record: T; readonly done: () => void }[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  /**
   * Resolves when the consumer requests the next record. If the feed has ended, drops the given record and resolves at
   * once.
   */
  put(record: T): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting.push({ record, done });
      this.#wake?.();
    });
  }

  /** Stops accepting records. Records that are already queued are still delivered. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *records(): AsyncGenerator<T> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next) {
          try {
            yield next.record;
          } finally {
            next.done();
          }
        } else if (this.#ended) return;
        else await this.#arrival();
      }
    } finally {
      this.#ended = true;
      for (const { done } of this.#waiting.splice(0)) done();
    }
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Fields of an event that are replaced by the service's data when its order is read again. */
type RereadField = 'status' | 'error_type' | 'body';

/** A session of the listener. It holds the received events, and the queues that show the events and act on them. */
class Session {
  readonly feed = new Feed<ListenRecord>();
  readonly #options: ListenOptions;
  readonly #ending = new AbortController();
  readonly #counts = { received: 0, stored: 0, duplicates: 0, shown: 0, forwarded: 0, failed: 0 };
  #matched = 0;
  #ended: ListenSummary['ended'] | undefined;
  /** Saves deliveries one at a time. Otherwise, more events than requested might be persisted. */
  readonly #keeping = new InTurn();
  #showing: Promise<void> = Promise.resolve();
  #acting: Promise<void> = Promise.resolve();

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  /** Called for each delivery, before the response is sent. */
  save(received: Received): Promise<SaveResult> {
    return this.#keeping.run(() => this.#save(received));
  }

  async #save(received: Received): Promise<SaveResult> {
    const { log, profile, baseUrl, wants, max = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#ended !== undefined || this.#matched >= max) return 'busy';
    const isMatching = wants(received.event);
    const { event, isNew } = await this.#saveOrReport(() =>
      log.save({ ...received, profile, baseUrl }, { acts: isMatching && this.#acts, shows: isMatching }),
    );
    this.#counts.received += 1;
    this.#counts[isNew ? 'stored' : 'duplicates'] += 1;
    if (isNew && isMatching) this.#toBeShown(event.id);
    return isNew ? 'new' : 'duplicate';
  }

  /** Reports a delivery that the listener refused because of its signature. */
  refused(message: string): void {
    void this.feed.put({ type: 'gap', message });
  }

  /** Queues events that an earlier listener received but did not show. They come before any new events. */
  async recover(): Promise<void> {
    const { log, profile, baseUrl, wants, max = Number.POSITIVE_INFINITY } = this.#options;
    const left = await log.takeUnshown(profile, baseUrl);
    for (const { id } of left.filter(({ event }) => wants(event)).slice(0, max - this.#matched))
      this.#toBeShown(id);
  }

  async shown(id: number): Promise<void> {
    // Whoever reads the records waits for this call. Therefore an error that is reported here comes after the event's
    // record.
    await this.#options.shown(id).catch((error) => void this.#fail(error));
  }

  #toBeShown(id: number): void {
    const { max = Number.POSITIVE_INFINITY } = this.#options;
    this.#matched += 1;
    this.#showing = this.#showing.then(() => this.#show(id)).catch((error) => this.#fail(error));
    if (this.#matched >= max) void this.#finish();
  }

  /** Resolves when the session should receive nothing more. */
  async untilOver(): Promise<void> {
    const { clock, signal, forMs } = this.#options;
    const onAbort = (): void => this.stop('interrupted');
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (forMs !== undefined)
      clock.sleep(forMs, this.#ending.signal).then(
        () => this.stop('timeout'),
        () => {},
      );
    if (!this.#ending.signal.aborted)
      await new Promise((resolve) => this.#ending.signal.addEventListener('abort', resolve, { once: true }));
    signal.removeEventListener('abort', onAbort);
  }

  stop(reason: ListenSummary['ended']): void {
    this.#ended ??= reason;
    this.#ending.abort();
  }

  /**
   * Waits until the events that are being shown or acted on are finished. Events that were not started yet remain
   * pending.
   */
  async settle(): Promise<void> {
    await this.#keeping.idle();
    await this.#showing;
    await this.#acting;
    this.feed.end();
  }

  summary(): ListenSummary {
    return { ...this.#counts, ended: this.#ended ?? 'interrupted' };
  }

  get #acts(): boolean {
    return this.#options.forward !== undefined || this.#options.exec !== undefined;
  }

  /** Finishes all work for the last requested event, and then stops the session. */
  async #finish(): Promise<void> {
    await this.#showing;
    await this.#acting;
    this.stop('max');
  }

  async #saveOrReport<T>(save: () => Promise<T>): Promise<T> {
    try {
      return await save();
    } catch (error) {
      void this.feed.put({ type: 'gap', message: messageOf(error) });
      throw error;
    }
  }

  async #show(id: number): Promise<void> {
    const {
      forward: _,
      exec: _exec,
      deliveries: _n,
      last_received_at: _at,
      ...event
    } = this.#options.log.get(id);
    const read = await this.#verify(event);
    const shown = { type: 'event' as const, ...event, ...read };
    this.#counts.shown += 1;
    await this.feed.put(shown);
    if (read.verified === false) this.#counts.failed += 1;
    else this.#acting = this.#acting.then(() => this.#act(id, read.body));
  }

  async #verify({
    event,
    order_id: orderId,
    body,
  }: Pick<ShownEvent, 'event' | 'order_id' | 'body'>): Promise<
    Pick<ShownEvent, 'verified' | 'message'> & Partial<Pick<ShownEvent, RereadField>>
  > {
    const { reread, rereadReturn } = this.#options;
    if (!reread) return {};
    const returnId = rereadReturn && event?.startsWith('return.') ? returnIdOf(body) : undefined;
    const id = returnId ?? orderId;
    if (id === null) return { verified: false, message: 'it names no order to read again' };
    try {
      const read = returnId === undefined || !rereadReturn ? reread : rereadReturn;
      const order = await this.#rereadFor(event, id, read);
      if (!confirms(event, order))
        return {
          verified: false,
          message: disagreement(event, order, returnId === undefined ? 'order' : 'return'),
        };
      return {
        verified: true,
        body: order,
        status: textAt(order, 'status'),
        error_type: textAt(order, 'error_type'),
      };
    } catch (error) {
      return { verified: false, message: messageOf(error) };
    }
  }

  /** Reads the order again a few times, as long as it does not confirm the event. */
  async #rereadFor(
    event: string | null,
    orderId: string,
    reread: NonNullable<ListenOptions['reread']>,
  ): Promise<ShownEvent['body']> {
    let order = await reread(orderId);
    for (const waitMs of rereadWaitsMs) {
      if (confirms(event, order)) return order;
      await this.#options.clock.sleep(waitMs, this.#options.signal);
      order = await reread(orderId);
    }
    return order;
  }

  /**
   * Reads each event from the log only when its turn comes. Many events may be waiting, some of them for a long time.
   */
  async #act(id: number, reread: ShownEvent['body'] | undefined): Promise<void> {
    const { log, forward, exec } = this.#options;
    try {
      const { event, order_id: orderId, headers } = log.get(id);
      // Add the signature only to the body as received, because the signature covers no other body.
      const delivery = reread
        ? { event, orderId, body: JSON.stringify(reread) }
        : {
            ...{ event, orderId, body: log.bodyOf(id) },
            signature: headers[webhookSignatureHeader.toLowerCase()],
          };
      const sent = await forward?.(delivery, this.#ending.signal);
      if (sent) {
        await log.noteForward(id, sent);
        this.#counts[sent.delivered ? 'forwarded' : 'failed'] += 1;
        await this.feed.put({ type: 'forward', id, ...sent, url: maskAddress(sent.url) });
      }
      const run = await exec?.(delivery, this.#ending.signal);
      if (!run) return;
      await log.noteExec(id, run);
      if (run.exit_code !== 0 && sent?.delivered !== false) this.#counts.failed += 1;
      await this.feed.put({ type: 'exec', id, ...run });
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** If the end of the session interrupts an event, the event stays pending, and `webhook events --failed` lists it. */
  async #fail(error: unknown): Promise<void> {
    this.#counts.failed += 1;
    if (!this.#ending.signal.aborted) await this.feed.put({ type: 'gap', message: messageOf(error) });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const textAt = (order: ShownEvent['body'], name: string): string | null => {
  const value = order[name];
  return typeof value === 'string' ? value : null;
};
