import { systemClock } from '../../platform/clock.ts';
import { readRetryAfter } from '../send.ts';
import type { Transport } from './transport.ts';

/** How fast requests may go that several programs send together. */
export interface Pace {
  /**
   * Resolves when the next request may leave. @returns what tells its turn from others.
   * @throws TransportFailure where it is ended, or nobody can say.
   */
  turn(signal: AbortSignal): Promise<number>;
  /** The service refused the request of a turn: there were too many. @param askedMs how long it asks to wait. */
  refused(turn: number, askedMs: number | undefined): Promise<void>;
  end(): void;
}

/** The pace of a run; undefined where its requests go as fast as they can. */
export interface PaceKeeper {
  kept: Pace | undefined;
}

/** Sends each request, and each of its repetitions, when it has its turn; at once where there is no pace to keep. */
export const pacedTransport = (transport: Transport, pace: PaceKeeper): Transport => ({
  async close() {
    pace.kept?.end();
    await transport.close();
  },
  async send(request) {
    const { kept } = pace;
    if (!kept) return transport.send(request);
    const turn = await kept.turn(request.signal);
    const response = await transport.send(request);
    if (response.status === tooMany)
      await kept.refused(turn, readRetryAfter(response.headers, systemClock.now()));
    return response;
  },
});

const tooMany = 429;
