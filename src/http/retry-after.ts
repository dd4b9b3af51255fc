import { headerText, type WireHeaders } from './transport/transport.ts';

/**
 * How long the service asks to wait, in ms, from `Retry-After` in seconds or as an HTTP date; undefined where it does
 * not say. A date is measured against the response's own `Date`, so that a wrong clock here does no harm. Pure.
 */
export function readRetryAfter(headers: WireHeaders, now: number): number | undefined {
  const text = headerText(headers, 'retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  const until = httpDate(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (httpDate(headerText(headers, 'date') ?? '') ?? now));
}

/** Only the forms of HTTP, all of which begin with a weekday: `Date.parse` alone takes far more for a date. */
function httpDate(text: string): number | undefined {
  const time = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
