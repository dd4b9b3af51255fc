import { sandboxTriggers } from '../../api/control.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { OperationName } from '../../api/operations/index.ts';
import type { PageName } from '../console/pages/routes.ts';
import { readTarget } from './request.ts';
import { findRoute } from './routes.ts';
import type { SandboxResponse } from './wire.ts';

/** A longer response is not read to tell what it did, characters. */
const longestRead = 100_000;
/** Longest that is told of a request, characters. */
const longestDeed = 60;

type Parts = Readonly<Record<string, string>>;
type Deed = (path: Parts, body: JsonObject) => string;

const short = (id: unknown): string => (typeof id === 'string' ? id.slice(0, 8) : '');
const counted = (count: unknown, noun: string): string =>
  typeof count === 'number'
    ? `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
    : `${noun}s`;

/** What each operation that changes something has done, once it has. */
const deeds: Partial<Readonly<Record<OperationName, Deed>>> = {
  'order.create': (_, { id }) => `placed ${short(id)}`,
  'agent.order.create': (_, { id }) => `paid and placed ${short(id)}`,
  'order.cancel': ({ order_id: id }) => `cancelled ${short(id)}`,
  'legacy.retry': ({ request_id: from }, { request_id: id }) => `retried ${short(from)} as ${short(id)}`,
  'sandbox.mint': () => 'minted a key',
  'webhook.register': () => 'registered a webhook',
  'device.code': () => 'began a device sign-in',
  'device.token': () => 'signed a device in',
  'account.create': (_, { short_id: id }) => `stored account ${String(id)}`,
  'account.update': ({ short_id: id = '' }) => `changed account ${id}`,
  'account.delete': ({ short_id: id = '' }) => `deleted account ${id}`,
  'bulk.validate': (_, { total_rows: rows }) => `checked ${counted(rows, 'row')}`,
  'bulk.create': (_, { id, row_count: rows }) => `uploaded batch ${short(id)}, ${counted(rows, 'row')}`,
  'return.create': (_, { id }) => `requested return ${short(id)}`,
};

/** What the forms of pages have done; one that is missing has done what its path says. */
const pageDeeds: Partial<Readonly<Record<PageName, (path: Parts, location: string) => string>>> = {
  consoleEvent: ({ id, event = '' }) => `${event} ${short(id)}`,
  consoleReturn: ({ id }) => `requested a return of ${short(id)}`,
  consoleReturnEvent: ({ id, event = '' }) => `${event} return ${short(id)}`,
  consoleUntilDone: ({ id }) => `advanced until ${short(id)} is done`,
  consoleReplay: ({ id }) => `replayed delivery ${short(id)}`,
  consoleReplayEdited: ({ id }) => `replayed delivery ${short(id)}, edited`,
  consoleMint: () => 'minted a key',
  consoleClaim: () => 'claimed a key',
  consoleFund: ({ id }) => `added money to wallet ${short(id)}`,
  consoleEmpty: ({ id }) => `emptied wallet ${short(id)}`,
  consolePlace: (_, location) => `placed ${short(location.split('/').at(-1))}`,
};

const controls: Readonly<Record<string, Deed>> = {
  advance: (_, { now }) => `moved the clock to ${String(now)}`,
  snapshot: () => 'kept a state',
  restore: () => 'brought a state back',
  reset: () => 'emptied the sandbox',
  faults: (_, { faults }) => `switched to ${counted(Array.isArray(faults) ? faults.length : 0, 'fault')}`,
  speed: (_, { speed }) => `set the speed to ${String(speed)}`,
};

/**
 * What a request has done, `placed 1a2b3c4d`, or why it was refused, `insufficient_funds`; null for one that only read.
 * No secret is in it, but names of fields may be from outside: whoever shows it makes it safe to show.
 */
export function deedOf(method: string, target: string, response: SandboxResponse | null): string | null {
  if (!response) return null;
  const { status, body } = response;
  const read = typeof body === 'string' && body.length <= longestRead ? jsonIn(body) : {};
  const deed = status >= 400 ? refusal(read) : done(method, target, response, read);
  return deed === null ? null : deed.slice(0, longestDeed);
}

function done(method: string, target: string, { headers }: SandboxResponse, body: JsonObject): string | null {
  const found = findRoute(method, readTarget(target).pathname);
  if (!('kind' in found) || method === 'GET' || method === 'HEAD') return null;
  switch (found.kind) {
    case 'operation':
      return deeds[found.name]?.(found.path, body) ?? null;
    case 'trigger':
      return triggered(body);
    case 'control':
      return controls[found.path.action ?? '']?.(found.path, body) ?? null;
    case 'page':
      return pageDeeds[found.name]?.(found.path, String(headers.location ?? '')) ?? null;
    default:
      return null;
  }
}

/** A code that a person types is no one else's to read. */
function triggered({ event, id }: JsonObject): string {
  const { target = 'none' } = Object.entries(sandboxTriggers).find(([name]) => name === event)?.[1] ?? {};
  const what = target === 'account' ? String(id) : target === 'order' || target === 'return' ? short(id) : '';
  return `${String(event)} ${what}`.trim();
}

/** The error code, or the first field that is wrong. */
function refusal({ code, detail }: JsonObject): string | null {
  if (typeof code === 'string') return code;
  const [issue] = Array.isArray(detail) ? detail : [];
  if (!isObject(issue) || !Array.isArray(issue.loc)) return null;
  return `${issue.loc.join('.')}: ${String(issue.type)}`;
}

function jsonIn(text: string): JsonObject {
  if (!text.startsWith('{')) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    // A page of a gateway, which a fault made, may begin like JSON.
    return {};
  }
}
