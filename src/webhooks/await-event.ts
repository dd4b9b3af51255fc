import type { Clock } from '../clock.ts';
import { ErrandError } from '../errors.ts';
import type { EventLog, StoredEvent } from '../state/events.ts';
import { isBlip } from '../wait/blip.ts';
import { Deadline } from '../wait/deadline.ts';
import { poll } from '../wait/poll.ts';
import { confirms, disagreement } from './agreement.ts';

type Json = Readonly<Record<string, unknown>>;

/** How often the log is looked at, ms: a look reads an index of a file on this machine. */
const everyMs = 200;
/** How often an order is read again that has not confirmed what was received, ms. */
const rereadMs = 1_000;

interface Awaited {
  readonly log: EventLog;
  readonly orderId: string;
  /** The service that the event is from. */
  readonly baseUrl: string;
  readonly names: readonly string[];
  /** Reads the order again; without it an event is taken as it came. */
  readonly reread: (() => Promise<Json>) | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** ms; without it for as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly note: (line: string) => void;
  /** Called once, where no such event is there yet. */
  readonly waiting: () => Promise<void>;
}

/**
 * Waits until the log holds an event of an order under one of these names which the order, read again, confirms.
 * @returns the newest; undefined where the deadline passes first. @throws what reading the order cannot mend by waiting.
 */
export async function awaitEvent(awaited: Awaited): Promise<StoredEvent | undefined> {
  const { log, orderId, baseUrl, names, clock, signal, timeoutMs } = awaited;
  let isWaiting = false;
  let readAt = Number.NEGATIVE_INFINITY;
  let readFor = 0;
  const told = new Set<string>();
  const deadline = new Deadline(clock, timeoutMs);
  return poll(look, { deadline, everyMs, signal });

  async function look(): Promise<StoredEvent | undefined> {
    const received = [...log.list({ events: names, orderId })].filter((event) => event.base_url === baseUrl);
    const found = received.length === 0 ? undefined : await confirmed(received);
    if (!found && !isWaiting) {
      isWaiting = true;
      await awaited.waiting();
    }
    return found;
  }

  async function confirmed(received: readonly StoredEvent[]): Promise<StoredEvent | undefined> {
    const { reread } = awaited;
    if (!reread) return received[0];
    if (received.length === readFor && clock.monotonic() - readAt < rereadMs) return undefined;
    readFor = received.length;
    try {
      const order = await reread();
      const found = received.find(({ event }) => confirms(event, order));
      if (!found)
        tellOnce(
          `event ${received[0]?.id} does not count: ${disagreement(received[0]?.event ?? null, order)}`,
        );
      return found;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ErrandError && !isBlip(error, true)) throw error;
      tellOnce(
        `the order cannot be read, still trying: ${error instanceof Error ? error.message : String(error)}`,
      );
      return undefined;
    } finally {
      readAt = clock.monotonic();
    }
  }

  function tellOnce(line: string): void {
    if (told.has(line)) return;
    told.add(line);
    awaited.note(line);
  }
}
