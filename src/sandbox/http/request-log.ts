import { controlPath, healthPath, type ServedRequest } from '../../contract/control.ts';
import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations/index.ts';
import { claimPath } from '../pages/paths.ts';
import { deedOf } from './deed.ts';
import type { Fault } from './faults/spec.ts';
import { readTarget } from './request.ts';
import type { SandboxResponse } from './wire.ts';

/** A request that is over, and whose it was. */
export interface Logged extends ServedRequest {
  readonly userId: string | null;
}

interface Begun extends Pick<Logged, 'at' | 'method' | 'target'> {
  readonly fault: Fault | undefined;
}

/** A request under way. */
export interface Noting {
  readonly identified: (userId: string) => void;
  /** @param response the service's own; null where a fault came before it. */
  done(response: SandboxResponse | null): void;
}

/** Requests that are kept, the newest. */
export const mostKept = 1000;
const longestShown = 300;
/** Enough to show that much of, characters. */
const longestKept = 2000;

/**
 * The newest requests of a served sandbox. In the memory of its process alone: no request waits for a log, and a log of
 * the requests of another process would not be one of this service.
 */
export class RequestLog {
  /** As they came; what must not be shown is taken out when they are read, which is seldom. */
  readonly #ring: Logged[] = [];
  readonly #onEach: ((request: Logged) => void) | undefined;
  #next = 0;

  /** @param onEach called with each request as it may be shown, once it is over. */
  constructor(onEach?: (request: Logged) => void) {
    this.#onEach = onEach;
  }

  begin({ at, method, target, fault }: Begun): Noting {
    const began = performance.now();
    let userId: string | null = null;
    return {
      identified: (id) => {
        userId = id;
      },
      done: (response) => {
        // Pages are left out: a live page is fetched every second and would soon fill the log.
        if (response && method !== 'POST' && isPage(response)) return;
        if (target === healthPath || (target === controlPath && method === 'GET')) return;
        this.#keep({
          at,
          method,
          target: target.length > longestKept ? beginningOf(target) : target,
          status: sentStatus(fault, response),
          tookMs: performance.now() - began,
          userId,
          fault: fault?.kind ?? null,
          // Only who shows each request as it comes reads what it did.
          did: this.#onEach ? deedOf(method, target, response) : null,
        });
      },
    };
  }

  #keep(request: Logged): void {
    this.#ring[this.#next % mostKept] = request;
    this.#next += 1;
    this.#onEach?.(shown(request));
  }

  /** How many there have been. */
  get total(): number {
    return this.#next;
  }

  /** Those before the one with a number, newest first, each with its number; numbers begin with 1. */
  newest(
    limit: number,
    before = Number.POSITIVE_INFINITY,
  ): { readonly number: number; readonly request: Logged }[] {
    const found = [];
    const oldest = Math.max(0, this.#next - mostKept);
    for (
      let index = Math.min(this.#next, before - 1) - 1;
      index >= oldest && found.length < limit;
      index -= 1
    ) {
      const request = this.#ring[index % mostKept];
      if (request) found.push({ number: index + 1, request: shown(request) });
    }
    return found;
  }
}

const shown = (request: Logged): Logged => ({ ...request, target: withoutSecrets(request.target) });

/** A part that is kept would keep the whole, if it were no copy. */
const beginningOf = (target: string): string => Buffer.from(target.slice(0, longestKept)).toString();

const isPage = ({ headers }: SandboxResponse): boolean =>
  String(headers['content-type']).startsWith('text/html');

function sentStatus(fault: Fault | undefined, response: SandboxResponse | null): number | null {
  if (fault && fault.status > 0) return fault.status;
  return fault?.kind === 'reset' ? null : (response?.status ?? null);
}

/** The queries of the contract hold no secret; of any other the name is enough. */
const harmless: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap((operation: Operation) => Object.keys(operation.query ?? {})),
);

function decodedPath(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    // It cannot be decoded, so nothing of it is shown.
    return '…';
  }
}

/** Also where a base URL ends with the slash that the path begins with, or the whole link is searched for. */
const claimAnywhere = new RegExp(`(${claimPath}/)[^/?&]+`, 'gi');
const keyAnywhere = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]+/g;

function withoutSecrets(target: string): string {
  const { pathname, search } = readTarget(target);
  const decoded = decodedPath(pathname);
  const query = [...new URLSearchParams(search)].map(([name, value]) =>
    harmless.has(name) ? `${name}=${value}` : `${name}=…`,
  );
  const whole = [decoded, ...(query.length > 0 ? [query.join('&')] : [])].join('?');
  return whole.replace(keyAnywhere, '$1…').replace(claimAnywhere, '$1…').slice(0, longestShown);
}
