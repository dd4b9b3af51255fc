import type { Output } from '../../api/outputs/index.ts';
import type { EventLog, ExecOutcome, ForwardOutcome } from '../../journal/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { trimSlashes } from '../../platform/network/trim-slashes.ts';
import type { Delivery } from './forward.ts';
import { openListener } from './listener.ts';
import { Session } from './session.ts';

type Json = Readonly<Record<string, unknown>>;

/** An event as it is shown. With rereading, `body` is what the service said, where `verified`. */
export type ShownEvent = Output<'ReceivedEvent'>;

export type ListenRecord = Output<'ListenRecord'>;

/** What a session comes to, once it is over. */
export type ListenSummary = Omit<Extract<ListenRecord, { readonly type: 'summary' }>, 'type'>;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Where the listener is reached from outside, in place of its own address. */
  readonly publicUrl?: string | undefined;
  readonly log: EventLog;
  readonly profile: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ends after so many events. */
  readonly max?: number | undefined;
  /** Ends after so long, ms. */
  readonly forMs?: number | undefined;
  /** What is to happen once the address is known (it may be registered); what it resolves to undoes it at the end. */
  readonly begin?: ((url: string) => Promise<() => Promise<void>>) | undefined;
  /** Called when an event was handed out, and before it is sent on; notes that it was shown, once it is out. */
  readonly shown: (id: number) => Promise<void>;
  readonly wants: (event: string | null) => boolean;
  /** Reads an order again. @throws Error where it cannot be read. */
  readonly reread?: ((orderId: string) => Promise<Json>) | undefined;
  readonly forward?: ((delivery: Delivery, signal: AbortSignal) => Promise<ForwardOutcome>) | undefined;
  readonly exec?:
    | ((delivery: Delivery & { orderId: string | null }, signal: AbortSignal) => Promise<ExecOutcome>)
    | undefined;
}

/**
 * Receives webhooks until it has shown `max` of them, `forMs` have passed or the signal is aborted. Each is kept before
 * it is acknowledged, shown in the order in which they came, then sent on and run, one at a time. What an earlier
 * listener has kept and did not live to show comes first.
 * Ends with a `summary`, whatever ended it. @throws UsageError for a port or host that cannot be had; what `begin` throws.
 */
export async function* listen(options: ListenOptions): AsyncGenerator<ListenRecord> {
  const session = new Session(options);
  const listener = await openListener({
    host: options.host,
    port: options.port,
    secret: options.secret,
    keep: (received) => session.keep(received),
  });
  const over = session.untilOver().then(async () => {
    await listener.close();
    await session.settle();
  });
  const url = outside(listener.url, options);
  let undo: (() => Promise<void>) | undefined;
  try {
    undo = await options.begin?.(url);
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
