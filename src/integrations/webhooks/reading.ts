import { uuidPattern } from '../../api/limits.ts';
import type { Arrival } from '../../journal/events.ts';

type Facts = Pick<Arrival, 'event' | 'orderId' | 'status' | 'errorType' | 'body'> & {
  /** When an event with an envelope was sent, in ms since the epoch. */
  readonly sentAt: number | undefined;
};

/**
 * Maximum nesting depth. No record of the service is nested this deeply. The limit exists because displaying a body is
 * recursive.
 */
const maxDepth = 64;
const maxNameLength = 200;

/**
 * Parses a delivery. The body must be a JSON object in UTF-8, whose content does not matter here.
 * @param event is the value of the header that names the event.
 * @returns undefined if the body is anything else.
 */
export function readArrival(bytes: Uint8Array, event: string | undefined): Facts | undefined {
  const body = decode(bytes);
  if (body === undefined || isTooDeep(body)) return undefined;
  const record = parseObject(body);
  if (!record) return undefined;
  const data = envelopeData(record);
  const result = objectAt(data ?? record, 'job_result');
  return {
    // Prefer the name in the envelope, because a signature covers the body, not the headers.
    event: (data ? textAt(record, 'event') : event)?.trim().slice(0, maxNameLength) || null,
    orderId: orderIdOf(record),
    status: textAt(record, 'status'),
    errorType: textAt(data ?? record, 'error_type') ?? (result ? textAt(result, 'error_type') : null),
    body,
    sentAt: data ? Date.parse(textAt(record, 'timestamp') ?? '') || undefined : undefined,
  };
}

/**
 * The data of an event that comes in an envelope, which may be left out; undefined for the standard JSON of an object,
 * which has an id of its own.
 */
export function envelopeData(record: object): object | undefined {
  if (textAt(record, 'event') === null) return undefined;
  return objectAt(record, 'data') ?? (Object.hasOwn(record, 'id') ? undefined : {});
}

/**
 * The return that an event with an envelope is about. Undefined if the event is not about a return.
 * @param body is the body as stored.
 */
export function returnIdOf(body: object): string | undefined {
  const id = envelopeData(body) ? textAt(body, 'return_id') : null;
  return id !== null && uuidPattern.test(id) ? id.toLowerCase() : undefined;
}

/**
 * The order id in a record: the record's own id if it is an order, otherwise the id of the order to which the record
 * belongs.
 */
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

/** Checks the nesting depth of JSON text in a single pass, before parsing it. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (mark === quote) isQuoted = !isQuoted;
    else if (isQuoted) at += mark === backslash ? 1 : 0;
    else if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

function textAt(record: object, name: string): string | null {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'string' ? value.slice(0, maxNameLength) : null;
}

function objectAt(record: object, name: string): object | undefined {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
