/** What is done to a request: before the service has seen it, or after its work is done. */
export type FaultKind = 'refuse' | 'reset' | 'delay' | 'truncate' | 'status';

/** One fault of a served sandbox. */
export interface Fault {
  readonly kind: FaultKind;
  readonly after: boolean;
  readonly status: number;
  /** How long to wait, for `delay`; how long to tell the caller to wait, for 429, ms. */
  readonly ms: number;
  /** Of the requests that match, 0 to 1. */
  readonly share: number;
  /** Method and path that it falls on; every one without it. */
  readonly matches: (method: string, pathname: string) => boolean;
}

const form =
  /^(?<kind>refuse|reset-before|reset-after|delay|truncate|(?:429|5\d\d)(?:-after)?)(?:=(?<time>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|s|m))?(?::(?<share>\d{1,3}(?:\.\d{1,3})?)%)?(?:@(?:(?<method>[A-Z]+) )?(?<path>\/\S*))?$/;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const usualMs = 1000;

/** How a fault is written, for a message. */
export const faultForm =
  'refuse, reset-before, reset-after, delay=2s, truncate, 429=5s, 500 to 599, with -after for a status after the work is done; then :20% for a share of requests, then @/orders or @POST /orders/* for where';

/** Reads one fault, such as `reset-after:20%@POST /orders`; undefined for a text that is none. */
export function readFault(text: string): Fault | undefined {
  const parts = form.exec(text.trim())?.groups;
  if (!parts?.kind) return undefined;
  const { kind, time, unit = 'ms', share = '100', method, path } = parts;
  const status = Number.parseInt(kind, 10) || 0;
  const takesTime = kind === 'delay' || status === 429;
  const part = Number(share) / 100;
  if (part > 1 || (time !== undefined && !takesTime) || (kind === 'refuse' && path !== undefined))
    return undefined;
  return {
    kind: kindOf(kind),
    after: kind.endsWith('-after') || kind === 'truncate',
    status,
    ms: time === undefined ? usualMs : Number(time) * (units[unit] ?? 1),
    share: part,
    matches: matcher(method, path),
  };
}

function kindOf(text: string): FaultKind {
  if (/^\d/.test(text)) return 'status';
  if (text.startsWith('reset')) return 'reset';
  return text === 'refuse' || text === 'truncate' ? text : 'delay';
}

/** `*` stands for anything within a path. */
function matcher(method: string | undefined, path: string | undefined): Fault['matches'] {
  if (path === undefined) return () => true;
  const parts = path.split('*');
  const [first = '', ...rest] = parts;
  return (asked, pathname) => {
    if (method !== undefined && method !== asked) return false;
    if (parts.length === 1) return pathname === path;
    const last = rest.at(-1) ?? '';
    if (!pathname.startsWith(first) || !pathname.endsWith(last)) return false;
    let at = first.length;
    for (const part of rest.slice(0, -1)) {
      const found = pathname.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return pathname.length - last.length >= at;
  };
}
