import { systemClock } from '../../clock.ts';
import { backoffMs } from '../../wait/backoff.ts';
import { type Connection, ConnectionLost, type DatabaseRow } from './connect.ts';

const mostAttempts = 5;
const backoff = { firstMs: 100, longestMs: 3_000, jitter: 0.5 };

/** Asks what can be asked twice, again where the connection was cut. @param signal ends the patience. @throws as `Connection.ask`. */
export async function askPatiently(
  connection: Connection,
  sql: string,
  signal: AbortSignal,
): Promise<readonly DatabaseRow[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connection.ask(sql);
    } catch (error) {
      if (!(error instanceof ConnectionLost) || attempt === mostAttempts || signal.aborted) throw error;
      await systemClock.sleep(backoffMs(attempt, Math.random, backoff));
    }
  }
}
