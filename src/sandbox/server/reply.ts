import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { type Drawn, standIn } from './faults/inject.ts';
import type { Fault } from './faults/spec.ts';
import { json } from './refusal.ts';
import type { Noting } from './request-log.ts';
import type { SandboxResponse } from './wire.ts';

/** What a caller gets: a response, half of one under the length of the whole, or a connection that is broken off. */
export type Reply =
  | { readonly kind: 'whole' | 'half'; readonly response: SandboxResponse }
  | { readonly kind: 'reset' };

interface Replying {
  readonly target: string;
  /** The faults that fall on the request. */
  readonly drawn: Drawn;
  readonly noted: Pick<Noting, 'done'>;
  /** Ends a delay. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What the service makes of a request, and the faults of that, whatever carries the two. @param work the service's.
 * @throws what the signal was aborted with.
 */
export async function replyTo(
  { target, drawn: { fault, alter }, noted, signal }: Replying,
  work: () => Promise<SandboxResponse>,
): Promise<Reply> {
  if (fault?.kind === 'delay') await pause(fault.ms, signal);
  else if (fault && !fault.after) {
    noted.done(null);
    return spoiled(fault, target);
  }
  const response = alter(await work().catch(storeUnavailable));
  noted.done(response);
  return fault?.after ? spoiled(fault, target, response) : { kind: 'whole', response };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** What a fault makes of a request, with the service's response where the work was done. */
function spoiled(fault: Fault, target: string, response?: SandboxResponse): Reply {
  const instead = standIn(fault, target, response);
  if (instead) return { kind: 'whole', response: instead };
  return fault.kind === 'truncate' && response ? { kind: 'half', response } : { kind: 'reset' };
}

/** The store's own trouble, without the name of the file. */
function storeUnavailable(error: unknown): SandboxResponse {
  if (!(error instanceof DatabaseError)) throw error;
  const message = `The sandbox cannot use its data now: ${error.reason}.`;
  return json(503, { code: 'service_unavailable', message, details: {} });
}
