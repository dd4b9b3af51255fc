import { uuidPattern } from '../../api/limits.ts';
import type { Arrival } from '../../journal/events.ts';

type Facts = Pick<Arrival, 'event' | 'orderId' | 'status' | 'errorType' | 'body'>;

/** Deeper than any record of the service; what is shown of a body is walked recursively. */
const deepest = 64;
const longestName = 200;

/**
 * What a delivery says: its body must be a JSON object in UTF-8, whatever is in it.
 * @param event value of the header that names the event.
 * @returns undefined for anything else.
 */
export function readArrival(bytes: Uint8Array, event: string | undefined): Facts | undefined {
  const body = decode(bytes);
  if (body === undefined || isTooDeep(body)) return undefined;
  const record = parseObject(body);
  if (!record) return undefined;
  const result = objectAt(record, 'job_result');
  return {
    event: event?.trim().slice(0, longestName) || null,
    orderId: orderIdOf(record),
    status: textAt(record, 'status'),
    errorType: textAt(record, 'error_type') ?? (result ? textAt(result, 'error_type') : null),
    body,
  };
}

/** An order's own id; what is tied to an order names it. */
function orderIdOf(record: object): string | null {
  const ids = [textAt(record, 'order_id'), textAt(record, 'id')];
  return ids.find((id) => id !== null && uuidPattern.test(id))?.toLowerCase() ?? null;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const [quote, backslash] = ['"', '\\'];

/** One pass, before anything is built of it. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (mark === quote) isQuoted = !isQuoted;
    else if (isQuoted) at += mark === backslash ? 1 : 0;
    else if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

function textAt(record: object, name: string): string | null {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'string' ? value.slice(0, longestName) : null;
}

function objectAt(record: object, name: string): object | undefined {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'object' && value !== null ? value : undefined;
}
