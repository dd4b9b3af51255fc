import { controlPath, healthPath, type ServedRequest } from '../../api/control.ts';
import { realMs } from '../../platform/clock.ts';
import { deedOf } from './deed.ts';
import { type KeptSide, receivedSide, sentSide, unread } from './exchange.ts';
import type { Fault } from './faults/spec.ts';
import { orderIn } from './order-in.ts';
import { shownTarget } from './secrets.ts';
import type { SandboxRequest, SandboxResponse } from './wire.ts';

/** A request that is over, and whose it was. */
export interface Logged extends Omit<ServedRequest, 'did'> {
  readonly userId: string | null;
}

/** A request with what was said in it. */
export interface Exchange {
  /** Numbers begin with 1. */
  readonly number: number;
  readonly request: Logged;
  /** The sandbox's time when it came to it, ms since the epoch; of one that never did, the machine's. */
  readonly sandboxAt: number;
  /** The order that it made, or was about. */
  readonly orderId: string | null;
  readonly sent: KeptSide;
  /** What the service responded with, whatever a fault made of it; null where a fault came before it. */
  readonly received: KeptSide | null;
}

interface Begun extends Pick<Logged, 'at' | 'method' | 'target'>, Pick<SandboxRequest, 'headers'> {
  readonly fault: Fault | undefined;
}

/** A request under way. */
export interface Noting {
  readonly identified: (userId: string) => void;
  /** @param at the sandbox's time, ms since the epoch. */
  readonly came: (at: number) => void;
  /** Its body has come. */
  took(body: Uint8Array): void;
  /** @param response the service's own; null where a fault came before it. */
  done(response: SandboxResponse | null): void;
}

/** Requests that are kept, the newest. */
export const mostKept = 1000;
/** Of all bodies together, characters; of older requests the bodies go first. */
const mostOfBodies = 500_000;
/** Of more requests in a second nothing is kept but their lines. */
export const mostReadInSecond = 200;
/** Enough to show that much of, characters. */
const longestKept = 2000;

/**
 * The newest requests of a served sandbox. In the memory of its process alone: no request waits for a log, and a log of
 * the requests of another process would not be one of this service. What must not be shown is taken out before it is kept.
 */
export class RequestLog {
  readonly #ring: Exchange[] = [];
  readonly #onEach: ((request: ServedRequest) => void) | undefined;
  #next = 0;
  #bodies = 0;
  /** The oldest whose bodies are kept. */
  #oldestWhole = 0;
  /** The second that goes on, and how many requests were read in it. */
  #second = 0;
  #readInSecond = 0;

  /** @param onEach called with each request as it may be shown, once it is over. */
  constructor(onEach?: (request: ServedRequest) => void) {
    this.#onEach = onEach;
  }

  begin({ at, method, target, headers, fault }: Begun): Noting {
    const began = realMs();
    let userId: string | null = null;
    let sandboxAt = at;
    let body: Uint8Array = nothing;
    return {
      identified: (id) => {
        userId = id;
      },
      came: (time) => {
        sandboxAt = time;
      },
      took: (bytes) => {
        body = bytes;
      },
      done: (response) => {
        // Pages are left out: a live page is fetched every second and would soon fill the log.
        if (response && method !== 'POST' && isPage(response)) return;
        if (target === healthPath || (target === controlPath && method === 'GET')) return;
        const isRead = this.#isRead();
        const said = isRead ? sentSide(headers, body) : unread;
        const received = response && (isRead ? receivedSide(response) : unread);
        const { request } = this.#keep({
          request: {
            at,
            method,
            target: shownTarget(target.slice(0, longestKept)),
            status: sentStatus(fault, response),
            tookMs: realMs() - began,
            userId,
            fault: fault?.kind ?? null,
          },
          sandboxAt,
          orderId: orderIn(method, target, said, received),
          sent: said,
          received,
        });
        this.#tell(request, () => deedOf(method, target, response));
      },
    };
  }

  /** To read what is said in each request would slow down whoever measures how fast the sandbox is. */
  #isRead(): boolean {
    const second = Math.floor(realMs() / 1000);
    if (second !== this.#second) [this.#second, this.#readInSecond] = [second, 0];
    this.#readInSecond += 1;
    return this.#readInSecond <= mostReadInSecond;
  }

  #keep(said: Omit<Exchange, 'number'>): Exchange {
    const place = this.#next % mostKept;
    const replaced = this.#ring[place];
    if (replaced) this.#bodies -= lengthOf(replaced);
    const exchange = { number: this.#next + 1, ...said };
    this.#ring[place] = exchange;
    this.#bodies += lengthOf(exchange);
    this.#next += 1;
    this.#oldestWhole = Math.max(this.#oldestWhole, this.#next - mostKept);
    while (this.#bodies > mostOfBodies && this.#oldestWhole < this.#next)
      this.#dropBodies(this.#oldestWhole++);
    return exchange;
  }

  /** What it did is read off its response where that is shown: a response may be long. */
  #tell(request: Logged, deed: () => string | null): void {
    this.#onEach?.({
      ...request,
      get did() {
        return deed();
      },
    });
  }

  #dropBodies(index: number): void {
    const whole = this.#ring[index % mostKept];
    if (!whole) return;
    this.#bodies -= lengthOf(whole);
    const { sent, received } = whole;
    this.#ring[index % mostKept] = {
      ...whole,
      sent: bodiless(sent),
      received: received && bodiless(received),
    };
  }

  /** How many there have been. */
  get total(): number {
    return this.#next;
  }

  /** Those about an order, oldest first. */
  about(orderId: string): Exchange[] {
    return this.newest(mostKept)
      .filter((exchange) => exchange.orderId === orderId)
      .toReversed();
  }

  /** Those before the one with a number, newest first. */
  newest(limit: number, before = Number.POSITIVE_INFINITY): Exchange[] {
    const found = [];
    const oldest = Math.max(0, this.#next - mostKept);
    for (
      let index = Math.min(this.#next, before - 1) - 1;
      index >= oldest && found.length < limit;
      index -= 1
    ) {
      const exchange = this.#ring[index % mostKept];
      if (exchange) found.push(exchange);
    }
    return found;
  }
}

const nothing = new Uint8Array();

const bodiless = (side: KeptSide): KeptSide => ({ ...side, body: { ...side.body, text: null } });

const lengthOf = ({ sent, received }: Exchange): number =>
  (sent.body.text?.length ?? 0) + (received?.body.text?.length ?? 0);

const isPage = ({ headers }: SandboxResponse): boolean =>
  String(headers['content-type']).startsWith('text/html');

function sentStatus(fault: Fault | undefined, response: SandboxResponse | null): number | null {
  if (fault && fault.status > 0) return fault.status;
  return fault?.kind === 'reset' ? null : (response?.status ?? null);
}
