import { accessor } from '../format/path.ts';

/** Options of lists and reports that cover a span of time. */
export const spanOptions = {
  since: {
    kind: 'date',
    edge: 'first',
    description: 'made from then on: 2026-11-01, 2026-11, 7d, today, or a time',
  },
  until: {
    kind: 'date',
    edge: 'end',
    description: 'made until then; a day or a month named so is included',
  },
} as const;

/** A span of time. Both ends are ISO 8601. `until` is the first moment after the span. */
export interface Span {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Whether a time is within the span. If there is no time, only a span without bounds contains it. */
export function isWithin(time: unknown, { since, until }: Span): boolean {
  if (since === undefined && until === undefined) return true;
  const at = Date.parse(String(time));
  return (
    at >= (since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)) &&
    at < (until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until))
  );
}

/**
 * Yields the rows within a span. The given rows must be sorted newest first. Stops reading once the rows are older than
 * the span.
 */
export async function* newestWithin<R>(rows: AsyncIterable<R>, path: string, span: Span): AsyncGenerator<R> {
  const timeOf = accessor(path);
  for await (const row of rows) {
    const time = timeOf(row);
    if (isWithin(time, span)) yield row;
    else if (span.since !== undefined && Date.parse(String(time)) < Date.parse(span.since)) return;
  }
}
