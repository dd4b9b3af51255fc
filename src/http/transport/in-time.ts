import { TransportFailure } from './transport.ts';

export const givenUp = (sent: 'not_sent' | 'unknown', signal: AbortSignal): TransportFailure =>
  new TransportFailure(sent, 'the request was given up', { cause: signal.reason });

/**
 * Waits for a response of whoever may not heed the signal. The request has been handed over, so whoever stops waiting does
 * not know what became of it.
 */
export function inTime<T>(response: Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const stop = (): void => end(() => reject(givenUp('unknown', signal)));
    const timer = setTimeout(
      () => end(() => reject(new TransportFailure('unknown', 'no response came in time'))),
      ms,
    );
    signal.addEventListener('abort', stop, { once: true });
    // Whoever was asked may have aborted it at once.
    if (signal.aborted) stop();
    response.then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
