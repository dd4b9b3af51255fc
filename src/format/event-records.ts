import type { ListResult } from './result.ts';

/**
 * What is followed as records, from `ready` to `summary`, each with the time at which it was seen.
 * @param now ms since the epoch.
 */
export function eventRecords<E extends { readonly type: string }>(
  events: AsyncIterable<E>,
  now: () => number,
  exitCodeOf: (summary: Extract<E, { readonly type: 'summary' }>) => number,
): ListResult {
  let code = 0;
  async function* rows() {
    for await (const event of events) {
      if (isSummary(event)) code = exitCodeOf(event);
      yield { ...event, at: new Date(now()).toISOString() };
    }
  }
  return { kind: 'list', rows: rows(), columns: [], exitCode: () => code };
}

const isSummary = <E extends { readonly type: string }>(
  event: E,
): event is Extract<E, { readonly type: 'summary' }> => event.type === 'summary';
