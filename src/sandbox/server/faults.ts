import { healthPath, isControl } from '../../api/control.ts';
import { errorCodes } from '../../api/error-codes.ts';
import { isObject } from '../../api/json.ts';
import { normaliseSpellings, oddIds } from '../../api/sandbox-faults.ts';

/** What stands in for a response or breaks it off. */
type BreakingKind = 'refuse' | 'reset' | 'delay' | 'truncate' | 'status' | 'html' | 'bare' | 'redirect';
/** What changes a response that is sent. */
type AlteringKind = 'normalise' | 'id' | 'another-order';
export type FaultKind = BreakingKind | AlteringKind;

/** One fault of a served sandbox. */
export interface Fault {
  /** As it was written. */
  readonly text: string;
  readonly kind: FaultKind;
  /** Whether the service does the work first. */
  readonly after: boolean;
  readonly status: number;
  /** How long to wait, for `delay`; the `retry-after` of a 429, ms. */
  readonly ms: number;
  /** Which spellings or ids, for what changes a response, none leaving the choice to the seed; of a status its error code. */
  readonly variants: readonly string[];
  /** JSON in place of the service's own error body. */
  readonly body?: string;
  /** Of the requests that match, 0 to 1. */
  readonly share: number;
  /** Method and path that it falls on; every one without it. */
  readonly matches: (method: string, pathname: string) => boolean;
}

interface Form {
  readonly kind: FaultKind;
  readonly after?: true;
  readonly status?: number;
  /** The lowest and highest status that can stand after the colon, where one has to. */
  readonly statuses?: readonly [min: number, max: number];
  /** What can stand after the colon, separated by commas where there is more than one. */
  readonly names?: readonly string[];
  readonly takesOneName?: true;
  readonly takesBody?: true;
  readonly takesTime?: true;
  readonly nowhere?: true;
}

const forms: Readonly<Record<string, Form>> = {
  refuse: { kind: 'refuse', nowhere: true },
  'reset-before': { kind: 'reset' },
  'reset-after': { kind: 'reset', after: true },
  delay: { kind: 'delay', takesTime: true },
  truncate: { kind: 'truncate', after: true },
  html: { kind: 'html', statuses: [200, 599] },
  bare: { kind: 'bare', statuses: [200, 599] },
  redirect: { kind: 'redirect', statuses: [300, 399] },
  normalise: { kind: 'normalise', names: Object.keys(normaliseSpellings) },
  id: { kind: 'id', names: Object.keys(oddIds) },
  'another-order': { kind: 'another-order' },
};

const grammar =
  /^(?<name>[a-z0-9-]+)(?::(?<variant>[a-z0-9_,-]+))?(?:=(?<time>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|s|m))?(?::(?<share>\d{1,3}(?:\.\d{1,3})?)%)?(?:@(?:(?<method>[A-Z]+) )?(?<path>\/\S*))?$/;
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const usualMs = 1000;

/** Reads one fault, such as `reset-after:20%@POST /orders`; undefined for a text that is not one. */
export function readFault(text: string): Fault | undefined {
  const { body, rest } = withoutBody(text.trim());
  const parts = grammar.exec(rest)?.groups;
  if (!parts?.name) return undefined;
  const { name, variant, time, unit = 'ms', share = '100', method, path } = parts;
  const form = Object.hasOwn(forms, name) ? forms[name] : serviceError(name);
  const taken = form && readVariant(form, variant);
  const part = Number(share) / 100;
  if (!form || !taken || part > 1 || part === 0 || canNeverFall(method, path)) return undefined;
  if (body !== undefined && (!form.takesBody || variant !== undefined || !isJsonObject(body)))
    return undefined;
  if ((time !== undefined && !form.takesTime) || (path !== undefined && form.nowhere)) return undefined;
  return {
    text: text.trim(),
    kind: form.kind,
    after: form.after === true,
    status: 0,
    ms: time === undefined ? usualMs : Number(time) * (units[unit] ?? 1),
    variants: [],
    share: part,
    matches: matcher(method, path),
    ...taken,
    ...(body !== undefined && { body }),
  };
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A path is compared without its query, and faults spare what controls the sandbox. */
const canNeverFall = (method = 'GET', path = '/'): boolean =>
  !methods.has(method) || /[?#]/.test(path) || path === healthPath || isControl(path);

/** A body of the user's own stands behind the first `=`: `402={"code":"card_declined"}:20%@POST /orders`. */
function withoutBody(text: string): { readonly body?: string; readonly rest: string } {
  const from = text.indexOf('={') + 1;
  const to = text.lastIndexOf('}') + 1;
  if (from === 0 || to < from) return { rest: text };
  return { body: text.slice(from, to), rest: text.slice(0, from - 1) + text.slice(to) };
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** A status in the service's own error body. */
function serviceError(name: string): Form | undefined {
  const [, digits, after] = /^([45]\d\d)(-after)?$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const status = Number(digits);
  return {
    kind: 'status',
    status,
    names: codesOf(status),
    takesOneName: true,
    takesBody: true,
    ...(after && { after: true }),
    ...(status === 429 && { takesTime: true }),
  };
}

/** The error codes that come with a status. */
export const codesOf = (status: number): string[] =>
  Object.entries(errorCodes)
    .filter(([, row]) => row.status === status)
    .map(([code]) => code);

/** Responses with these have no body, so that no field can carry the fault. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304]);

type Variant = Partial<Pick<Fault, 'status' | 'after' | 'variants'>>;

function readVariant(
  { status = 0, statuses, names, takesOneName }: Form,
  text: string | undefined,
): Variant | undefined {
  if (statuses) {
    const [, digits, after] = /^(\d{3})(-after)?$/.exec(text ?? '') ?? [];
    const given = Number(digits ?? 0);
    const isTaken = given >= statuses[0] && given <= statuses[1] && !bodyless.has(given);
    return isTaken ? { status: given, ...(after && { after: true }) } : undefined;
  }
  if (text === undefined) return { status };
  const variants = takesOneName ? [text] : text.split(',');
  return names && variants.every((name) => names.includes(name)) ? { status, variants } : undefined;
}

/** `*` stands for anything within a path. */
function matcher(method: string | undefined, path: string | undefined): Fault['matches'] {
  if (path === undefined) return () => true;
  const parts = path.split('*');
  const [first = '', ...rest] = parts;
  return (requested, pathname) => {
    if (method !== undefined && method !== requested) return false;
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
